use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use parking_lot::RwLock;
use parlour_domain::{
    agent::Agent,
    hops::Woken,
    ids::{AgentId, AgentKey, RoomKey, Seq},
    inbox::Ack,
    names::pick_number,
    seat::{Context, Seat},
};
use parlour_store::{AgentRow, AgentState, Exceptions, SeatRow};
use ruma::{EventId, OwnedEventId, OwnedUserId, UserId};

use crate::token::TokenDigest;

/// A message as an agent was given it.
#[derive(Debug)]
pub(crate) struct Handed {
    pub(crate) event_id: OwnedEventId,
    pub(crate) room: RoomKey,
    pub(crate) arrival: Seq,
}

/// An agent that is not gone.
#[derive(Debug)]
pub(crate) struct AgentLive {
    pub(crate) agent: Agent,
    /// What its name looks like, and its number.
    name: (String, u16),
    seats: RwLock<BTreeMap<RoomKey, SeatRow>>,
    last_call_ms: AtomicI64,
    /// As the disk has it.
    noted_call_ms: AtomicI64,
    last_mentions: RwLock<Vec<OwnedUserId>>,
    /// What was handed over last. It can be acknowledged though it has left the log since.
    handed: RwLock<Vec<Handed>>,
    ended: AtomicBool,
    /// A join that is under way.
    entering: RwLock<Option<RoomKey>>,
    /// What woke it last, in each room. In memory only: a restart forgives a loop once.
    woken: RwLock<HashMap<RoomKey, Woken>>,
    /// What moves cursors or rooms of one agent happens one after the other.
    pub(crate) moving: tokio::sync::Mutex<()>,
}

impl AgentLive {
    fn new(row: &AgentRow) -> Self {
        Self {
            agent: row.agent.clone(),
            name: (row.likeness.clone(), row.number),
            seats: RwLock::default(),
            last_call_ms: AtomicI64::new(row.last_call_ms),
            noted_call_ms: AtomicI64::new(row.last_call_ms),
            last_mentions: RwLock::new(row.last_mentions.clone()),
            handed: RwLock::default(),
            ended: AtomicBool::new(row.state != AgentState::Live),
            entering: RwLock::default(),
            woken: RwLock::default(),
            moving: tokio::sync::Mutex::new(()),
        }
    }

    #[must_use]
    pub(crate) fn key(&self) -> AgentKey {
        self.agent.key
    }

    #[must_use]
    pub(crate) fn user_id(&self) -> &UserId {
        &self.agent.user_id
    }

    /// Counts as a call, for the idle rule.
    pub(crate) fn called(&self, now_ms: i64) {
        self.last_call_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    #[must_use]
    pub(crate) fn last_call_ms(&self) -> i64 {
        self.last_call_ms.load(Ordering::Relaxed)
    }

    /// The last call, where the disk does not know of it yet.
    #[must_use]
    pub(crate) fn call_to_note(&self) -> Option<i64> {
        let last = self.last_call_ms();
        (last > self.noted_call_ms.load(Ordering::Relaxed)).then_some(last)
    }

    pub(crate) fn call_noted(&self, at_ms: i64) {
        self.noted_call_ms.fetch_max(at_ms, Ordering::Relaxed);
    }

    #[must_use]
    pub(crate) fn last_mentions(&self) -> Vec<OwnedUserId> {
        self.last_mentions.read().clone()
    }

    pub(crate) fn set_last_mentions(&self, mentions: Vec<OwnedUserId>) {
        *self.last_mentions.write() = mentions;
    }

    /// What woke it last in a room.
    #[must_use]
    pub(crate) fn woken_in(&self, room: RoomKey) -> Option<Woken> {
        self.woken.read().get(&room).copied()
    }

    pub(crate) fn woken_by(&self, room: RoomKey, woken: Woken) {
        self.woken.write().insert(room, woken);
    }

    pub(crate) fn hands_over(&self, given: Vec<Handed>) {
        *self.handed.write() = given;
    }

    /// When something came that was handed over last, and where.
    #[must_use]
    pub(crate) fn handed(&self, event_id: &EventId) -> Option<(RoomKey, Seq)> {
        self.handed.read().iter().find(|h| h.event_id == event_id).map(|h| (h.room, h.arrival))
    }

    /// Has no token: not yet, or not any more.
    #[must_use]
    pub(crate) fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn put_seat(&self, row: SeatRow) {
        self.seats.write().insert(row.seat.room, row);
    }

    pub(crate) fn put_exceptions(&self, room: RoomKey, now: Exceptions) {
        if let Some(row) = self.seats.write().get_mut(&room) {
            (row.seat.withheld, row.seat.shown, row.seat.late) = (now.withheld, now.shown, now.late);
        }
    }

    /// A seat as it is now.
    #[must_use]
    pub(crate) fn seat_in(&self, room: RoomKey) -> Option<Seat> {
        self.seats.read().get(&room).map(|row| row.seat.clone())
    }

    /// Seats in rooms the agent is in.
    #[must_use]
    pub(crate) fn present(&self) -> Vec<Seat> {
        self.seats.read().values().filter(|r| r.seat.present()).map(|r| r.seat.clone()).collect()
    }

    #[must_use]
    pub(crate) fn is_in(&self, room: RoomKey) -> bool {
        self.seats.read().get(&room).is_some_and(|r| r.seat.present())
    }

    /// Its join was answered, and no transaction has told of it yet: nor perhaps of what was before.
    #[must_use]
    pub(crate) fn is_just_in(&self, room: RoomKey) -> bool {
        self.seats.read().get(&room).is_some_and(|r| r.provisional)
    }

    /// Seats in rooms the agent is in, or is to be put back into.
    #[must_use]
    pub(crate) fn mine(&self) -> Vec<Seat> {
        self.seats.read().values().filter(|r| r.seat.present() || r.away).map(|r| r.seat.clone()).collect()
    }

    /// Lobbies to be put back into.
    #[must_use]
    pub(crate) fn away(&self) -> Vec<RoomKey> {
        self.seats.read().values().filter(|r| r.away).map(|r| r.seat.room).collect()
    }

    /// Says that a join is under way, until the answer is dropped.
    pub(crate) fn enters(&self, room: RoomKey) -> Entering<'_> {
        *self.entering.write() = Some(room);
        Entering(self)
    }

