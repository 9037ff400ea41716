use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

use parking_lot::RwLock;
use parlour_domain::{
    ids::{AgentKey, RoomKey},
    room::{Room, RoomKind},
    visibility::Visibility,
    wake::Setting,
};
use parlour_matrix::events::Power;
use parlour_store::{RoomRow, Store, StoreError};
use ruma::{OwnedRoomId, UserId};
use serde_json::value::RawValue;

use super::{LogChange, Members, RoomLog, StoredLog};

/// Longer than any wait: whoever waits looks at the log again when something arrives.
const UNUSED_MS: i64 = 15 * 60_000;

/// A room the bridge takes part in.
#[derive(Debug)]
pub(crate) struct RoomLive {
    pub(crate) key: RoomKey,
    pub(crate) room_id: OwnedRoomId,
    facts: RwLock<Facts>,
    members: RwLock<Members>,
    log: RwLock<LogState>,
    loading: tokio::sync::Mutex<()>,
    looked_at_ms: AtomicI64,
    /// Up to which doubt its members were asked for again.
    checked: AtomicU64,
}

#[derive(Clone, Debug)]
struct Facts {
    room: Arc<Room>,
    slug: Option<String>,
    visibility: Visibility,
    power: Option<Power>,
    encrypted: bool,
    open: bool,
    encryption: Option<Box<RawValue>>,
    state_read: bool,
    owner: Option<AgentKey>,
    closed: bool,
    silenced: bool,
    successor: Option<OwnedRoomId>,
}

/// Logs are read from disk when first asked for; what happens meanwhile is applied after.
#[derive(Debug)]
enum LogState {
    Absent,
    Loading(Vec<LogChange>),
    Ready(RoomLog),
}

impl RoomLive {
    pub(super) fn new(row: RoomRow, members: Members) -> Self {
        let power = row.power.as_deref().and_then(|p| serde_json::from_str(p).ok());
        Self {
            key: row.room.key,
            room_id: row.room.room_id.clone(),
            facts: RwLock::new(Facts {
                room: Arc::new(row.room),
                slug: row.slug,
                visibility: row.visibility,
                power,
                encrypted: row.encrypted,
                open: row.open,
                encryption: None,
                state_read: row.state_read,
                owner: row.owner,
                closed: row.closed,
                silenced: row.silenced,
                successor: row.successor,
            }),
            members: RwLock::new(members),
            log: RwLock::new(LogState::Absent),
            loading: tokio::sync::Mutex::new(()),
            looked_at_ms: AtomicI64::new(0),
            checked: AtomicU64::new(0),
        }
    }

    /// What the config and the homeserver say of a room that is known already.
    pub(super) fn renew(&self, row: RoomRow) {
        let mut facts = self.facts.write();
        facts.slug = row.slug;
        facts.room = Arc::new(row.room);
    }

    /// Whether it stands for this lobby of the config.
    #[must_use]
    pub(super) fn has_slug(&self, slug: &str) -> bool {
        self.facts.read().slug.as_deref() == Some(slug)
    }

    /// The lobby of the config that it stands for.
    #[must_use]
    pub(crate) fn slug(&self) -> Option<String> {
        self.facts.read().slug.clone()
    }

    pub(super) fn drop_slug(&self) {
        self.facts.write().slug = None;
    }

    #[must_use]
    pub(crate) fn room(&self) -> Arc<Room> {
        self.facts.read().room.clone()
    }

    #[must_use]
    pub(crate) fn kind(&self) -> RoomKind {
        self.facts.read().room.kind
    }

    #[must_use]
    pub(crate) fn visibility(&self) -> Visibility {
        self.facts.read().visibility
    }

    /// Who may do what; `None` until the state was read.
    #[must_use]
    pub(crate) fn power(&self) -> Option<Power> {
        self.facts.read().power.clone()
    }

    #[must_use]
    pub(crate) fn encrypted(&self) -> bool {
        self.facts.read().encrypted
    }

    /// Whether plain text must not go there: encrypted, or a private room whose state nobody has read yet.
    #[must_use]
    pub(crate) fn may_be_encrypted(&self) -> bool {
        let facts = self.facts.read();
        facts.encrypted || (facts.room.kind == RoomKind::Private && !facts.state_read)
    }

    /// All its state was read once.
    #[must_use]
    pub(crate) fn state_read(&self) -> bool {
        self.facts.read().state_read
    }

    pub(crate) fn set_state_read(&self) {
        self.facts.write().state_read = true;
    }

    /// The agent that made it.
    #[must_use]
    pub(crate) fn owner(&self) -> Option<AgentKey> {
        self.facts.read().owner
    }

    /// For good: it is read, and nobody speaks in it.
    #[must_use]
    pub(crate) fn closed(&self) -> bool {
        self.facts.read().closed
    }

