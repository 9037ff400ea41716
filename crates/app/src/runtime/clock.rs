use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;

/// The time, in UTC milliseconds.
pub trait Clock: Send + Sync + 'static {
    fn now_ms(&self) -> i64;

    /// Resolves once [`Clock::now_ms`] has reached `at_ms`.
    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let left = u64::try_from(at_ms - self.now_ms()).unwrap_or(0);
        Box::pin(tokio::time::sleep(Duration::from_millis(left)))
    }
}
