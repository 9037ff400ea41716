//! Joins the crypto code's rows with the store's: neither knows the other.

use std::fmt;

use parlour_matrix::{
    BoxFuture,
    crypto::{Row, Rows, RowsError, Writes},
};
use parlour_store::{CryptoWrite, Store, StoreError, Tx};

/// The store as machines read it.
#[derive(Clone)]
pub struct CryptoRows(Store);

impl CryptoRows {
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self(store)
    }
}

impl fmt::Debug for CryptoRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CryptoRows")
    }
}

/// A machine's writes, ready for the store.
#[derive(Clone, Debug)]
pub struct CryptoBatch {
    account: i64,
    rows: Vec<CryptoWrite>,
}

impl CryptoBatch {
    /// Takes the rows out of `writes`, which keeps its ticket.
    #[must_use]
    pub fn of(writes: &mut Writes) -> Self {
        let rows = std::mem::take(&mut writes.rows).into_iter();
        let rows = rows.map(|row| CryptoWrite { kind: row.kind, key: row.key, value: row.value });
        Self { account: writes.account, rows: rows.collect() }
    }

    /// Puts the rows into a transaction, beside whatever else belongs to the step.
    ///
    /// # Errors
    /// Those of the store.
    pub fn put(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        tx.crypto_put(self.account, &self.rows)
    }
}

impl Rows for CryptoRows {
    fn get<'a>(
        &'a self,
        account: i64,
        kind: u8,
        key: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, RowsError>> {
        let key = key.to_vec();
        Box::pin(async move { self.0.read(move |r| r.crypto_get(account, kind, &key)).await.map_err(failed) })
    }

    fn scan<'a>(
        &'a self,
        account: i64,
        kind: u8,
        prefix: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<Row>, RowsError>> {
        let prefix = prefix.to_vec();
        Box::pin(
            async move { self.0.read(move |r| r.crypto_scan(account, kind, &prefix)).await.map_err(failed) },
        )
    }
}

#[allow(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn failed(error: StoreError) -> RowsError {
    RowsError(error.to_string())
}
