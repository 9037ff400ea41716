use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use parking_lot::RwLock;
use parlour_domain::{
    ids::{AgentKey, CatalogId, RoomKey, Seq},
    message::Message,
    room::{Room, RoomKind},
    visibility::Visibility,
    wake::Setting,
};
use parlour_matrix::events::Power;
use parlour_store::{RoomRow, Store, StoreError};
use ruma::{OwnedRoomId, RoomId, UserId};
use serde_json::value::RawValue;

use super::{LogChange, Members, RoomLog};

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
    /// Joins of one room that overlap cost the homeserver up to twice as much each (measured 2026-11-30).
    pub(crate) joining: tokio::sync::Mutex<()>,
    loading: tokio::sync::Mutex<()>,
    looked_at_ms: AtomicI64,
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
    fn new(row: RoomRow, members: Members) -> Self {
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
            joining: tokio::sync::Mutex::new(()),
            loading: tokio::sync::Mutex::new(()),
            looked_at_ms: AtomicI64::new(0),
        }
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

    pub(crate) fn alter_members(&self, change: impl FnOnce(&mut Members)) {
        change(&mut self.members.write());
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
        let read =
            store.read(move |r| Ok((r.room_log(key)?, r.room_gaps(key)?, r.evicted_through(key)?))).await;
        let mut state = self.log.write();
        match read {
            Ok(parts) => *state = LogState::Ready(caught_up(parts, &state)),
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

fn caught_up(parts: (Vec<Message>, Vec<parlour_store::Gap>, Seq), state: &LogState) -> RoomLog {
    let mut log = RoomLog::new(parts.0, parts.1, parts.2);
    if let LogState::Loading(missed) = state {
        missed.iter().for_each(|change| log.apply(change));
    }
    log
}

/// All rooms.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    index: RwLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    by_key: HashMap<RoomKey, Arc<RoomLive>>,
    by_id: HashMap<OwnedRoomId, Arc<RoomLive>>,
}

impl Rooms {
    /// Adds a room, or brings what is known of it up to date.
    pub(crate) fn put(&self, row: RoomRow, members: Members) -> Arc<RoomLive> {
        let mut index = self.index.write();
        if row.slug.is_some() {
            // the alias may have moved to this room from another one
            let others = index.by_key.values().filter(|r| r.key != row.room.key);
            others.map(|r| r.facts.write()).filter(|f| f.slug == row.slug).for_each(|mut f| f.slug = None);
        }
        if let Some(known) = index.by_key.get(&row.room.key) {
            let mut facts = known.facts.write();
            facts.slug = row.slug;
            facts.room = Arc::new(row.room);
            return known.clone();
        }
        let room = Arc::new(RoomLive::new(row, members));
        index.by_key.insert(room.key, room.clone());
        index.by_id.insert(room.room_id.clone(), room.clone());
        room
    }

    #[must_use]
    pub(crate) fn get(&self, key: RoomKey) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.get(&key).cloned()
    }

    /// A room that goes on under another Matrix id. Who still holds what it was before finds nothing new in it.
    pub(crate) fn replace(&self, row: RoomRow) -> Arc<RoomLive> {
        let mut index = self.index.write();
        index.by_id.retain(|_, r| r.key != row.room.key);
        let room = Arc::new(RoomLive::new(row, Members::default()));
        index.by_key.insert(room.key, room.clone());
        index.by_id.insert(room.room_id.clone(), room.clone());
        room
    }

    /// Rooms that an agent made.
    #[must_use]
    pub(crate) fn of_owner(&self, owner: AgentKey) -> Vec<Arc<RoomLive>> {
        let index = self.index.read();
        index.by_key.values().filter(|r| r.owner() == Some(owner)).cloned().collect()
    }

    /// The room whose tombstone leads there.
    #[must_use]
    pub(crate) fn before(&self, successor: &RoomId) -> Option<Arc<RoomLive>> {
        let index = self.index.read();
        index.by_key.values().find(|r| r.successor().is_some_and(|s| s == successor)).cloned()
    }

    #[must_use]
    pub(crate) fn by_id(&self, room_id: &RoomId) -> Option<Arc<RoomLive>> {
        self.index.read().by_id.get(room_id).cloned()
    }

    #[must_use]
    pub(crate) fn by_number(&self, number: CatalogId) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.values().find(|r| r.room().catalog_id == number).cloned()
    }

    /// The room that a lobby of the config stands for now.
    #[must_use]
    pub(crate) fn lobby(&self, slug: &str) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.values().find(|r| r.facts.read().slug.as_deref() == Some(slug)).cloned()
    }

    #[must_use]
    pub(crate) fn all(&self) -> Vec<Arc<RoomLive>> {
        self.index.read().by_key.values().cloned().collect()
    }
}
