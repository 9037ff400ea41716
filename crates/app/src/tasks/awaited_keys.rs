//! Keys that come late where the homeserver does not push them: nothing tells that they are there, so they are asked for.

use std::sync::Arc;

use crate::app::App;

impl App {
    pub(crate) fn start_asking_for_keys(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                app.ask_for_keys().await;
                app.until_somebodys_turn().await;
            }
        });
    }

    async fn ask_for_keys(self: &Arc<Self>) {
        let due = self.keyring.awaited.due(self.now());
        let slots = due.into_iter().filter_map(|user| self.keyring.with_device(&user));
        self.pull_all(slots.collect()).await;
    }

    async fn until_somebodys_turn(&self) {
        let turn = async {
            match self.keyring.awaited.next_ms() {
                Some(at) => self.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = turn => {}
            () = self.keyring.awaited.news.notified() => {}
            () = self.tasks.stopped() => {}
        }
    }
}
