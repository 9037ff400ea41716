//! Puppets whose devices were deleted on the homeserver get others, also those that only listen: by the time somebody
//! speaks to them they can read again.

use std::sync::Arc;

use crate::app::App;

const FIRST_PAUSE_MS: i64 = 1_000;
const LONGEST_PAUSE_MS: i64 = 60_000;
/// Where the homeserver tells of changed devices, a look is only for what it told in vain.
const TOLD_EVERY_MS: i64 = 10 * 60_000;
const UNTOLD_EVERY_MS: i64 = 60_000;
/// Asking for all devices may take up such a part of the time.
const IDLE_PER_WORK: i64 = 20;

impl App {
    pub(crate) fn start_watching_devices(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move { app.watch_devices().await });
        let app = self.clone();
        self.tasks.spawn(async move { app.remake_devices().await });
    }

    /// After a start and outages, and when housekeeping finds it due.
    async fn watch_devices(&self) {
        while !self.tasks.stopping() {
            tokio::select! {
                () = self.keyring.census.notified() => {}
                () = self.tasks.stopped() => return,
            }
            if let Err(error) = self.census().await {
                tracing::info!(%error, "cannot look after devices yet");
            }
        }
    }

    /// Asks for a look after all devices where the last one is long ago.
    pub(crate) fn look_after_all_in_time(&self) {
        let (began, took) = self.keyring.last_census();
        let every = if self.keyring.is_pushed() { TOLD_EVERY_MS } else { UNTOLD_EVERY_MS };
        if self.now() >= began.saturating_add(every.max(took.saturating_mul(IDLE_PER_WORK))) {
            self.keyring.census.notify_one();
        }
    }

    async fn remake_devices(&self) {
        let mut pause_ms = FIRST_PAUSE_MS;
        while !self.tasks.stopping() {
            if self.remake_lost().await {
                pause_ms = FIRST_PAUSE_MS;
                tokio::select! {
                    () = self.keyring.lost.notified() => {}
                    () = self.tasks.stopped() => {}
                }
                continue;
            }
            self.let_pass(pause_ms).await;
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
    }
}
