//! A store in a folder of its own, two rooms, two agents, and short ways to say what happens in them.

use std::path::PathBuf;

use parlour_domain::{
    agent::Author,
    ids::{AgentId, AgentKey, CatalogId, MessageId, Pos, RoomKey, Seq},
    message::{Body, Message},
    room::RoomKind,
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId, RoomId, UserId};
use tempfile::TempDir;

use crate::{Appended, By, NewAgent, NewEntry, NewRoom, Reader, Store, StoreError, Tx, Who};

pub(super) const ADA: &str = "@ada:x";
pub(super) const SCOUT: &str = "@agent_scout:x";
pub(super) const ROOM: RoomKey = RoomKey(1);
pub(super) const OTHER_ROOM: RoomKey = RoomKey(2);
/// The agent behind [`SCOUT`].
pub(super) const SCOUT_KEY: AgentKey = AgentKey(1);
pub(super) const OTHER_AGENT: AgentKey = AgentKey(2);

pub(super) fn operator(at_ms: i64) -> By {
    By { who: Who::Operator, at_ms }
}

pub(super) struct Fixture {
    pub(super) store: Store,
    pub(super) folder: TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let fixture = Self { store, folder, runtime };
        fixture.write(furnish);
        fixture
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("parlour.db")
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(super) fn try_write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.wait(self.store.write(work))
    }

    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.try_write(work).unwrap()
    }

    pub(super) fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.wait(self.store.read(work)).unwrap()
    }

    /// Closes the store and opens it again on the same folder.
    pub(super) fn reopened(self) -> Self {
        let Self { store, folder, runtime } = self;
        drop(store);
        Self { store: Store::open(folder.path()).unwrap(), folder, runtime }
    }

    pub(super) fn append(&self, entry: NewEntry) -> Appended {
        self.write(move |tx| tx.append(entry))
    }

    /// [`ADA`] says `m<n>` for each, and the homeserver tells us.
    pub(super) fn says(&self, numbers: impl IntoIterator<Item = i64>) {
        let entries: Vec<NewEntry> = numbers.into_iter().map(said).collect();
        self.write(move |tx| {
            for entry in entries {
                assert!(matches!(tx.append(entry)?, Appended::New(_)));
            }
            Ok(())
        });
    }

    pub(super) fn fill_in(
        &self,
        numbers: impl IntoIterator<Item = i64>,
        before: Option<Pos>,
    ) -> Vec<Message> {
        let entries = numbers.into_iter().map(said).collect();
        self.write(move |tx| tx.fill_in(entries, before))
    }

    pub(super) fn evict(&self) -> Vec<Seq> {
        self.write(|tx| tx.evict(ROOM))
    }

    /// [`ROOM`]'s log in the room's order.
    pub(super) fn log(&self) -> Vec<Message> {
        let mut log = self.read(|r| r.room_log(ROOM));
        log.sort_by_key(|m| m.pos);
        log
    }

    /// The numbers of [`Self::log`].
    pub(super) fn order(&self) -> Vec<i64> {
        self.log().iter().map(|m| number(&m.event_id)).collect()
    }

    pub(super) fn message(&self, n: i64) -> Message {
        self.log().into_iter().find(|m| m.event_id == event(n)).unwrap()
    }
}

pub(super) fn furnish(tx: &Tx<'_>) -> Result<(), StoreError> {
    for (n, room_id) in [(1, "!one:x"), (2, "!two:x")] {
        let room_id = RoomId::parse(room_id).unwrap();
        let row = tx.put_room(&NewRoom {
            room_id: &room_id,
            catalog_id: CatalogId::new(0, [n; 10]),
            kind: RoomKind::Lobby,
            slug: None,
            name: Some("Lobby"),
            created_at_ms: 0,
        })?;
        assert_eq!(row.room.key, RoomKey(n.into()));
    }
    assert_eq!(tx.add_agent(&new_agent(1, SCOUT))?, SCOUT_KEY);
    assert_eq!(tx.add_agent(&new_agent(2, "@agent_other:x"))?, OTHER_AGENT);
    Ok(())
}

pub(super) fn new_agent(n: u8, user_id: &str) -> NewAgent {
    NewAgent {
        id: AgentId::new(0, [n; 10]),
        user_id: UserId::parse(user_id).unwrap(),
        display_name: format!("Agent #000{n}"),
        likeness: "agent".into(),
        number: n.into(),
        token_digest: [n; 32],
        created_at_ms: 5,
    }
}

pub(super) fn event(n: i64) -> OwnedEventId {
    EventId::parse(format!("$e{n}")).unwrap()
}

pub(super) fn number(event_id: &EventId) -> i64 {
    event_id.as_str()[2..].parse().unwrap()
}

/// Message `n` by [`ADA`], as the homeserver tells it.
pub(super) fn said(n: i64) -> NewEntry {
    NewEntry {
        room: ROOM,
        event_id: event(n),
        message_id: MessageId::of_event(n, &event(n)),
        sender: UserId::parse(ADA).unwrap(),
        author: Author::Person { display_name: "Ada".into(), avatar_url: None },
        event_type: "m.room.message".into(),
        content: format!(r#"{{"body":"m{n}"}}"#),
        body: Body { text: format!("m{n}"), ..Body::default() },
        sent_at_ms: n * 1_000,
        received_at_ms: n * 1_000,
        visibility: Visibility::Shared,
        echoed: true,
        encrypted: false,
        hops: 0,
    }
}

/// Message `n` by [`SCOUT`], as its echo tells it.
pub(super) fn echo(n: i64) -> NewEntry {
    let author =
        Author::Agent { key: SCOUT_KEY, id: AgentId::new(0, [1; 10]), display_name: "Agent #0001".into() };
    NewEntry { sender: UserId::parse(SCOUT).unwrap(), author, ..said(n) }
}

/// Message `n` by [`SCOUT`], as the answer to its send tells it: a little earlier.
pub(super) fn answered(n: i64) -> NewEntry {
    NewEntry { sent_at_ms: n * 1_000 - 7, echoed: false, ..echo(n) }
}
