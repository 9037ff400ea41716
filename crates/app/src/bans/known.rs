//! The lists as they were last read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::RwLock;
use parlour_domain::ban_list::{Rule, Rules};
use parlour_store::BanList;
use ruma::{OwnedRoomId, OwnedServerName, RoomId};

use crate::view::BanLists;

#[derive(Debug)]
pub(crate) struct Known {
    home: OwnedServerName,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the names that the config has for them.
    lists: BTreeMap<String, BanList>,
    /// Where the names of those lead that could not be read so far; `None`: nowhere.
    unread: BTreeMap<String, Option<OwnedRoomId>>,
    /// Names of those that could not be read at the last try.
    failed: BTreeSet<String>,
    rules: Arc<Rules>,
}

impl Known {
    pub(super) fn new(home: OwnedServerName, lists: Vec<BanList>) -> Self {
        let lists: BTreeMap<_, _> = lists.into_iter().map(|list| (list.name.clone(), list)).collect();
        let known = Self { home, state: RwLock::new(State { lists, ..State::default() }) };
        known.apply();
        known
    }

    pub(super) fn put(&self, list: BanList) {
        {
            let mut state = self.state.write();
            state.unread.remove(&list.name);
            state.lists.insert(list.name.clone(), list);
        }
        self.apply();
    }

    pub(super) fn remove(&self, name: &str) {
        self.state.write().lists.remove(name);
        self.apply();
    }

    /// The rules are put together beside the lock that every message asks.
    fn apply(&self) {
        let all: Vec<Rule> = self.state.read().lists.values().flat_map(|l| l.rules.clone()).collect();
        let rules = Arc::new(Rules::new(&all, &self.home));
        self.state.write().rules = rules;
    }

    pub(super) fn says(&self, list: &BanList) -> bool {
        self.state.read().lists.get(&list.name) == Some(list)
    }

    /// Where one is that was read.
    pub(super) fn place(&self, name: &str) -> Option<OwnedRoomId> {
        self.state.read().lists.get(name).map(|list| list.room_id.clone())
    }

    pub(super) fn note_unread(&self, name: &str, room: Option<OwnedRoomId>) {
        self.state.write().unread.insert(name.to_owned(), room);
    }

    /// Whether a list is in that room, or nobody knows yet where its name leads.
    pub(super) fn may_be_at(&self, name: &str, room: &RoomId) -> bool {
        let state = self.state.read();
        match (state.lists.get(name), state.unread.get(name)) {
            (Some(list), _) => list.room_id == room,
            (None, Some(at)) => at.as_deref() == Some(room),
            (None, None) => true,
        }
    }

    /// Names of those that were read, and where they are.
    pub(super) fn places(&self) -> Vec<(String, OwnedRoomId)> {
        self.state.read().lists.values().map(|list| (list.name.clone(), list.room_id.clone())).collect()
    }

    pub(super) fn rules(&self) -> Arc<Rules> {
        self.state.read().rules.clone()
    }

    /// How a reading went.
    pub(super) fn tried(&self, name: &str, read: bool) {
        let failed = &mut self.state.write().failed;
        if read {
            failed.remove(name);
        } else {
            failed.insert(name.to_owned());
        }
    }

    pub(crate) fn count(&self, named: usize) -> BanLists {
        let state = self.state.read();
        BanLists { named, read: state.lists.len(), failed: state.failed.len(), rules: state.rules.count() }
    }

    pub(crate) fn is_list(&self, room: &RoomId) -> bool {
        let state = self.state.read();
        state.lists.values().any(|l| l.room_id == room) || state.unread.values().flatten().any(|r| r == room)
    }
}

#[cfg(test)]
mod tests {
    use ruma::{room_id, server_name};

    use super::*;

    #[test]
    fn a_name_may_lead_anywhere_until_somebody_knows() {
        let known = Known::new(server_name!("x").to_owned(), vec![]);
        let leads = || [room_id!("!a:x"), room_id!("!b:x")].map(|room| known.may_be_at("#a:x", room));
        assert_eq!(leads(), [true, true]);
        known.note_unread("#a:x", Some(room_id!("!a:x").to_owned()));
        assert_eq!(leads(), [true, false]);
        known.note_unread("#a:x", None);
        assert_eq!(leads(), [false, false]);
    }
}
