//! Many calls, so many at once, timed one by one.
use std::time::Instant;

use anyhow::Result;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::{
    clock::{ms_since, now},
    progress,
    stats::{per, round, spread},
};

/// What came of a number of calls.
#[derive(Debug, Default)]
pub(crate) struct Pumped {
    /// Milliseconds of each call that went well.
    pub(crate) latencies: Vec<f64>,
    pub(crate) seconds: f64,
    pub(crate) failed: usize,
}

/// Runs `calls` calls, `at_once` at a time. The first failure is told, all are counted.
pub(crate) async fn pump<F: AsyncFn(usize) -> Result<()>>(calls: usize, at_once: usize, call: F) -> Pumped {
    let start = now();
    let mut pumped = Pumped::default();
    let mut results = stream::iter(0..calls).map(|i| timed(&call, i)).buffer_unordered(at_once.max(1));
    while let Some(result) = results.next().await {
        pumped.note(result);
    }
    pumped.seconds = seconds_since(start);
    pumped
}

/// Like [`pump`], but keeps what the calls give, in no order.
pub(crate) async fn gather<T, F>(calls: usize, at_once: usize, call: F) -> (Vec<T>, Pumped)
where
    F: AsyncFn(usize) -> Result<T>,
{
    let got = parking_lot::Mutex::new(Vec::with_capacity(calls));
    let pumped = pump(calls, at_once, async |i| {
        let one = call(i).await?;
        got.lock().push(one);
        Ok(())
    })
    .await;
    (got.into_inner(), pumped)
}

async fn timed<F: AsyncFn(usize) -> Result<()>>(call: &F, i: usize) -> Result<f64> {
    let start = now();
    call(i).await?;
    Ok(ms_since(start))
}

fn seconds_since(start: Instant) -> f64 {
    ms_since(start) / 1000.0
}

impl Pumped {
    fn note(&mut self, result: Result<f64>) {
        match result {
            Ok(ms) => self.latencies.push(ms),
            Err(error) => {
                if self.failed == 0 {
                    progress(format_args!("a call failed: {error:#}"));
                }
                self.failed += 1;
            }
        }
    }

    /// Adds a later block of the same kind.
    pub(crate) fn add(&mut self, more: Pumped) {
        self.latencies.extend(more.latencies);
        self.seconds += more.seconds;
        self.failed += more.failed;
    }

    /// Calls per second, over the whole time.
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds.max(f64::EPSILON)
    }

    /// The spread of the latencies with perSecond, failed and, where measured, the homeserver's CPU per call.
    pub(crate) fn json(&self, hs_cpu_seconds: Option<f64>) -> Value {
        let mut block = spread(&self.latencies);
        block["perSecond"] = json!(round(self.per_second()));
        block["failed"] = json!(self.failed);
        block["hsCpuMsPerCall"] = per(hs_cpu_seconds.map(|s| s * 1000.0), self.latencies.len());
        block
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anyhow::bail;

    use super::*;

    #[tokio::test]
    async fn every_call_is_made_once_and_failures_are_counted() {
        let made = AtomicUsize::new(0);
        let pumped = pump(20, 4, async |i| {
            made.fetch_add(1, Ordering::Relaxed);
            if i % 5 == 0 { bail!("no") } else { Ok(()) }
        })
        .await;
        assert_eq!((made.into_inner(), pumped.latencies.len(), pumped.failed), (20, 16, 4));
    }

    #[tokio::test]
    async fn no_more_run_at_once_than_asked() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (got, _) = gather(30, 3, async |i| {
            most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            running.fetch_sub(1, Ordering::Relaxed);
            Ok(i)
        })
        .await;
        assert_eq!((got.len(), most.into_inner()), (30, 3));
    }
}
