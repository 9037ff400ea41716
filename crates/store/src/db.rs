//! Opening the database, and who may use it.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
};

use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};

use crate::{
    Journaled, Queued, StoreError,
    journal::{self, Journal},
    readers::Readers,
    wal::{JOURNAL_SIZE_LIMIT, Wal},
    writer::{Outlives, Writer},
};

/// Append-only: a migration that has been released is never changed, only followed by another.
pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("migrations/0001_lobbies.sql")),
        M::up(include_str!("migrations/0002_crypto.sql")),
        M::up(include_str!("migrations/0003_private_rooms.sql")),
        M::up(include_str!("migrations/0004_encrypted_rooms.sql")),
        M::up(include_str!("migrations/0005_hops.sql")),
        M::up(include_str!("migrations/0006_journal_apart.sql")),
        M::up(include_str!("migrations/0007_undo.sql")),
        M::up(include_str!("migrations/0008_open_rooms.sql")),
        M::up(include_str!("migrations/0009_wordings.sql")),
        M::up(include_str!("migrations/0010_bot.sql")),
        M::up(include_str!("migrations/0011_gaps.sql")),
        M::up(include_str!("migrations/0012_shared_history.sql")),
        M::up(include_str!("migrations/0013_moves.sql")),
        M::up(include_str!("migrations/0014_person_knocks.sql")),
        M::up(include_str!("migrations/0015_only_for.sql")),
        M::up(include_str!("migrations/0016_dressed.sql")),
        M::up(include_str!("migrations/0017_audit.sql")),
        M::up(include_str!("migrations/0018_ban_lists.sql")),
    ])
}

/// Readers beside the one writer. SQLite readers do not block it; more than the cores there are bring nothing.
pub(crate) const READERS: usize = 4;

/// Only a process that is not ours (an operator's `sqlite3`) can keep the database busy, in milliseconds.
pub(crate) const BUSY_MS: u64 = 5_000;

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    writer: Arc<Writer>,
    journal: Arc<Journal>,
    readers: Arc<Readers>,
    // held for as long as the store is: a second bridge on the same folder must not start
    _lock: Arc<File>,
}

/// Inside the writer's transaction.
pub struct Tx<'a>(pub(crate) &'a Connection);

/// Inside a reader's snapshot.
pub struct Reader<'a>(pub(crate) &'a Connection);

