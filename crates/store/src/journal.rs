//! Transactions as they came: on disk before they are answered, gone once their events are in the log.

use rusqlite::OptionalExtension;
use sha2::{Digest, Sha256};

use crate::{Reader, StoreError, Tx};

/// For how long a transaction that comes again is known by id and body. The homeserver resends for as long as it has
/// no 200; after one, only what crossed it on the way.
const REMEMBERED_MS: i64 = 10 * 60_000;

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

impl Tx<'_> {
    pub fn journal(&self, txn_id: &str, body: &[u8], now_ms: i64) -> Result<Journaled, StoreError> {
        let forget = "DELETE FROM transactions WHERE received_at_ms < ?1";
        self.0.prepare_cached(forget)?.execute([now_ms - REMEMBERED_MS])?;
        let remember =
            "INSERT INTO transactions (digest, received_at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.0.prepare_cached(remember)?.execute((digest(txn_id, body), now_ms))? == 0 {
            return Ok(Journaled::Again);
        }
        self.0
            .prepare_cached("INSERT INTO journal (txn_id, received_at_ms, body) VALUES (?1, ?2, ?3)")?
            .execute((txn_id, now_ms, body))?;
        Ok(Journaled::New(self.0.last_insert_rowid()))
    }

    pub fn journal_done(&self, journal_id: i64) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM journal WHERE journal_id = ?1")?.execute([journal_id])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// The first transaction after `journal_id` that is still to be worked off.
    pub fn next_queued(&self, journal_id: i64) -> Result<Option<Queued>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT journal_id, received_at_ms, body FROM journal WHERE journal_id > ?1 ORDER BY journal_id LIMIT 1",
        )?;
        let queued = |row: &rusqlite::Row<'_>| {
            Ok(Queued { journal_id: row.get(0)?, received_at_ms: row.get(1)?, body: row.get(2)? })
        };
        Ok(query.query_row([journal_id], queued).optional()?)
    }
}

fn digest(txn_id: &str, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((txn_id.len() as u64).to_le_bytes());
    hash.update(txn_id);
    hash.update(body);
    hash.finalize().into()
}
