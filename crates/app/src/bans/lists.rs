//! Reading the lists: at the start, when something in one of them has changed, and every hour.

use std::sync::Arc;

use parlour_domain::quota::HOUR_MS;
use parlour_matrix::events::ban_rule;
use parlour_store::{BanList, StoreError, Tx};
use ruma::{OwnedRoomId, OwnedServerName, RoomAliasId, RoomId, RoomOrAliasId};

use crate::{app::App, tasks::FollowError};

/// Bans come in bunches; each reading takes the whole list.
const GATHER_MS: i64 = 500;
const FIRST_PAUSE_MS: i64 = 2_000;
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;

impl App {
    pub(super) async fn follow_ban_lists(self: Arc<Self>) {
        let mut pause_ms = FIRST_PAUSE_MS;
        loop {
            let read = self.read_ban_lists().await;
            if self.tasks.stopping() || (read && self.settings.ban_lists.is_empty()) {
                return;
            }
            let until_ms = self.now() + if read { HOUR_MS } else { pause_ms };
            pause_ms = if read { FIRST_PAUSE_MS } else { (pause_ms * 2).min(LONGEST_PAUSE_MS) };
            tokio::select! {
                () = self.bans.news.notified() => drop(self.let_pass(GATHER_MS).await),
                () = self.clock.sleep_until(until_ms) => {}
                () = self.tasks.stopped() => {}
            }
        }
    }

    /// `false`: not all of them could be.
    async fn read_ban_lists(self: &Arc<Self>) -> bool {
        let mut all = self.forget_unnamed().await.is_ok();
        for name in &self.settings.ban_lists {
            if let Err(error) = self.read_ban_list(name).await {
                tracing::warn!(
                    %error, list = %name,
                    "moderation.ban_lists: cannot read the list, its last known rules stay in force; does the room exist, and \
                     may {} join it?", self.settings.bot
                );
                all = false;
            }
        }
        all
    }

    async fn read_ban_list(self: &Arc<Self>, name: &RoomOrAliasId) -> Result<(), FollowError> {
        let bot = &self.settings.bot;
        self.note_place(name).await?;
        let via: Vec<OwnedServerName> = name.server_name().map(ToOwned::to_owned).into_iter().collect();
        let room_id = self.client.join(bot, name, &via).await?;
        let state = self.client.room_state(bot, &room_id).await?;
        let rules = state.iter().filter_map(|event| ban_rule(event)).collect();
        self.keep_ban_list(BanList { name: name.to_string(), room_id, rules }).await?;
        Ok(())
    }

    /// An invitation into the room is then known to be for this.
    async fn note_place(&self, name: &RoomOrAliasId) -> Result<(), FollowError> {
        let room: Option<OwnedRoomId> =
            match (RoomId::parse(name.as_str()), RoomAliasId::parse(name.as_str())) {
                (Ok(room), _) => Some(room),
                (Err(_), Ok(alias)) => self.client.resolve_alias(&alias).await?,
                (Err(_), Err(_)) => None,
            };
        if let Some(room) = room.filter(|room| !self.bans.is_list(room)) {
            self.bans.is_unread_at(name.as_str(), room);
        }
        Ok(())
    }

    async fn keep_ban_list(self: &Arc<Self>, list: BanList) -> Result<(), StoreError> {
        let kept = list.clone();
        let follow = move |app: &Arc<Self>, ()| {
            app.bans.put(list);
            app.bans.sweep.notify_one();
        };
        self.write_and_follow(move |tx: &Tx<'_>| tx.put_ban_list(&kept), follow).await
    }

    /// Those that the config does not name any more.
    async fn forget_unnamed(&self) -> Result<(), StoreError> {
        let named = |name: &String| self.settings.ban_lists.iter().any(|list| list.as_str() == name);
        for name in self.bans.names().into_iter().filter(|name| !named(name)) {
            let gone = name.clone();
            let follow = move |app: &Arc<Self>, ()| {
                app.bans.drop(&gone);
                app.bans.sweep.notify_one();
            };
            self.write_and_follow(move |tx: &Tx<'_>| tx.drop_ban_list(&name), follow).await?;
        }
        Ok(())
    }
}
