use std::{
    fs::{File, OpenOptions},
    path::Path,
    sync::Arc,
};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use rusqlite_migration::{M, Migrations};
use tokio::sync::{Mutex, Semaphore};

use crate::{StoreError, writer::Writer};

/// Append-only: a migration that has been released is never changed, only followed by another.
pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("migrations/0001_lobbies.sql")),
        M::up(include_str!("migrations/0002_crypto.sql")),
    ])
}

/// Readers beside the one writer. SQLite readers do not block it; more than the cores there are bring nothing.
const READERS: usize = 4;

/// After a checkpoint the write-ahead log is cut back to this size.
const JOURNAL_SIZE_LIMIT: u32 = 16 << 20;

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    // held for as long as the store is: a second bridge on the same folder must not start
    _lock: Arc<File>,
}

struct Readers {
    free: Semaphore,
    connections: Mutex<Vec<Connection>>,
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
        let fail = |cause| StoreError::Folder { path: folder.display().to_string(), cause };
        create_private(folder).map_err(fail)?;
        let lock = lock(folder)?;
        let path = folder.join("parlour.db");
        let mut connection = connect(&path)?;
        make_private(&path).map_err(fail)?;
        migrations().to_latest(&mut connection)?;
        let readers = (0..READERS).map(|_| connect(&path)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            writer: Arc::new(Writer::start(connection)),
            readers: Arc::new(Readers { free: Semaphore::new(READERS), connections: Mutex::new(readers) }),
            _lock: Arc::new(lock),
        })
    }

    /// Runs `work` on the writer's thread and answers once what it did is on disk. An error undoes it, and it alone.
    ///
    /// # Errors
    /// Those of `work`, and [`StoreError::Closed`].
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.run(work).await
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
        let _permit = self.readers.free.acquire().await.map_err(|_| StoreError::Closed)?;
        let mut connection = self.readers.connections.lock().await.pop().ok_or(StoreError::Closed)?;
        let (connection, result) = tokio::task::spawn_blocking(move || {
            let result = snapshot(&mut connection, work);
            (connection, result)
        })
        .await
        .map_err(|_| StoreError::Panicked)?;
        self.readers.connections.lock().await.push(connection);
        result
    }

    /// Waits for what is queued, then stops taking more.
    pub fn close(&self) {
        self.writer.close();
    }
}

fn snapshot<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let tx = Transaction::new(connection, TransactionBehavior::Deferred)?;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&Reader(&tx))));
    tx.rollback()?;
    result.unwrap_or(Err(StoreError::Panicked))
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // NORMAL would lose the last commits at a power cut: what an agent was told is sent has to stay told
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_SIZE_LIMIT)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("parlour.lock");
    let fail = |cause| StoreError::Folder { path: path.display().to_string(), cause };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::Locked(path.display().to_string())),
        Err(std::fs::TryLockError::Error(cause)) => {
            Err(StoreError::Folder { path: path.display().to_string(), cause })
        }
    }
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}
