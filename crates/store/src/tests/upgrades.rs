//! Databases of all earlier versions, with rows in each of their tables. What is in `lived` for a version is written when
//! the database is at that version, so the rows went the whole way.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use parlour_domain::ids::RoomKey;
use rusqlite::Connection;

use super::schema::newest;
use crate::{Queued, Store, db::migrations};

/// A table's rows, or columns of it, that a later version moves elsewhere or writes anew.
const MOVED: [&str; 2] = ["journal", "transactions"];
const REWRITTEN: [&str; 4] = ["log.body", "edits.seq", "rooms.head_pos", "rooms.settled_pos"];

/// A database of a version, as if it had been in use since the first.
fn lived_to(version: usize, folder: &Path) -> Connection {
    let mut db = Connection::open(folder.join("parlour.db")).unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    // a hundred and fifty commits that no power cut has to spare
    db.pragma_update(None, "synchronous", "OFF").unwrap();
    for at in 1..=version {
        migrations().to_version(&mut db, at).unwrap();
        let rows = format!("{}/src/tests/lived/{at:04}.sql", env!("CARGO_MANIFEST_DIR"));
        if let Ok(rows) = std::fs::read_to_string(rows) {
            db.execute_batch(&rows).unwrap();
        }
    }
    db
}

fn strings(db: &Connection, query: &str) -> Vec<String> {
    let mut query = db.prepare(query).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// All tables with their columns.
fn tables(db: &Connection) -> BTreeMap<String, Vec<String>> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let columns = |table: &String| strings(db, &format!("SELECT name FROM pragma_table_info('{table}')"));
    strings(db, tables).into_iter().map(|table| (table.clone(), columns(&table))).collect()
}

/// The values of some columns, a line a row.
fn rows(db: &Connection, table: &str, columns: &[String]) -> Vec<String> {
    let values: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
    strings(db, &format!("SELECT {} AS line FROM {table} ORDER BY line", values.join(" || ' ' || ")))
}

/// Columns of an earlier version that are as they were.
fn kept(table: &str, before: &[String], now: &[String]) -> Vec<String> {
    let kept =
        |column: &&String| now.contains(column) && !REWRITTEN.contains(&format!("{table}.{column}").as_str());
    before.iter().filter(kept).cloned().collect()
}

#[test]
fn every_earlier_version_is_taken_over_with_all_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let now = tables(&lived_to(newest(), folder.path()));
    for version in 1..newest() {
        let folder = tempfile::tempdir().unwrap();
        let old = lived_to(version, folder.path());
        let mut before = vec![];
        for (table, columns) in tables(&old) {
            let columns = kept(&table, &columns, now.get(&table).map_or(&[], Vec::as_slice));
            let rows = if MOVED.contains(&&*table) { vec![] } else { rows(&old, &table, &columns) };
            assert!(!rows.is_empty() || MOVED.contains(&&*table), "{table} of version {version} is empty");
            before.push((table, columns, rows));
        }
        drop(old);
        is_in_use(&Store::open(folder.path()).unwrap(), version);
        let upgraded = Connection::open(folder.path().join("parlour.db")).unwrap();
        assert_eq!(strings(&upgraded, "PRAGMA integrity_check"), ["ok"], "version {version}");
        assert_eq!(strings(&upgraded, "SELECT \"table\" FROM pragma_foreign_key_check"), [""; 0]);
        for (table, columns, before) in before.into_iter().filter(|(table, ..)| !MOVED.contains(&&**table)) {
            assert_eq!(rows(&upgraded, &table, &columns), before, "{table} of version {version}");
        }
    }
}

/// What was not worked off is still to be, and the agent has what it had not read.
fn is_in_use(store: &Store, version: usize) {
    let queued = Queued { journal_id: 7, received_at_ms: 5, body: b"{}".into() };
    assert_eq!(store.next_queued(0).unwrap(), Some(queued), "version {version}");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let read = store.read(|r| Ok((r.agents()?, r.seats()?, r.rooms()?, r.room_log(RoomKey(1))?)));
    let (agents, seats, rooms, log) = runtime.block_on(read).unwrap();
    assert_eq!((agents.len(), seats.len()), (1, 1));
    assert_eq!(rooms[0].room.name.as_deref(), Some("Lobby"));
    let (me, seat) = (&agents[0].agent.user_id, &seats[0].seat);
    let unread = log.into_iter().map(Arc::new).filter(|message| seat.holds(message, me));
    let texts: Vec<_> = unread.map(|message| seat.read(&message).unwrap().body.text.clone()).collect();
    assert_eq!(texts, ["second", "third"], "version {version}");
}
