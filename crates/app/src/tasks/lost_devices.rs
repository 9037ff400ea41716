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

    async fn watch_devices(&self) {
        while !self.tasks.stopping() {
            let began = self.now();
            let every = match self.census().await {
                Ok(()) if self.keyring.is_pushed() => TOLD_EVERY_MS,
                Ok(()) => UNTOLD_EVERY_MS,
                Err(error) => {
                    tracing::info!(%error, "cannot look after devices yet");
                    UNTOLD_EVERY_MS
                }
            };
            let pause_ms = every.max((self.now() - began).saturating_mul(IDLE_PER_WORK));
            tokio::select! {
                () = self.clock.sleep_until(self.now() + pause_ms) => {}
                () = self.keyring.census.notified() => {}
                () = self.tasks.stopped() => {}
            }
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
            tokio::select! {
                () = self.clock.sleep_until(self.now() + pause_ms) => {}
                () = self.tasks.stopped() => {}
            }
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
    }
}
