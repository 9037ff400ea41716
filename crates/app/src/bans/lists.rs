//! Reading the lists: at the start, when something in one of them has changed, and every hour.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::quota::HOUR_MS;
use parlour_matrix::events::ban_rule;
use parlour_store::{BanList, StoreError, Tx};
use ruma::{OwnedRoomId, OwnedRoomOrAliasId, OwnedServerName, RoomAliasId, RoomId, RoomOrAliasId};

use crate::{app::App, tasks::FollowError, view::Readiness};

/// Bans come in bunches; each reading takes the whole list.
const GATHER_MS: i64 = 500;
/// Whoever changes a list all the time does not make us read it all the time.
const APART_MS: i64 = 5_000;
const FIRST_PAUSE_MS: i64 = 2_000;
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;

/// When all lists are read the next time. News of some of them does not put that off.
struct Full {
    at_ms: i64,
    pause_ms: i64,
}

impl Full {
    /// After a reading of all, or of those that changed; what could not be read is tried again.
    fn plan(&mut self, began_ms: i64, all: bool, read: bool) {
        match (all, read) {
            (true, true) => *self = Self { at_ms: began_ms + HOUR_MS, pause_ms: FIRST_PAUSE_MS },
            (true, false) => {
                self.at_ms = began_ms + self.pause_ms;
                self.pause_ms = (self.pause_ms * 2).min(LONGEST_PAUSE_MS);
            }
            (false, true) => {}
            (false, false) => self.at_ms = self.at_ms.min(began_ms + self.pause_ms),
        }
    }
}

impl App {
    pub(super) async fn follow_ban_lists(self: Arc<Self>) {
        self.until_bot_is_there().await;
        let mut full = Full { at_ms: self.now(), pause_ms: FIRST_PAUSE_MS };
        while !self.tasks.stopping() && self.has_ban_lists() {
            let began_ms = self.now();
            self.read_what_is_due(&mut full).await;
            let next_ms = self.bans.due.next_ms().map_or(full.at_ms, |at| at.min(full.at_ms));
            if self.until_told(&self.bans.due.news, Some(next_ms)).await {
                self.let_pass(GATHER_MS.max(began_ms + APART_MS - self.now())).await;
            }
        }
    }

    async fn read_what_is_due(self: &Arc<Self>, full: &mut Full) {
        let began_ms = self.now();
        let (all, changed) = (full.at_ms <= began_ms, self.bans.due.take(began_ms));
        if all || !changed.is_empty() {
            let read = self.read_ban_lists((!all).then_some(&changed)).await;
            full.plan(began_ms, all, read);
        }
    }

    /// Or one that is to be forgotten.
    fn has_ban_lists(&self) -> bool {
        !self.settings.ban_lists.is_empty() || !self.bans.known.places().is_empty()
    }

    async fn until_bot_is_there(&self) {
        while self.readiness() != Readiness::Ready && !self.tasks.stopping() {
            self.until_told(&self.bans.due.news, None).await;
        }
    }

    /// Those that changed; `None`: all. `false`: not all of them could be.
    async fn read_ban_lists(self: &Arc<Self>, changed: Option<&BTreeSet<OwnedRoomId>>) -> bool {
        let places = self.bans.known.places();
        let is_meant = |name: &RoomOrAliasId| {
            let at = places.iter().find(|(n, _)| n == name.as_str()).map(|(_, at)| at);
            changed.is_none_or(|changed| at.is_none_or(|at| changed.contains(at)))
        };
        let mut all = true;
        for name in self.settings.ban_lists.iter().filter(|name| is_meant(name)) {
            let read = self.read_ban_list(name).await;
            self.bans.known.tried(name.as_str(), read.is_ok());
            if let Err(error) = read {
                tracing::warn!(
                    %error, list = %name,
                    "moderation.ban_lists: cannot read the list, its last known rules stay in force; does the room exist, and \
                     may {} join it?", self.settings.bot
                );
                all = false;
            }
        }
        self.forget_unnamed().await && all
    }