    /// Whether news of a join is old: taken out for idleness since, and not on its way back.
    #[must_use]
    pub(crate) fn has_left_since(&self, room: RoomKey) -> bool {
        let away = self.seats.read().get(&room).is_some_and(|r| r.away);
        away && *self.entering.read() != Some(room)
    }

    pub(crate) fn stay_out(&self, room: RoomKey) {
        if let Some(row) = self.seats.write().get_mut(&room) {
            row.away = false;
        }
    }

    pub(crate) fn acknowledged(&self, ack: Ack) {
        self.seats.write().values_mut().for_each(|row| ack.apply(&mut row.seat));
    }

    pub(crate) fn opened(&self, room: RoomKey, context: Option<Context>, hides: bool) {
        if let Some(row) = self.seats.write().get_mut(&room) {
            row.seat.opened = true;
            row.seat.context = context;
            row.seat.hides = hides;
        }
    }

    /// It was told, and has acknowledged, that something in the room is hidden from it.
    pub(crate) fn hiding_told(&self, room: RoomKey) {
        if let Some(row) = self.seats.write().get_mut(&room) {
            row.seat.hides = false;
        }
    }
}

/// See [`AgentLive::enters`].
#[derive(Debug)]
pub(crate) struct Entering<'a>(&'a AgentLive);

impl Drop for Entering<'_> {
    fn drop(&mut self) {
        *self.0.entering.write() = None;
    }
}

/// All agents that are not gone.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    index: RwLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    by_key: HashMap<AgentKey, Arc<AgentLive>>,
    by_token: HashMap<TokenDigest, Arc<AgentLive>>,
    by_user: HashMap<OwnedUserId, Arc<AgentLive>>,
    names: BTreeSet<(String, u16)>,
}

impl Agents {
    /// Adds an agent that has no token yet, or none any more.
    pub(crate) fn put(&self, row: &AgentRow) -> Arc<AgentLive> {
        let agent = Arc::new(AgentLive::new(row));
        let mut index = self.index.write();
        index.by_key.insert(agent.key(), agent.clone());
        index.by_user.insert(agent.agent.user_id.clone(), agent.clone());
        agent
    }

    /// Keeps a number for an agent with such a name, the first free one from `start` on.
    pub(crate) fn reserve_number(&self, likeness: &str, start: u16) -> Option<u16> {
        let mut index = self.index.write();
        let taken = |number| index.names.contains(&(likeness.to_owned(), number));
        let number = pick_number(taken, start)?;
        index.names.insert((likeness.to_owned(), number));
        Some(number)
    }

    pub(crate) fn free_number(&self, likeness: &str, number: u16) {
        self.index.write().names.remove(&(likeness.to_owned(), number));
    }

    /// From now on the token is this agent.
    pub(crate) fn give_token(&self, agent: &Arc<AgentLive>, digest: TokenDigest) {
        agent.ended.store(false, Ordering::Relaxed);
        let mut index = self.index.write();
        index.names.insert(agent.name.clone());
        index.by_token.insert(digest, agent.clone());
    }

    /// The token is void; the name is free again.
    pub(crate) fn end(&self, agent: &AgentLive) {
        agent.ended.store(true, Ordering::Relaxed);
        let mut index = self.index.write();
        index.by_token.retain(|_, a| a.key() != agent.key());
        index.names.remove(&agent.name);
    }

    /// Nothing is left to do for it.
    pub(crate) fn forget(&self, agent: &AgentLive) {
        let mut index = self.index.write();
        index.by_key.remove(&agent.key());
        index.by_user.remove(agent.user_id());
    }

    #[must_use]
    pub(crate) fn by_token(&self, digest: &TokenDigest) -> Option<Arc<AgentLive>> {
        self.index.read().by_token.get(digest).cloned()
    }

    #[must_use]
    pub(crate) fn by_user(&self, user: &UserId) -> Option<Arc<AgentLive>> {
        self.index.read().by_user.get(user).cloned()
    }

    #[must_use]
    pub(crate) fn get(&self, key: AgentKey) -> Option<Arc<AgentLive>> {
        self.index.read().by_key.get(&key).cloned()
    }

    /// By the id that the wire knows.
    #[must_use]
    pub(crate) fn by_id(&self, id: AgentId) -> Option<Arc<AgentLive>> {
        self.index.read().by_key.values().find(|a| a.agent.id == id).cloned()
    }

    #[must_use]
    pub(crate) fn all(&self) -> Vec<Arc<AgentLive>> {
        self.index.read().by_key.values().cloned().collect()
    }
}
