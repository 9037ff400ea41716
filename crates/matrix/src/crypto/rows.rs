//! Where crypto state lies, seen from here: rows of bytes, and a buffer in front of them.
//!
//! Reads go to disk. Writes never do: they gather in the machine's [`WriteBuffer`], which its reads look into first.
//! So whoever owns the database can commit key state together with the room log. A batch that was taken stays
//! readable until it is known to be on disk, so that nothing flickers while the commit runs.

use std::{collections::BTreeMap, fmt};

use parking_lot::Mutex;

use crate::BoxFuture;

/// Key and value.
pub type Row = (Vec<u8>, Vec<u8>);

/// Reads rows of crypto state from disk. Each row has an account (the number of a device), a kind and a key.
pub trait Rows: fmt::Debug + Send + Sync + 'static {
    /// The value of one row.
    fn get<'a>(
        &'a self,
        account: i64,
        kind: u8,
        key: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, RowsError>>;

    /// Keys and values of the rows whose keys begin with `prefix`.
    fn scan<'a>(
        &'a self,
        account: i64,
        kind: u8,
        prefix: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<Row>, RowsError>>;
}

/// The rows cannot be read; the cause, for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("crypto rows cannot be read: {0}")]
pub struct RowsError(pub String);

/// One change: a sealed value to put, or `None` to take the row away.
#[derive(Clone, PartialEq, Eq)]
pub struct RowWrite {
    pub kind: u8,
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

impl fmt::Debug for RowWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowWrite(kind {}, put: {})", self.kind, self.value.is_some())
    }
}

/// What a machine wants on disk, in one transaction. Tell [`WriteBuffer::committed`] when it is there; where it could
/// not be written, drop the machine and open it anew.
#[derive(Debug)]
#[must_use = "what is not committed is lost with the process"]
pub struct Writes {
    pub account: i64,
    pub rows: Vec<RowWrite>,
    ticket: u64,
}

impl Writes {
    /// Nothing has changed; there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// To be given to [`WriteBuffer::committed`].
    #[must_use]
    pub fn ticket(&self) -> u64 {
        self.ticket
    }
}

type Place = (u8, Vec<u8>);
type Changes = BTreeMap<Place, Option<Vec<u8>>>;

/// Changes that are not on disk yet, of one account.
#[derive(Default)]
pub struct WriteBuffer(Mutex<Layers>);

#[derive(Default)]
struct Layers {
    fresh: Changes,
    /// Taken, oldest first, each until it is on disk.
    taken: Vec<(u64, Changes)>,
    last_ticket: u64,
}

impl Layers {
    /// Oldest first.
    fn all(&self) -> impl DoubleEndedIterator<Item = &Changes> {
        self.taken.iter().map(|(_, changes)| changes).chain([&self.fresh])
    }
}

impl WriteBuffer {
    /// Adds changes, all or none of which a [`take`](Self::take) sees.
    pub(super) fn put(&self, changes: impl IntoIterator<Item = RowWrite>) {
        let mut layers = self.0.lock();
        layers.fresh.extend(changes.into_iter().map(|w| ((w.kind, w.key), w.value)));
    }

    /// Everything since the last call.
    pub fn take(&self, account: i64) -> Writes {
        let mut layers = self.0.lock();
        let changes = std::mem::take(&mut layers.fresh);
        let rows = changes.iter().map(|((kind, key), value)| RowWrite {
            kind: *kind,
            key: key.clone(),
            value: value.clone(),
        });
        let rows: Vec<_> = rows.collect();
        layers.last_ticket += 1;
        let ticket = layers.last_ticket;
        if !rows.is_empty() {
            layers.taken.push((ticket, changes));
        }
        Writes { account, rows, ticket }
    }

    /// The batch with this ticket is on disk.
    pub fn committed(&self, ticket: u64) {
        self.0.lock().taken.retain(|(taken, _)| *taken != ticket);
    }

