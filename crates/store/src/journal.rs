//! Transactions as they came: on disk before they are answered, gone once their events are in the log.
//!
//! They have a database of their own, `journal.db`. A homeserver that waits for its answer waits for one small commit
//! there, and for nothing that is being made of the transactions before. What ties the two databases together is the
//! number of the last transaction that was worked off: it stands in `parlour.db`, committed with what came of it, and
//! rows are deleted only after that number was synced there.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use rusqlite_migration::{M, Migrations};
use sha2::{Digest, Sha256};

use crate::{StoreError, Tx, blocking::in_place, wal::Wal};

/// For how long a transaction that comes again is known by id and body. The homeserver resends for as long as it has
/// no 200; after one, only what crossed it on the way.
const REMEMBERED_MS: i64 = 10 * 60_000;

/// Rows that a new transaction clears away at the most: more than one, so that they become fewer; not many, as an answer
/// waits for it.
const CLEARED_ALONG: i64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journaled {
    New(i64),
    /// The same id with the same body, minutes ago at the most.
    Again,
}

/// A transaction still to be worked off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub journal_id: i64,
    pub received_at_ms: i64,
    pub body: Vec<u8>,
}

pub(crate) struct Journal(Mutex<Option<Open>>);

struct Open {
    connection: Connection,
    wal: Wal,
    next_id: i64,
    /// Worked off when it was opened.
    done_before: i64,
    /// Up to here rows may go.
    done: i64,
    recent: Recent,
}

/// Digests of the last minutes' transactions, oldest first.
#[derive(Default)]
struct Recent {
    known: HashSet<[u8; 32]>,
    by_age: VecDeque<(i64, [u8; 32])>,
}

pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![M::up(include_str!("migrations/journal/0001_journal.sql"))])
}

impl Journal {
    /// `connection` leads to `journal.db`. `left` is what older versions kept in `parlour.db`.
    pub(crate) fn open(
        mut connection: Connection,
        wal: Wal,
        done_before: i64,
        left: &[Queued],
    ) -> Result<Self, StoreError> {
        migrations().to_latest(&mut connection)?;
        take_over(&mut connection, left)?;
        Wal::watch(&connection);
        let (next_id, recent) = (next_id(&connection, done_before)?, Recent::read(&connection)?);
        Ok(Self(Mutex::new(Some(Open { connection, wal, next_id, done_before, done: 0, recent }))))
    }

    /// Writes a transaction down, or finds that it was before; once that is on disk `then`, in the order of the commits.
    /// Blocks the thread for as long as the disk takes.
    pub(crate) fn take(
        &self,
        txn_id: &str,
        body: &[u8],
        now_ms: i64,
        then: impl FnOnce(Journaled),
    ) -> Result<(), StoreError> {
        in_place(|| {
            let mut open = self.lock();
            let journaled = open.as_mut().ok_or(StoreError::Closed)?.take(txn_id, body, now_ms)?;
            then(journaled);
            Ok(())
        })
    }

    /// The first transaction after `journal_id` that is still to be worked off.
    pub(crate) fn next_queued(&self, journal_id: i64) -> Result<Option<Queued>, StoreError> {
        in_place(|| self.lock().as_ref().ok_or(StoreError::Closed)?.next_queued(journal_id))
    }

    /// Rows up to this one may go: that they were worked off is synced. They go with those that come, or `now`.
    pub(crate) fn done(&self, journal_id: i64, now: bool) -> Result<(), StoreError> {
        in_place(|| {
            let mut open = self.lock();
            let open = open.as_mut().ok_or(StoreError::Closed)?;
            open.done = open.done.max(journal_id);
            if now { open.clear() } else { Ok(()) }
        })
    }

    pub(crate) fn close(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn take(&mut self, txn_id: &str, body: &[u8], now_ms: i64) -> Result<Journaled, StoreError> {
        let digest = digest(txn_id, body);
        self.recent.forget_before(now_ms - REMEMBERED_MS);
        if self.recent.known.contains(&digest) {
            return Ok(Journaled::Again);
        }
        let (id, done) = (self.next_id, self.done);
        self.commit(|tx| {
            clear(tx, done, now_ms - REMEMBERED_MS, CLEARED_ALONG)?;
            let remember =
                "INSERT INTO transactions (journal_id, received_at_ms, digest) VALUES (?1, ?2, ?3)";
            tx.prepare_cached(remember)?.execute((id, now_ms, digest))?;
            let keep =
                "INSERT INTO journal (journal_id, txn_id, received_at_ms, body) VALUES (?1, ?2, ?3, ?4)";
            tx.prepare_cached(keep)?.execute((id, txn_id, now_ms, body)).map(drop)
        })?;
        self.next_id += 1;
        self.recent.add(now_ms, digest);
        Ok(Journaled::New(id))
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        let done = self.done;
        self.commit(|tx| clear(tx, done, i64::MIN, u32::MAX.into()))
    }

    fn commit(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let tx = Transaction::new(&mut self.connection, TransactionBehavior::Immediate);
        let committed = tx.and_then(|tx| {
            work(&tx)?;
            tx.commit()
        });
        committed.map_err(|cause| StoreError::NotStored(cause.to_string()))?;
        self.wal.keep_short(&self.connection);
        Ok(())
    }

    fn next_queued(&self, after: i64) -> Result<Option<Queued>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT journal_id, received_at_ms, body FROM journal WHERE journal_id > ?1 ORDER BY journal_id LIMIT 1",
        )?;
        let queued = |row: &rusqlite::Row<'_>| {
            Ok(Queued { journal_id: row.get(0)?, received_at_ms: row.get(1)?, body: row.get(2)? })
        };
        Ok(query.query_row([after.max(self.done_before)], queued).optional()?)
    }
}

