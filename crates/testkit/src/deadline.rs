//! Waiting that ends: with what was waited for, or with a test that fails.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// Far more than anything here takes, also with all cores busy.
pub const DEADLINE: Duration = Duration::from_secs(20);
/// Between two looks at something that tells nobody of its changes.
const LOOK: Duration = Duration::from_millis(2);

/// # Panics
/// Once the deadline has passed; `what` says what did not happen.
pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, work).await {
        Ok(done) => done,
        Err(_) => panic!("did not happen within {DEADLINE:?}: {what}"),
    }
}

/// Looks again and again until `look` finds something.
///
/// # Panics
/// Once the deadline has passed.
pub async fn eventually<T, F>(what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < DEADLINE, "did not happen within {DEADLINE:?}: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The same for something that is plainly true or not yet.
///
/// # Panics
/// Once the deadline has passed.
pub async fn eventually_is(what: &str, mut is: impl FnMut() -> bool) {
    eventually(what, || std::future::ready(is().then_some(()))).await;
}