    /// Whether everything is on disk, so that the machine can be let go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.lock().all().all(Changes::is_empty)
    }

    /// `None`: nothing is known of the row here, look on disk. `Some(None)`: it is gone.
    fn get(&self, kind: u8, key: &[u8]) -> Option<Option<Vec<u8>>> {
        let layers = self.0.lock();
        let place = (kind, key.to_vec());
        layers.all().rev().find_map(|changes| changes.get(&place).cloned())
    }

    fn scan(&self, kind: u8, prefix: &[u8]) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        let layers = self.0.lock();
        let from = (kind, prefix.to_vec());
        let inside = |(place, _): &(&Place, &Option<Vec<u8>>)| place.0 == kind && place.1.starts_with(prefix);
        let found = layers.all().flat_map(|changes| changes.range(from.clone()..).take_while(inside));
        found.map(|((_, key), value)| (key.clone(), value.clone())).collect()
    }

    /// One row, from here or from disk.
    ///
    /// The buffer is read first: a batch may reach the disk and leave the buffer meanwhile, and is found there then.
    pub(super) async fn read(
        &self,
        rows: &dyn Rows,
        account: i64,
        kind: u8,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, RowsError> {
        match self.get(kind, key) {
            Some(value) => Ok(value),
            None => rows.get(account, kind, key).await,
        }
    }

    /// The rows with this prefix by key, from here and from disk.
    pub(super) async fn read_all(
        &self,
        rows: &dyn Rows,
        account: i64,
        kind: u8,
        prefix: &[u8],
    ) -> Result<Vec<Row>, RowsError> {
        let changes = self.scan(kind, prefix);
        let on_disk = rows.scan(account, kind, prefix).await?;
        let mut all: BTreeMap<_, _> = on_disk.into_iter().map(|(key, value)| (key, Some(value))).collect();
        all.extend(changes);
        Ok(all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
    }
}

impl fmt::Debug for WriteBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteBuffer(empty: {})", self.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::testing::MemoryRows;

    fn put(key: &[u8], value: Option<&[u8]>) -> RowWrite {
        RowWrite { kind: 1, key: key.to_vec(), value: value.map(<[u8]>::to_vec) }
    }

    async fn keys(buffer: &WriteBuffer, rows: &MemoryRows, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        buffer.read_all(rows, 7, 1, prefix).await.unwrap()
    }

    #[tokio::test]
    async fn reads_see_what_is_fresh_what_is_taken_and_what_is_on_disk() {
        let (buffer, rows) = (WriteBuffer::default(), MemoryRows::default());
        buffer.put([put(b"a", Some(b"1")), put(b"b", Some(b"1"))]);
        let first = buffer.take(7);
        buffer.put([put(b"b", None), put(b"c", Some(b"2"))]);
        let now = [(b"a".to_vec(), b"1".to_vec()), (b"c".to_vec(), b"2".to_vec())];
        assert_eq!(keys(&buffer, &rows, b"").await, now);
        assert_eq!(buffer.read(&rows, 7, 1, b"b").await.unwrap(), None);

        rows.write(&first);
        buffer.committed(first.ticket());
        assert_eq!(keys(&buffer, &rows, b"").await, now, "the deletion lies over what is on disk");
        let second = buffer.take(7);
        rows.write(&second);
        assert!(!buffer.is_empty());
        buffer.committed(second.ticket());
        assert!(buffer.is_empty());
        assert_eq!(keys(&buffer, &rows, b"").await, now);
        assert_eq!(keys(&buffer, &rows, b"c").await.len(), 1);
    }

    #[tokio::test]
    async fn an_older_commit_does_not_take_a_younger_batch_along() {
        let (buffer, rows) = (WriteBuffer::default(), MemoryRows::default());
        buffer.put([put(b"a", Some(b"old"))]);
        let old = buffer.take(7);
        buffer.put([put(b"a", Some(b"new"))]);
        let young = buffer.take(7);
        rows.write(&old);
        buffer.committed(old.ticket());
        assert_eq!(buffer.read(&rows, 7, 1, b"a").await.unwrap().unwrap(), b"new");
        assert_eq!(young.rows.len(), 1);
    }

    #[test]
    fn nothing_is_taken_twice() {
        let buffer = WriteBuffer::default();
        buffer.put([put(b"a", Some(b"1"))]);
        assert_eq!(buffer.take(7).rows.len(), 1);
        assert!(buffer.take(7).is_empty());
    }
}
