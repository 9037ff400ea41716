//! Ban lists (Matrix spec, "Moderation policy lists"): the rooms named in `[moderation] ban_lists` say who is banned.
//! What such people say reaches no agent and not the bot, their invitations are declined, nobody of ours invites them,
//! and in rooms of the bridge (the lobbies, and those that agents made) they are banned. An agent is never put out by a
//! rule: its owner is not the one who is known for abuse.

mod lists;
mod sweep;

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::RwLock;
use parlour_domain::ban_list::Rules;
use parlour_store::BanList;
use ruma::{OwnedRoomId, OwnedServerName, RoomId, UserId};
use tokio::sync::Notify;

use crate::app::App;

/// The lists as they were last read.
#[derive(Debug)]
pub(crate) struct Bans {
    home: OwnedServerName,
    state: RwLock<State>,
    /// Told when a list may have changed.
    pub(crate) news: Notify,
    /// Told when somebody may have to go, or may come back.
    pub(crate) sweep: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// By the names that the config has for them.
    lists: BTreeMap<String, BanList>,
    /// Where those are that could not be read so far.
    unread: BTreeMap<String, OwnedRoomId>,
    rules: Arc<Rules>,
}

impl Bans {
    pub(crate) fn new(home: OwnedServerName, lists: Vec<BanList>) -> Self {
        let bans = Self { home, state: RwLock::default(), news: Notify::new(), sweep: Notify::new() };
        lists.into_iter().for_each(|list| bans.put(list));
        bans
    }

    fn put(&self, list: BanList) {
        let mut state = self.state.write();
        state.unread.remove(&list.name);
        state.lists.insert(list.name.clone(), list);
        state.rules = Arc::new(Rules::new(state.lists.values().flat_map(|l| &l.rules), &self.home));
    }

    fn drop(&self, name: &str) {
        let mut state = self.state.write();
        state.lists.remove(name);
        state.rules = Arc::new(Rules::new(state.lists.values().flat_map(|l| &l.rules), &self.home));
    }

    fn is_unread_at(&self, name: &str, room: OwnedRoomId) {
        self.state.write().unread.insert(name.to_owned(), room);
    }

    fn names(&self) -> Vec<String> {
        self.state.read().lists.keys().cloned().collect()
    }

    fn rules(&self) -> Arc<Rules> {
        self.state.read().rules.clone()
    }

    /// Lists that were read, and the rules in them.
    pub(crate) fn count(&self) -> (usize, usize) {
        let state = self.state.read();
        (state.lists.len(), state.lists.values().map(|l| l.rules.len()).sum())
    }

    pub(crate) fn is_list(&self, room: &RoomId) -> bool {
        let state = self.state.read();
        state.lists.values().any(|l| l.room_id == room) || state.unread.values().any(|r| r == room)
    }
}

impl App {
    /// Whether a list bans somebody. Nobody of ours is.
    pub(crate) fn is_barred(&self, user: &UserId) -> bool {
        self.bans.rules().ban_user(user) && !self.is_ours(user)
    }

    /// Whether a list bans a room.
    pub(crate) fn is_barred_room(&self, room: &RoomId) -> bool {
        self.bans.rules().ban_room(room)
    }

    /// Whether an invitation by this person into this room is out of the question.
    pub(crate) fn is_out_of_question(&self, by: &UserId, room: &RoomId) -> bool {
        self.is_barred(by) || self.is_barred_room(room)
    }

    /// What somebody said who is banned is nobody's to hear.
    pub(crate) fn is_unheard(&self, sender: &UserId) -> bool {
        let unheard = self.is_barred(sender);
        if unheard {
            metrics::counter!("parlour_barred_events_total").increment(1);
        }
        unheard
    }

    pub(crate) fn start_ban_lists(self: &Arc<Self>) {
        self.tasks.spawn(self.clone().follow_ban_lists());
        self.tasks.spawn(self.clone().sweep_rooms());
    }
}
