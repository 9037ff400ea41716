//! Rows of crypto state: bytes under an account (a device's number), a kind and a key. What they mean, and their
//! sealing, is the matrix crate's matter.

use rusqlite::OptionalExtension;

use crate::{Reader, StoreError, Tx};

/// One change: a value to put, or `None` to take the row away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CryptoWrite {
    pub kind: u8,
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

/// Key and value.
pub type CryptoRow = (Vec<u8>, Vec<u8>);

const PUT: &str = "INSERT INTO crypto (account, kind, key, value) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET value = excluded.value";

impl Tx<'_> {
    /// Carries out a batch in its order.
    pub fn crypto_put(&self, account: i64, batch: &[CryptoWrite]) -> Result<(), StoreError> {
        let mut put = self.0.prepare_cached(PUT)?;
        let mut delete =
            self.0.prepare_cached("DELETE FROM crypto WHERE account = ?1 AND kind = ?2 AND key = ?3")?;
        for write in batch {
            match &write.value {
                Some(value) => put.execute((account, write.kind, &write.key, value))?,
                None => delete.execute((account, write.kind, &write.key))?,
            };
        }
        Ok(())
    }

    /// Forgets all that a device knew.
    pub fn crypto_forget(&self, account: i64) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM crypto WHERE account = ?1")?.execute([account])?;
        Ok(())
    }
}

impl Reader<'_> {
    pub fn crypto_get(&self, account: i64, kind: u8, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT value FROM crypto WHERE account = ?1 AND kind = ?2 AND key = ?3";
        let mut query = self.0.prepare_cached(query)?;
        Ok(query.query_row((account, kind, key), |row| row.get(0)).optional()?)
    }

    /// The rows whose keys begin with `prefix`, by key.
    pub fn crypto_scan(&self, account: i64, kind: u8, prefix: &[u8]) -> Result<Vec<CryptoRow>, StoreError> {
        let query = "SELECT key, value FROM crypto
            WHERE account = ?1 AND kind = ?2 AND key >= ?3 AND (?4 IS NULL OR key < ?4) ORDER BY key";
        let mut query = self.0.prepare_cached(query)?;
        let rows = query
            .query_map((account, kind, prefix, successor(prefix)), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Devices in use that have a row in this place.
    pub fn crypto_holders(&self, kind: u8, key: &[u8]) -> Result<Vec<i64>, StoreError> {
        let query = "SELECT account FROM devices WHERE state <> 'gone' AND EXISTS (SELECT 1 FROM crypto
            WHERE crypto.account = devices.account AND kind = ?1 AND key = ?2) ORDER BY account";
        let mut query = self.0.prepare_cached(query)?;
        let accounts = query.query_map((kind, key), |row| row.get(0))?;
        Ok(accounts.collect::<Result<_, _>>()?)
    }
}

/// The first key behind all that begin with `prefix`; `None` where nothing can follow.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut next = prefix[..=end].to_vec();
    next[end] += 1;
    Some(next)
}
