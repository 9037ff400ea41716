//! The write-ahead log's size.

use std::path::PathBuf;

use rusqlite::Connection;

/// After a checkpoint that finds nobody reading, SQLite cuts the log back to this many bytes by itself.
pub(crate) const JOURNAL_SIZE_LIMIT: u64 = 16 << 20;

/// SQLite's own checkpoints never wait, and start the log over only where no reader is in it: under a steady load with
/// readers that overlap it grows for ever (measured 2026-11-30: see the test). Past this size one that waits is made.
pub(crate) const TOO_LONG: u64 = 2 * JOURNAL_SIZE_LIMIT;

/// For how long writes may wait for readers that are in the log. Ours take milliseconds; a backup takes as long as it
/// likes, and is let be.
const PATIENCE_MS: u64 = 200;

pub(crate) struct Wal {
    path: PathBuf,
    /// In bytes: the size at which to do something.
    try_at: u64,
}

impl Wal {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, try_at: TOO_LONG }
    }

    /// Outside of a transaction.
    pub(crate) fn keep_short(&mut self, connection: &Connection) {
        let size = self.size();
        if size < self.try_at {
            return;
        }
        if let Err(error) = truncate(connection) {
            tracing::warn!(%error, size, "cannot shorten the write-ahead log");
        }
        self.try_at = self.size() + TOO_LONG;
    }

    fn size(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |m| m.len())
    }
}

fn truncate(connection: &Connection) -> rusqlite::Result<()> {
    let timeout = |ms| connection.busy_timeout(std::time::Duration::from_millis(ms));
    timeout(PATIENCE_MS)?;
    let done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    timeout(crate::db::BUSY_MS)?;
    done
}
