//! What the store costs: `cargo bench -p parlour-store`. The whole bridge is to take in 5,000 events a second on one
//! core, so a message may cost the store well under 100 microseconds. Commits are synced to disk, as when it serves.

#![allow(clippy::expect_used, reason = "a bench that cannot go on ends")]

use std::sync::atomic::{AtomicU64, Ordering};

use divan::{Bencher, counter::ItemsCount};
use parlour_domain::{
    agent::Author,
    ids::{AgentId, AgentKey, CatalogId, MessageId, RoomKey, Seq},
    inbox::Ack,
    limits::ROOM_HISTORY,
    message::Body,
    room::RoomKind,
    visibility::Visibility,
};
use parlour_store::{Appended, Claim, Claimed, NewAgent, NewEntry, NewRoom, Reader, Store, StoreError, Tx};
use ruma::{EventId, UserId};

fn main() {
    divan::main();
}

static NEXT: AtomicU64 = AtomicU64::new(1);

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A store with one agent in one room whose log is full.
struct Stage {
    store: Store,
    room: RoomKey,
    agent: AgentKey,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the bench");
        let store = Store::open(folder.path()).expect("a fresh store");
        let (room, agent) = wait(store.write(furnish)).expect("a room and an agent");
        Self { store, room, agent, _folder: folder }
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        wait(self.store.write(work)).expect("the write")
    }

    /// A store that has seen many messages: what is left of them is one row each.
    fn with_evicted(count: u64) -> Self {
        let stage = Self::new();
        let database =
            rusqlite::Connection::open(stage._folder.path().join("parlour.db")).expect("the database");
        let fill = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1)
            INSERT INTO evicted SELECT randomblob(16), ?2, i - ?1, i - ?1, NULL FROM n WHERE ?1 > 0";
        database.execute(fill, (i64::try_from(count).unwrap_or(0), stage.room.0)).expect("the past");
        // else the first commit that is measured pays for it
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
        stage
    }
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

fn furnish(tx: &Tx<'_>) -> Result<(RoomKey, AgentKey), StoreError> {
    let room_id = ruma::RoomId::parse("!bench:example.org").expect("a room id");
    let room = tx.put_room(&NewRoom {
        room_id: &room_id,
        catalog_id: CatalogId::new(0, [1; 10]),
        kind: RoomKind::Lobby,
        slug: Some("lobby"),
        name: Some("Lobby"),
        created_at_ms: 0,
    })?;
    let agent = tx.add_agent(&NewAgent {
        id: AgentId::new(0, [2; 10]),
        user_id: UserId::parse("@agent_bench:example.org").expect("a user id"),
        display_name: "Bench #0001".into(),
        likeness: "bench".into(),
        number: 1,
        token_digest: [3; 32],
        created_at_ms: 0,
    })?;
    tx.seat_taken(agent, room.room.key)?;
    for _ in 0..ROOM_HISTORY {
        tx.append(entry(room.room.key))?;
    }
    Ok((room.room.key, agent))
}

