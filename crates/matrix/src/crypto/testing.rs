//! Rows in memory, for tests.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::rows::{Row, Rows, RowsError, Writes};
use crate::BoxFuture;

type Place = (i64, u8, Vec<u8>);

/// What would be on disk. Clones share it.
#[derive(Clone, Default, Debug)]
pub(crate) struct MemoryRows(Arc<Mutex<BTreeMap<Place, Vec<u8>>>>);

impl MemoryRows {
    /// What the database does with a batch.
    pub(crate) fn write(&self, writes: &Writes) {
        let mut rows = self.0.lock();
        for row in &writes.rows {
            let place = (writes.account, row.kind, row.key.clone());
            match &row.value {
                Some(value) => drop(rows.insert(place, value.clone())),
                None => drop(rows.remove(&place)),
            }
        }
    }

    pub(crate) fn dump(&self) -> BTreeMap<Place, Vec<u8>> {
        self.0.lock().clone()
    }
}

impl Rows for MemoryRows {
    fn get<'a>(
        &'a self,
        account: i64,
        kind: u8,
        key: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, RowsError>> {
        let found = self.0.lock().get(&(account, kind, key.to_vec())).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn scan<'a>(
        &'a self,
        account: i64,
        kind: u8,
        prefix: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<Row>, RowsError>> {
        let rows = self.0.lock();
        let mine = rows.iter().filter(|(place, _)| (place.0, place.1) == (account, kind));
        let found = mine.filter(|(place, _)| place.2.starts_with(prefix));
        let found: Vec<_> = found.map(|(place, value)| (place.2.clone(), value.clone())).collect();
        Box::pin(async move { Ok(found) })
    }
}
