//! Ban lists (Matrix spec, "Moderation policy lists"): the rooms named in `[moderation] ban_lists` say who is banned.
//! What such people say reaches no agent and not the bot, their invitations are declined, nobody of ours invites them,
//! and in rooms of the bridge (the lobbies, and those that agents made) they are banned. An agent is never put out by a
//! rule: its owner is not the one who is known for abuse.

mod lists;
mod sweep;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::{Mutex, RwLock};
use parlour_domain::{
    ban_list::{Rule, Rules},
    ids::RoomKey,
};
use parlour_store::{BanList, ListedBan};
use ruma::{OwnedRoomId, OwnedServerName, OwnedUserId, RoomId, UserId};
use tokio::sync::Notify;

use crate::{app::App, view::BanLists};

/// Anybody may redact what they said themselves, and a list is read as a whole.
const REDACTED_APART_MS: i64 = 60_000;

/// The lists as they were last read.
#[derive(Debug)]
pub(crate) struct Bans {
    home: OwnedServerName,
    state: RwLock<State>,
    /// Lists that changed, and when each is to be read.
    changed: Mutex<BTreeMap<OwnedRoomId, i64>>,
    /// When each list is or was read last because of a redaction.
    redacted: Mutex<BTreeMap<OwnedRoomId, i64>>,
    /// Told when lists are to be read.
    pub(crate) news: Notify,
    /// Whom the bridge banned; `true`: and the homeserver took it, and nobody came again since.
    ours: Mutex<BTreeMap<(RoomKey, OwnedUserId), bool>>,
    to_sweep: Mutex<ToSweep>,
    /// Told when somebody may have to go, or may come back.
    sweep: Notify,
}

#[derive(Debug, Default)]
struct ToSweep {
    /// The rules changed.
    all: bool,
    /// Whom a list bans, and where they came.
    came: BTreeSet<(RoomKey, OwnedUserId)>,
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

impl Bans {
    pub(crate) fn new(home: OwnedServerName, lists: Vec<BanList>, ours: Vec<ListedBan>) -> Self {
        let ours = ours.into_iter().map(|ban| ((ban.room, ban.user_id), false)).collect();
        let lists: BTreeMap<_, _> = lists.into_iter().map(|list| (list.name.clone(), list)).collect();
        let bans = Self {
            home,
            state: RwLock::new(State { lists, ..State::default() }),
            changed: Mutex::default(),
            redacted: Mutex::default(),
            news: Notify::new(),
            ours: Mutex::new(ours),
            to_sweep: Mutex::default(),
            sweep: Notify::new(),
        };
        bans.apply();
        bans
    }

    fn put(&self, list: BanList) {
        {
            let mut state = self.state.write();
            state.unread.remove(&list.name);
            state.lists.insert(list.name.clone(), list);
        }
        self.apply();
    }

    fn remove(&self, name: &str) {
        self.state.write().lists.remove(name);
        self.apply();
    }

    /// The rules are put together beside the lock that every message asks.
    fn apply(&self) {
        let all: Vec<Rule> = self.state.read().lists.values().flat_map(|l| l.rules.clone()).collect();
        let rules = Arc::new(Rules::new(&all, &self.home));
        self.state.write().rules = rules;
    }

    fn says(&self, list: &BanList) -> bool {
        self.state.read().lists.get(&list.name) == Some(list)
    }

    /// Where one is that was read.
    fn place(&self, name: &str) -> Option<OwnedRoomId> {
        self.state.read().lists.get(name).map(|list| list.room_id.clone())
    }

    fn note_unread(&self, name: &str, room: Option<OwnedRoomId>) {
        self.state.write().unread.insert(name.to_owned(), room);
    }

    /// Whether a list is in that room, or nobody knows yet where its name leads.
    fn may_be_at(&self, name: &str, room: &RoomId) -> bool {
        let state = self.state.read();
        match (state.lists.get(name), state.unread.get(name)) {
            (Some(list), _) => list.room_id == room,
            (None, Some(at)) => at.as_deref() == Some(room),
            (None, None) => true,
        }
    }

    /// Names of those that were read, and where they are.
    fn places(&self) -> Vec<(String, OwnedRoomId)> {
        self.state.read().lists.values().map(|list| (list.name.clone(), list.room_id.clone())).collect()
    }