fn entry(room: RoomKey) -> NewEntry {
    let n = next();
    let event_id = EventId::parse(format!("$bench{n:040}")).expect("an event id");
    let text = "A message of a usual length, as people and agents write them in a lobby: a sentence or two. "
        .repeat(2);
    NewEntry {
        room,
        message_id: MessageId::of_event(0, &event_id),
        event_id,
        sender: UserId::parse("@person:example.org").expect("a user id"),
        author: Author::Person { display_name: "A Person".into(), avatar_url: None },
        event_type: "m.room.message".into(),
        content: format!(r#"{{"body":"{text}","m.mentions":{{}},"msgtype":"m.text"}}"#),
        body: Body { text, ..Body::default() },
        sent_at_ms: 0,
        received_at_ms: 0,
        visibility: Visibility::Shared,
        echoed: true,
        encrypted: false,
        hops: 0,
    }
}

/// A transaction as the homeserver sends them at most, into a full log; the argument: how many have left it before.
#[divan::bench(args = [0, 1_000_000], sample_count = 200, sample_size = 1)]
fn append_100_and_evict(bencher: Bencher<'_, '_>, past: u64) {
    let stage = Stage::with_evicted(past);
    let room = stage.room;
    let entries = || (0..100).map(|_| entry(room)).collect::<Vec<_>>();
    bencher.counter(ItemsCount::new(100_usize)).with_inputs(entries).bench_values(|entries| {
        stage.write(move |tx| {
            for entry in entries {
                assert!(matches!(tx.append(entry)?, Appended::New(_)));
            }
            assert_eq!(tx.evict(room)?.len(), 100);
            Ok(())
        });
    });
}

/// The quiet case: one message in a transaction.
#[divan::bench(sample_count = 1000, sample_size = 1)]
fn append_1_and_evict(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let room = stage.room;
    bencher.with_inputs(|| entry(room)).bench_values(|entry| {
        stage.write(move |tx| {
            tx.append(entry)?;
            tx.evict(room)
        })
    });
}

/// Two commits, as a send makes them: before the homeserver is asked, and after it has answered.
#[divan::bench(threads = [1, 8], sample_count = 800, sample_size = 1)]
fn claim_and_sent(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let (room, agent) = (stage.room, stage.agent);
    bencher.bench(|| {
        let n = next();
        let id = MessageId::new(0, n.to_be_bytes().repeat(2)[..10].try_into().unwrap_or([0; 10]));
        let content = r#"{"body":"hello","m.mentions":{},"msgtype":"m.text"}"#.to_owned();
        let body = r#"{"text":"hello"}"#.to_owned();
        let claim = Claim {
            agent,
            id,
            room,
            digest: [0; 32],
            content,
            body,
            sealed: None,
            mentions: vec![],
            claimed_at_ms: 0,
        };
        assert!(matches!(stage.write(move |tx| tx.claim(&claim, &[])), Claimed::New));
        let event_id = EventId::parse(format!("$sent{n}")).expect("an event id");
        assert!(stage.write(move |tx| tx.sent(agent, id, &event_id)));
    });
}

#[divan::bench(threads = [1, 8], sample_count = 2000, sample_size = 1)]
fn acknowledge(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let agent = stage.agent;
    bencher.bench(|| {
        let up_to = Seq(i64::try_from(next()).unwrap_or(0));
        stage.write(move |tx| tx.acknowledge(agent, Ack { up_to, room: None }));
    });
}

/// What a transaction waits for before it gets its 200: 100 events, about 80 KB.
#[divan::bench(sample_count = 300, sample_size = 1)]
fn journal_100_events(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let body = vec![b'x'; 80_000];
    bencher
        .with_inputs(|| (next().to_string(), body.clone()))
        .bench_values(|(txn_id, body): (String, Vec<u8>)| stage.store.journal(&txn_id, &body, 0, drop));
}

/// What the first wait after a start reads.
#[divan::bench(sample_count = 200)]
fn read_a_full_log(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    let room = stage.room;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    bencher.bench_local(|| {
        runtime.block_on(stage.store.read(move |r| r.room_log(room))).expect("the log").len()
    });
}

/// The argument: how many left the log before this agent acknowledged them.
#[divan::bench(args = [0, 1_000, 100_000], sample_count = 100)]
fn count_dropped(bencher: Bencher<'_, '_>, past: u64) {
    let stage = Stage::with_evicted(past);
    let (agent, room) = (stage.agent, stage.room);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut seat = runtime.block_on(stage.store.read(|r| r.seats())).expect("the seat").remove(0).seat;
    seat.acked = Seq(i64::MIN);
    seat.periods[0].after = parlour_domain::ids::Pos(i64::MIN);
    let log = runtime.block_on(stage.store.read(move |r| r.room_log(room))).expect("the log");
    let held: Vec<Seq> = log.iter().map(|m| m.seq).collect();
    bencher.bench_local(|| {
        let (seat, held) = (seat.clone(), held.clone());
        let dropped = move |r: &Reader<'_>| r.dropped(agent, &seat, Seq(i64::MAX), &held);
        runtime.block_on(stage.store.read(dropped)).expect("a count")
    });
}
