use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// A panic over one thing, in a library say, must not keep the rest from being read: it would come again with each start.
pub(crate) async fn survive<T: Default>(what: &str, work: impl Future<Output = T>) -> T {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        metrics::counter!("parlour_poison_events_total").increment(1);
        tracing::error!(what, "skipped what could not be read; please report the panic before this line");
        T::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_over_one_event_is_survived() {
        let mut read = vec![];
        for n in 0..3 {
            survive("an event", async { read.push([10, 20][n]) }).await;
        }
        assert_eq!(read, [10, 20]);
    }
}