    pub(crate) fn set_closed(&self) {
        self.facts.write().closed = true;
    }

    /// The homeserver, too, was told that nobody speaks in it.
    #[must_use]
    pub(crate) fn silenced(&self) -> bool {
        self.facts.read().silenced
    }

    pub(crate) fn set_silenced(&self) {
        self.facts.write().silenced = true;
    }

    /// Where its tombstone leads.
    #[must_use]
    pub(crate) fn successor(&self) -> Option<OwnedRoomId> {
        self.facts.read().successor.clone()
    }

    pub(crate) fn set_successor(&self, successor: Option<OwnedRoomId>) {
        self.facts.write().successor = successor;
    }

    pub(crate) fn set_name(&self, name: Option<String>) {
        let mut facts = self.facts.write();
        facts.room = Arc::new(Room { name, ..(*facts.room).clone() });
    }

    pub(crate) fn set_visibility(&self, visibility: Visibility) {
        self.facts.write().visibility = visibility;
    }

    pub(crate) fn set_power(&self, power: Power) {
        self.facts.write().power = Some(power);
    }

    /// The content of m.room.encryption, once somebody has read it.
    #[must_use]
    pub(crate) fn encryption(&self) -> Option<Box<RawValue>> {
        self.facts.read().encryption.clone()
    }

    pub(crate) fn set_encryption(&self, content: Option<Box<RawValue>>) {
        self.facts.write().encryption = content;
    }

    pub(crate) fn set_encrypted(&self) {
        self.facts.write().encrypted = true;
    }

    /// Whether anybody may join.
    #[must_use]
    pub(crate) fn open(&self) -> bool {
        self.facts.read().open
    }

    pub(crate) fn set_open(&self, open: bool) {
        self.facts.write().open = open;
    }

    pub(crate) fn with_members<T>(&self, look: impl FnOnce(&Members) -> T) -> T {
        look(&self.members.read())
    }

    pub(crate) fn alter_members<T>(&self, change: impl FnOnce(&mut Members) -> T) -> T {
        change(&mut self.members.write())
    }

    /// Whether the members were asked for since this doubt.
    #[must_use]
    pub(crate) fn is_checked(&self, doubt: u64) -> bool {
        self.checked.load(Ordering::Relaxed) >= doubt
    }

    pub(crate) fn set_checked(&self, doubt: u64) {
        self.checked.fetch_max(doubt, Ordering::Relaxed);
    }

    /// What wake rules need to know of the room.
    #[must_use]
    pub(crate) fn setting(&self, bot: &UserId, max_hops: u32) -> Setting {
        Setting { kind: self.kind(), of_two: self.with_members(|m| m.joined_without(bot)) == 2, max_hops }
    }

    /// Makes sure that the log is in memory, for a look at it now.
    pub(crate) async fn load(&self, store: &Store, now_ms: i64) -> Result<(), StoreError> {
        self.looked_at_ms.store(now_ms, Ordering::Relaxed);
        if matches!(*self.log.read(), LogState::Ready(_)) {
            return Ok(());
        }
        let _one = self.loading.lock().await;
        if matches!(*self.log.read(), LogState::Ready(_)) {
            return Ok(());
        }
        *self.log.write() = LogState::Loading(vec![]);
        let key = self.key;
        let read = store.read(move |r| StoredLog::read(r, key)).await;
        let mut state = self.log.write();
        match read {
            Ok(stored) => *state = LogState::Ready(caught_up(stored, &state)),
            Err(error) => {
                *state = LogState::Absent;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Forgets a log that nobody has looked at for a while; it is read again when asked for.
    pub(crate) fn unload_unused(&self, now_ms: i64) {
        let mut state = self.log.write();
        let unused = self.looked_at_ms.load(Ordering::Relaxed) + UNUSED_MS < now_ms;
        if unused && matches!(*state, LogState::Ready(_)) {
            *state = LogState::Absent;
        }
    }

    /// Follows a commit. Where the log is not in memory there is nothing to follow.
    pub(crate) fn apply(&self, change: &LogChange) {
        match &mut *self.log.write() {
            LogState::Absent => {}
            LogState::Loading(missed) => missed.push(change.clone()),
            LogState::Ready(log) => log.apply(change),
        }
    }

    /// Looks at the log; an empty one where [`RoomLive::load`] was not called before.
    pub(crate) fn with_log<T>(&self, look: impl FnOnce(&RoomLog) -> T) -> T {
        match &*self.log.read() {
            LogState::Ready(log) => look(log),
            LogState::Absent | LogState::Loading(_) => look(&RoomLog::default()),
        }
    }
}

fn caught_up(stored: StoredLog, state: &LogState) -> RoomLog {
    let mut log = RoomLog::new(stored);
    if let LogState::Loading(missed) = state {
        missed.iter().for_each(|change| log.apply(change));
    }
    log
}