    async fn read_ban_list(self: &Arc<Self>, name: &RoomOrAliasId) -> Result<(), FollowError> {
        let via: Vec<OwnedServerName> = name.server_name().map(ToOwned::to_owned).into_iter().collect();
        let room_id = match self.place_of(name).await? {
            Some(place) => self.join_by_name(name, &place, &via).await?,
            // the homeserver says what is wrong with it
            None => self.client.join(&self.settings.bot, name, &via).await?,
        };
        let state = self.client.room_state(&self.settings.bot, &room_id).await?;
        let rules = state.iter().filter_map(|event| ban_rule(event)).collect();
        if let Some(before) = self.bans.known.place(name.as_str()).filter(|before| *before != room_id) {
            self.leave_list(name.as_str(), &before).await?;
        }
        self.keep_ban_list(BanList { name: name.to_string(), room_id, rules }).await?;
        Ok(())
    }

    /// Where it is, as far as that is known. Of one that was never read it is noted: an invitation into the room is then
    /// known to be for this.
    async fn place_of(&self, name: &RoomOrAliasId) -> Result<Option<OwnedRoomId>, FollowError> {
        if let Some(place) = self.bans.known.place(name.as_str()) {
            return Ok(Some(place));
        }
        let room: Option<OwnedRoomId> =
            match (RoomId::parse(name.as_str()), RoomAliasId::parse(name.as_str())) {
                (Ok(room), _) => Some(room),
                (Err(_), Ok(alias)) => self.client.resolve_alias(&alias).await?,
                (Err(_), Err(_)) => None,
            };
        self.bans.known.note_unread(name.as_str(), room.clone());
        Ok(room)
    }

    async fn keep_ban_list(self: &Arc<Self>, list: BanList) -> Result<(), StoreError> {
        if self.bans.known.says(&list) {
            return Ok(());
        }
        let kept = list.clone();
        let follow = move |app: &Arc<Self>, ()| {
            app.bans.known.put(list);
            app.rules_changed();
        };
        self.write_and_follow(move |tx: &Tx<'_>| tx.put_ban_list(&kept), follow).await
    }

    /// Some have to go, some may come back; and where a tombstone leads may not be banned any more.
    fn rules_changed(&self) {
        self.bans.to_sweep.all();
        self.upgraded.notify_one();
    }

    /// Those that the config does not name any more. `false`: try again.
    async fn forget_unnamed(&self) -> bool {
        let named = |name: &String| self.settings.ban_lists.iter().any(|list| list.as_str() == name);
        let mut all = true;
        for (name, at) in self.bans.known.places().into_iter().filter(|(name, _)| !named(name)) {
            // a list under another name is not gone before it was read under that
            if self.unread_lists().any(|unread| self.bans.known.may_be_at(unread.as_str(), &at)) {
                continue;
            }
            if let Err(error) = self.forget(&name, &at).await {
                tracing::warn!(%error, list = %name, "cannot leave a ban list yet that the config does not name any more");
                all = false;
            }
        }
        all
    }

    fn unread_lists(&self) -> impl Iterator<Item = &OwnedRoomOrAliasId> {
        self.settings.ban_lists.iter().filter(|list| self.bans.known.place(list.as_str()).is_none())
    }

    /// Left first: what is forgotten nobody tries to leave again.
    async fn forget(&self, name: &str, at: &RoomId) -> Result<(), FollowError> {
        self.leave_list(name, at).await?;
        let (name, gone) = (name.to_owned(), name.to_owned());
        let follow = move |app: &Arc<Self>, ()| {
            app.bans.known.remove(&gone);
            app.rules_changed();
        };
        Ok(self.write_and_follow(move |tx: &Tx<'_>| tx.drop_ban_list(&name), follow).await?)
    }

    /// The list `name` is not there any more. The bot has no business in the room, unless another list is there, or
    /// people want it.
    async fn leave_list(&self, name: &str, at: &RoomId) -> Result<(), FollowError> {
        let is_there =
            |list: &OwnedRoomOrAliasId| list.as_str() != name && self.bans.known.may_be_at(list.as_str(), at);
        if self.settings.ban_lists.iter().any(is_there) || self.rooms.by_id(at).is_some() {
            return Ok(());
        }
        match self.client.leave(&self.settings.bot, at, None).await {
            Err(error) if error.is_final() => {
                tracing::info!(%error, room = %at, "cannot leave a room that was a ban list");
                Ok(())
            }
            left => Ok(left?),
        }
    }
}
