//! Keys that come late where the homeserver does not push them: nothing tells that they are there, so they are asked for.

use std::sync::Arc;

use parlour_domain::quota::DAY_MS;
use parlour_store::{Lacking, StoreError};
use ruma::OwnedUserId;

use crate::{app::App, live::AgentLive};

impl App {
    pub(crate) fn start_asking_for_keys(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Err(error) = app.lack_what_was_lacked().await {
                tracing::warn!(%error, "cannot look for keys that had not come before this start");
            }
            while !app.tasks.stopping() {
                app.ask_for_keys().await;
                let awaited = &app.keyring.awaited;
                app.until_told(&awaited.news, awaited.next_ms()).await;
            }
        });
    }

    /// What had not come before we ended may come now.
    async fn lack_what_was_lacked(&self) -> Result<(), StoreError> {
        let now = self.now();
        for lacking in self.store.read(move |r| r.lacking(now - DAY_MS)).await? {
            for user in self.who_lacks(&lacking) {
                self.keyring.lacks(&user, &lacking.session_id, now);
            }
        }
        Ok(())
    }

    /// All who read along, where it was nobody's alone.
    fn who_lacks(&self, lacking: &Lacking) -> Vec<OwnedUserId> {
        let user_of = |agent: Arc<AgentLive>| agent.user_id().to_owned();
        if let Some(agent) = lacking.agent {
            return self.agents.get(agent).map(user_of).into_iter().collect();
        }
        let Some(room) = self.rooms.get(lacking.room) else { return vec![] };
        let bot = self.bot_is_in(&room).then(|| self.settings.bot.clone());
        self.agents_in(&room).into_iter().map(user_of).chain(bot).collect()
    }

    async fn ask_for_keys(self: &Arc<Self>) {
        if self.keyring.pushes_keys() {
            return self.keyring.awaited.forget();
        }
        let due = self.keyring.awaited.due(self.now());
        let slots = due.into_iter().filter_map(|user| self.keyring.with_device(&user));
        self.pull_all(slots.collect()).await;
    }
}
