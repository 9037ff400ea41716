use std::future::Future;

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Every task of the bridge: shutdown asks all of them to end and waits until they have.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    #[allow(clippy::disallowed_methods, reason = "the one place that spawns")]
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(task)
    }

    #[must_use]
    pub fn stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Resolves once shutdown has begun.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// A token that is cancelled when shutdown begins.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Begins the shutdown. Tasks that wait end; work in progress goes on.
    pub fn stop(&self) {
        self.stop.cancel();
        self.tracker.close();
    }

    /// Resolves once the last task has ended.
    pub async fn ended(&self) {
        self.tracker.wait().await;
    }
}