    fn rules(&self) -> Arc<Rules> {
        self.state.read().rules.clone()
    }

    /// How a reading went.
    fn tried(&self, name: &str, read: bool) {
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

    /// Something was changed in a list, which is to be read at that time, unless that is earlier anyway.
    pub(crate) fn changed(&self, list: OwnedRoomId, at_ms: i64) {
        self.changed.lock().entry(list).and_modify(|at| *at = at_ms.min(*at)).or_insert(at_ms);
        self.news.notify_one();
    }

    /// How long a redaction in a list waits: the first not at all, others until a minute after that.
    pub(crate) fn redaction_rests_ms(&self, list: &RoomId, now_ms: i64) -> i64 {
        if !self.is_list(list) {
            return 0;
        }
        let mut redacted = self.redacted.lock();
        let at_ms = redacted.entry(list.to_owned()).or_insert(now_ms - REDACTED_APART_MS);
        if *at_ms <= now_ms {
            *at_ms = now_ms.max(*at_ms + REDACTED_APART_MS);
        }
        *at_ms - now_ms
    }

    fn next_change_ms(&self) -> Option<i64> {
        self.changed.lock().values().min().copied()
    }

    /// Those whose time has come.
    fn take_changed(&self, now_ms: i64) -> BTreeSet<OwnedRoomId> {
        self.changed.lock().extract_if(.., |_, at_ms| *at_ms <= now_ms).map(|(list, _)| list).collect()
    }

    fn sweep_all(&self) {
        self.to_sweep.lock().all = true;
        self.sweep.notify_one();
    }

    /// Somebody came into a room whom a list bans.
    pub(crate) fn sweep_out(&self, room: RoomKey, user: OwnedUserId) {
        self.to_sweep.lock().came.insert((room, user));
        self.sweep.notify_one();
    }

    fn take_to_sweep(&self) -> (bool, BTreeSet<(RoomKey, OwnedUserId)>) {
        let ToSweep { all, came } = std::mem::take(&mut *self.to_sweep.lock());
        (all, came)
    }

    /// Somebody came into a room, or wants to: a ban that was set there holds no more.
    pub(crate) fn comes(&self, room: RoomKey, user: &UserId) {
        if let Some(done) = self.ours.lock().get_mut(&(room, user.to_owned())) {
            *done = false;
        }
    }

    /// Somebody's ban is not ours to lift (any more). Whether it was.
    pub(crate) fn give_up(&self, room: RoomKey, user: &UserId) -> bool {
        self.ours.lock().remove(&(room, user.to_owned())).is_some()
    }

    fn is_done(&self, ban: &ListedBan) -> bool {
        self.ours.lock().get(&(ban.room, ban.user_id.clone())) == Some(&true)
    }

    fn note(&self, ban: &ListedBan, done: bool) {
        self.ours.lock().insert((ban.room, ban.user_id.clone()), done);
    }
}

impl App {
    /// Whether a list bans somebody. Nobody of ours is.
    pub(crate) fn is_barred(&self, user: &UserId) -> bool {
        self.is_barred_by(&self.bans.rules(), user)
    }

    fn is_barred_by(&self, rules: &Rules, user: &UserId) -> bool {
        rules.ban_user(user) && !self.is_ours(user)
    }

    /// Whether a list bans a room.
    pub(crate) fn is_barred_room(&self, room: &RoomId) -> bool {
        self.bans.rules().ban_room(room)
    }

    /// Whether a list bans who invites, or where to.
    pub(crate) fn is_barred_invitation(&self, by: &UserId, room: &RoomId) -> bool {
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

#[cfg(test)]
mod tests {
    use ruma::{room_id, server_name};

    use super::*;

    #[test]
    fn a_name_may_lead_anywhere_until_somebody_knows() {
        let bans = Bans::new(server_name!("x").to_owned(), vec![], vec![]);
        let leads = || [room_id!("!a:x"), room_id!("!b:x")].map(|room| bans.may_be_at("#a:x", room));
        assert_eq!(leads(), [true, true]);
        bans.note_unread("#a:x", Some(room_id!("!a:x").to_owned()));
        assert_eq!(leads(), [true, false]);
        bans.note_unread("#a:x", None);
        assert_eq!(leads(), [false, false]);
    }
}