impl Recent {
    fn read(connection: &Connection) -> Result<Self, StoreError> {
        let mut recent = Self::default();
        let mut query =
            connection.prepare("SELECT received_at_ms, digest FROM transactions ORDER BY journal_id")?;
        for row in query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (at_ms, digest) = row?;
            recent.add(at_ms, digest);
        }
        Ok(recent)
    }

    fn add(&mut self, at_ms: i64, digest: [u8; 32]) {
        self.known.insert(digest);
        self.by_age.push_back((at_ms, digest));
    }

    fn forget_before(&mut self, ms: i64) {
        while let Some((_, digest)) = self.by_age.pop_front_if(|(at_ms, _)| *at_ms < ms) {
            self.known.remove(&digest);
        }
    }
}

/// At most `count` of the oldest rows that are done with, of each kind.
fn clear(tx: &Transaction<'_>, done: i64, forget_before_ms: i64, count: i64) -> rusqlite::Result<()> {
    let rows = "DELETE FROM journal WHERE journal_id <= ?1
        AND journal_id < ?2 + (SELECT min(journal_id) FROM journal)";
    tx.prepare_cached(rows)?.execute((done, count))?;
    let digests = "DELETE FROM transactions WHERE received_at_ms < ?1
        AND journal_id < ?2 + (SELECT min(journal_id) FROM transactions)";
    tx.prepare_cached(digests)?.execute((forget_before_ms, count))?;
    Ok(())
}

/// Ids are never used again: what was worked off under one would count as worked off under the other.
fn next_id(connection: &Connection, done: i64) -> Result<i64, StoreError> {
    let last = "SELECT max(ifnull((SELECT max(journal_id) FROM journal), 0),
        ifnull((SELECT max(journal_id) FROM transactions), 0), ?1)";
    Ok(connection.query_row(last, [done], |row| row.get::<_, i64>(0))? + 1)
}

/// Rows that an older version left in the main database, under their numbers. Twice is as good as once.
fn take_over(connection: &mut Connection, left: &[Queued]) -> Result<(), StoreError> {
    let tx = Transaction::new(connection, TransactionBehavior::Immediate)?;
    for row in left {
        let keep = "INSERT INTO journal (journal_id, txn_id, received_at_ms, body) VALUES (?1, '', ?2, ?3)
            ON CONFLICT DO NOTHING";
        tx.execute(keep, (row.journal_id, row.received_at_ms, &row.body))?;
    }
    Ok(tx.commit()?)
}

fn digest(txn_id: &str, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((txn_id.len() as u64).to_le_bytes());
    hash.update(txn_id);
    hash.update(body);
    hash.finalize().into()
}

impl Tx<'_> {
    /// The transaction is worked off, and all before it. Commit it with what came of it.
    pub fn journal_done(&self, journal_id: i64) -> Result<(), StoreError> {
        let done = "UPDATE worked_off SET journal_id = max(journal_id, ?1)";
        self.0.prepare_cached(done)?.execute([journal_id])?;
        Ok(())
    }
}

/// What `parlour.db` knows of the journal: up to where it is worked off, and rows from the time when it was in there.
pub(crate) fn from_main(main: &Connection) -> Result<(i64, Vec<Queued>), StoreError> {
    let done = main.query_row("SELECT journal_id FROM worked_off", [], |row| row.get(0))?;
    let mut query =
        main.prepare("SELECT journal_id, received_at_ms, body FROM journal ORDER BY journal_id")?;
    let rows = query.query_map([], |row| {
        Ok(Queued { journal_id: row.get(0)?, received_at_ms: row.get(1)?, body: row.get(2)? })
    })?;
    Ok((done, rows.collect::<Result<_, _>>()?))
}