impl Store {
    /// Opens the database in `folder`, makes it if it is not there, and brings it up to date.
    ///
    /// # Errors
    /// Another parlour has it open; the folder cannot be used; the file is no database or a newer parlour's.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        create_private(folder).map_err(|cause| cannot_use(folder, cause))?;
        let lock = lock(folder)?;
        let path = folder.join("parlour.db");
        let (writer, checkpoints, readers) = connect_all(&path)?;
        let journal = open_journal(folder, &writer)?;
        let writer = Wal::start(checkpoints, "parlour-checkpoint").and_then(|wal| Writer::start(writer, wal));
        Ok(Self {
            writer: Arc::new(writer.map_err(|cause| cannot_use(folder, cause))?),
            journal: Arc::new(journal),
            readers: Arc::new(Readers::new(readers)),
            _lock: Arc::new(lock),
        })
    }

    /// Runs `work` on the writer's thread and answers once what it did is on disk. An error undoes it, and it alone.
    /// Where the caller goes away meanwhile, it is done all the same.
    ///
    /// # Errors
    /// Those of `work`; [`StoreError::NotStored`] where the disk refused, with nothing of it kept;
    /// [`StoreError::Panicked`]; [`StoreError::Closed`].
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.run(Outlives::PowerCut, work, |done| done).await
    }

    /// The same, and once it is on disk `then`, also on the writer's thread: in the order of the commits, which tasks
    /// that wait for their answers are not resumed in. It must not block. Where it panics, the write stands.
    ///
    /// # Errors
    /// As for [`Store::write`].
    pub async fn write_then<T, U, F, G>(&self, work: F, then: G) -> Result<U, StoreError>
    where
        T: Send + 'static,
        U: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        G: FnOnce(T) -> U + Send + 'static,
    {
        self.writer.run(Outlives::PowerCut, work, then).await
    }

    /// The same without a sync, for what is made again from what is on disk: working off the journal, settling a claim.
    /// It outlives a kill; a power cut may take it, and then the journal or the claim is still there. A write of the
    /// other kind syncs it too.
    ///
    /// # Errors
    /// As for [`Store::write`].
    pub async fn rewrite_then<T, U, F, G>(&self, work: F, then: G) -> Result<U, StoreError>
    where
        T: Send + 'static,
        U: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        G: FnOnce(T) -> U + Send + 'static,
    {
        self.writer.run(Outlives::Kill, work, then).await
    }

    /// Writes a transaction of the homeserver down, or finds that it was before. Once that is on disk `then`, one after
    /// the other in the order of the commits. Blocks for as long as the disk takes, and tells the runtime so.
    ///
    /// # Errors
    /// [`StoreError::NotStored`], [`StoreError::Closed`].
    pub fn journal(
        &self,
        txn_id: &str,
        body: &[u8],
        now_ms: i64,
        then: impl FnOnce(Journaled),
    ) -> Result<(), StoreError> {
        self.journal.take(txn_id, body, now_ms, then)
    }

    /// The first transaction after `journal_id` that is still to be worked off. Blocks as [`Store::journal`] does.
    ///
    /// # Errors
    /// Those of SQLite, and [`StoreError::Closed`].
    pub fn next_queued(&self, journal_id: i64) -> Result<Option<Queued>, StoreError> {
        self.journal.next_queued(journal_id)
    }

    /// Lets go of transactions up to this one, which were worked off ([`Tx::journal_done`]): that is synced first. They
    /// go along with those that come, or, with `at_once`, in a commit of their own.
    ///
    /// # Errors
    /// As for [`Store::write`].
    pub async fn forget_journaled(&self, journal_id: i64, at_once: bool) -> Result<(), StoreError> {
        self.write(move |tx| tx.journal_done(journal_id)).await?;
        self.journal.done(journal_id, at_once)
    }

    /// Runs `work` on a snapshot, on a thread for blocking work.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Closed`].
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.readers.read(work).await
    }

    /// Waits for what is queued, then stops taking more: reads and writes alike are [`StoreError::Closed`]. Blocks the
    /// thread for as long as the queue takes.
    pub fn close(&self) {
        self.journal.close();
        self.writer.close();
        self.readers.close();
    }
}

/// Brings the database up to date; the writer's connection, that for checkpoints, and the readers'.
fn connect_all(path: &Path) -> Result<(Connection, Connection, Vec<Connection>), StoreError> {
    let unusable = |cause| StoreError::Unusable { path: path.display().to_string(), cause };
    make_private(path).map_err(|cause| cannot_use(path, cause))?;
    let mut connection = connect(path).map_err(unusable)?;
    migrations().to_latest(&mut connection)?;
    let readers = (0..READERS).map(|_| connect_reader(path)).collect::<Result<_, _>>();
    Ok((connection, connect(path).map_err(unusable)?, readers.map_err(unusable)?))
}

/// What is still in the main database from older versions goes from there once it is in its new place.
fn open_journal(folder: &Path, main: &Connection) -> Result<Journal, StoreError> {
    let path = folder.join("journal.db");
    let unusable = |cause| StoreError::Unusable { path: path.display().to_string(), cause };
    make_private(&path).map_err(|cause| cannot_use(&path, cause))?;
    let (connection, checkpoints) = (connect(&path).map_err(unusable)?, connect(&path).map_err(unusable)?);
    let (done, left) = journal::from_main(main)?;
    let wal = Wal::start(checkpoints, "parlour-journal").map_err(|cause| cannot_use(folder, cause))?;
    let journal = Journal::open(connection, wal, done, &left)?;
    if !left.is_empty() {
        main.execute("DELETE FROM journal", [])?;
    }
    Ok(journal)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_MS))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // NORMAL would lose the last commits at a power cut: what an agent was told is sent has to stay told
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(
        None,
        "journal_size_limit",
        i64::try_from(JOURNAL_SIZE_LIMIT).unwrap_or(i64::MAX),
    )?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

fn connect_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("parlour.lock");
    let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = open.map_err(|cause| cannot_use(&path, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::Locked(path.display().to_string())),
        Err(std::fs::TryLockError::Error(cause)) => Err(cannot_use(&path, cause)),
    }
}

fn cannot_use(path: &Path, cause: std::io::Error) -> StoreError {
    StoreError::Folder { path: path.display().to_string(), cause }
}

/// A folder that is there already keeps its mode: it may hold other things, and ours have modes of their own.
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Before SQLite opens it: the write-ahead log takes the mode that the database has when it is made.
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}
