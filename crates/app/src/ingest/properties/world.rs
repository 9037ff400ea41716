//! The store as ingestion writes to it, and memory that follows.

use std::collections::BTreeSet;

use parlour_domain::{
    agent::Author,
    ids::{AgentId, AgentKey, CatalogId, MessageId, RoomKey},
    inbox::Ack,
    message::Body,
    room::RoomKind,
    seat::Seat,
    visibility::Visibility,
};
use parlour_store::{NewAgent, NewEdit, NewEntry, NewRoom, Store, Tx, Waiting, Waits};
use ruma::{EventId, OwnedEventId, OwnedUserId, UserId};

use super::{AGENTS, Act, Event, Model, PEOPLE, words};
use crate::{
    ingest::{Effect, Step, apply::carry_out_all, sealed::Unsealed},
    live::{RoomLog, StoredLog},
};

const ROOM: RoomKey = RoomKey(1);
const VISIBILITY: Visibility = Visibility::Invited;

fn event_id(event: usize) -> OwnedEventId {
    EventId::parse(format!("$event{event:03}")).unwrap()
}

fn number(event_id: &EventId) -> usize {
    event_id.as_str()["$event".len()..].parse().unwrap()
}

fn person(n: usize) -> OwnedUserId {
    UserId::parse(PEOPLE[n]).unwrap()
}

fn key(agent: usize) -> AgentKey {
    AgentKey(i64::try_from(agent).unwrap() + 1)
}

/// The store, and memory that follows it.
pub(super) struct World {
    store: Store,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    log: RoomLog,
    events: Vec<Event>,
    model: Model,
}

impl World {
    pub(super) fn new(events: Vec<Event>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (log, model) = (RoomLog::default(), Model::default());
        let world = Self { store, folder, runtime, log, events, model };
        world.runtime.block_on(world.store.write(furnish)).unwrap();
        world
    }

    fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&parlour_store::Reader<'_>) -> Result<T, parlour_store::StoreError> + Send + 'static,
    ) -> T {
        self.runtime.block_on(self.store.read(look)).unwrap()
    }

    fn carry_out(&mut self, steps: Vec<Step>) {
        let effects = self.runtime.block_on(self.store.write(|tx| carry_out_all(tx, steps))).unwrap();
        for effect in effects {
            if let Effect::Log { changes, .. } = effect {
                changes.iter().for_each(|change| self.log.apply(change));
            }
        }
    }

    fn seat(&self, agent: usize) -> Option<Seat> {
        let seats = self.read(|r| r.seats());
        seats.into_iter().find(|row| row.agent == key(agent)).map(|row| row.seat)
    }

    fn readers(&self, session: usize) -> BTreeSet<AgentKey> {
        (0..AGENTS).filter(|a| self.model.keys.contains(&(*a, session))).map(key).collect()
    }

    pub(super) fn act(&mut self, act: &Act) {
        match act {
            Act::Comes { event, session } => self.comes(event.index(self.events.len()), *session),
            Act::Redacts { event, own } => self.redacts(event.index(self.events.len()), *own),
            Act::Key { agent, session } => self.key(*agent, *session),
            Act::Joins(agent) => {
                self.carry_out(vec![Step::Joined { agent: key(*agent), room: ROOM }]);
                self.model.inside.insert(*agent);
            }
            Act::Leaves(agent) => {
                self.carry_out(vec![Step::Left { agent: key(*agent), room: ROOM }]);
                self.model.inside.remove(agent);
            }
            Act::Drains(agent) => self.drains(*agent),
            Act::Restarts => {
                let stored = self.read(|r| StoredLog::read(r, ROOM));
                self.log = RoomLog::new(stored);
            }
        }
    }

    fn comes(&mut self, event: usize, session: Option<usize>) {
        if self.model.came.iter().any(|(e, ..)| *e == event) {
            return;
        }
        self.model.came.push((event, session, self.model.inside.clone()));
        let then = self.said(event, session.is_some());
        let Some(session) = session else { return self.carry_out(vec![then]) };
        // a machine without its agent in the room is not asked
        let inside: BTreeSet<AgentKey> = self.model.inside.iter().copied().map(key).collect();
        let readers: BTreeSet<AgentKey> = self.readers(session).intersection(&inside).copied().collect();
        match readers.is_empty() {
            true => self.carry_out(vec![Step::Wait(self.waiting(event, session))]),
            false => self.carry_out(vec![self.unsealed(event, session, then, readers, false)]),
        }
    }

    fn redacts(&mut self, event: usize, own: bool) {
        let by = if own { self.events[event].by } else { 1 - self.events[event].by };
        let redact = Step::Redact { room: ROOM, event_id: event_id(event), by: person(by), any: false };
        self.carry_out(vec![redact]);
        if own {
            self.model.redacted.insert(event);
        }
    }

    fn key(&mut self, agent: usize, session: usize) {
        self.model.keys.insert((agent, session));
        let keys = vec![(ROOM, session.to_string())];
        let asked = keys.clone();
        let waits: Vec<Waits> = self.read(move |r| r.waiting(&asked));
        let readers = self.readers(session);
        for waits in waits {
            let event = number(&waits.waiting.event_id);
            let there = |a: &AgentKey| {
                let seat = (0..AGENTS).find(|n| key(*n) == *a).and_then(|n| self.seat(n));
                seat.is_some_and(|seat| seat.present() || seat.was_in(waits.pos))
            };
            let readers: BTreeSet<AgentKey> = readers.iter().filter(|a| there(a)).copied().collect();
            if !readers.is_empty() {
                let then = self.said(event, true);
                self.carry_out(vec![self.unsealed(event, session, then, readers, true)]);
            }
        }
        let withheld = self.read(move |r| r.withheld(key(agent), &keys));
        let readable =
            |e: parlour_store::Exception| Step::Readable { agent: e.agent, room: ROOM, event_id: e.event_id };
        self.carry_out(withheld.into_iter().map(readable).collect());
    }

    fn drains(&mut self, agent: usize) {
        let Some(seat) = self.seat(agent).filter(Seat::present) else { return };
        let me = UserId::parse(format!("@agent_{agent}:x")).unwrap();
        let held: Vec<_> = self.log.by_arrival().filter(|m| seat.holds(m, &me)).cloned().collect();
        let Some(up_to) = held.iter().map(|m| seat.arrival(m)).max() else { return };
        for message in held {
            *self.model.handed.entry((agent, number(&message.event_id))).or_default() += 1;
        }
        let ack = Ack { up_to, room: Some(ROOM) };
        self.runtime.block_on(self.store.write(move |tx| tx.acknowledge(key(agent), ack))).unwrap();
    }

    fn said(&self, event: usize, encrypted: bool) -> Step {
        let body = Body { text: words(event), ..Body::default() };
        let (id, by, sent_at_ms) = (event_id(event), self.events[event].by, i64::try_from(event).unwrap());
        if let Some(target) = self.events[event].edits {
            return Step::Edit(NewEdit {
                room: ROOM,
                event_id: id,
                target: event_id(target),
                sender: person(by),
                sent_at_ms,
                content: "{}".to_owned(),
                body,
                visibility: VISIBILITY,
                encrypted,
            });
        }
        let entry = NewEntry {
            room: ROOM,
            message_id: MessageId::of_event(sent_at_ms, &id),
            event_id: id,
            sender: person(by),
            author: Author::Person { display_name: PEOPLE[by].to_owned(), avatar_url: None },
            event_type: "m.room.message".to_owned(),
            content: "{}".to_owned(),
            body,
            sent_at_ms,
            received_at_ms: sent_at_ms,
            visibility: VISIBILITY,
            echoed: true,
            encrypted,
            hops: 0,
        };
        Step::Append { entry, settles: None }
    }

    fn waiting(&self, event: usize, session: usize) -> Waiting {
        Waiting {
            event_id: event_id(event),
            room: ROOM,
            visibility: VISIBILITY,
            sender: person(self.events[event].by),
            session_id: session.to_string(),
            event: "{}".to_owned(),
            received_at_ms: 0,
        }
    }

    /// As it is planned: who cannot read it is left to the write to find out.
    fn unsealed(
        &self,
        event: usize,
        session: usize,
        then: Step,
        readers: BTreeSet<AgentKey>,
        waited: bool,
    ) -> Step {
        let mut place = [0; 16];
        place[..8].copy_from_slice(&event.to_le_bytes());
        Step::Unsealed(Unsealed {
            event_id: event_id(event),
            place,
            session_id: session.to_string(),
            message_index: 0,
            event: "{}".to_owned(),
            readers,
            withheld: vec![],
            waited,
            then: Some(Box::new(then)),
        })
    }

    pub(super) fn check(&self) {
        let stored = RoomLog::new(self.read(|r| StoredLog::read(r, ROOM)));
        assert_eq!(
            format!("{:?}", self.log.in_order()),
            format!("{:?}", stored.in_order()),
            "memory follows"
        );
        for agent in 0..AGENTS {
            let seat = self.seat(agent);
            let read = self.log.in_order().into_iter().filter_map(|m| seat.as_ref()?.read(&m));
            let read: Vec<_> = read.map(|m| (number(&m.event_id), m.body.text.clone())).collect();
            assert_eq!(read, self.model.shows(&self.events, agent), "agent {agent}");
        }
    }

    /// Everybody comes back and is handed what is left.
    pub(super) fn end(mut self) {
        for agent in 0..AGENTS {
            self.act(&Act::Joins(agent));
            self.drains(agent);
            for (event, words) in self.model.shows(&self.events, agent) {
                let times = self.model.handed.get(&(agent, event)).copied().unwrap_or(0);
                assert_eq!(times, 1, "agent {agent} was handed {words:?} so often");
            }
            let twice = self.model.handed.iter().find(|(_, times)| **times > 1);
            assert_eq!(twice, None, "handed out twice");
        }
        drop(self.folder);
    }
}

fn furnish(tx: &Tx<'_>) -> Result<(), parlour_store::StoreError> {
    let room_id = ruma::RoomId::parse("!one:x").unwrap();
    let catalog_id = CatalogId::new(0, [1; 10]);
    let (kind, slug, name) = (RoomKind::Lobby, None, None);
    tx.put_room(&NewRoom { room_id: &room_id, catalog_id, kind, slug, name, created_at_ms: 0 })?;
    for n in 0..AGENTS {
        let byte = u8::try_from(n).unwrap();
        tx.add_agent(&NewAgent {
            id: AgentId::new(0, [byte; 10]),
            user_id: UserId::parse(format!("@agent_{n}:x")).unwrap(),
            display_name: format!("Agent #{n}"),
            likeness: "agent".to_owned(),
            number: u16::from(byte),
            token_digest: [byte; 32],
            created_at_ms: 0,
        })?;
    }
    Ok(())
}
