use parlour_domain::fault::Fault;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("cannot bring the database up to date: {0}; restore it, or use the parlour that last wrote it")]
    Migration(#[from] rusqlite_migration::Error),
    #[error("the database holds a value that no parlour wrote: {0}")]
    Corrupt(String),
    #[error("another parlour is using {0}; stop it first, or give this one its own storage.path")]
    Locked(String),
    #[error("cannot use {path}: {cause}; check that the folder is there and writable")]
    Folder { path: String, cause: std::io::Error },
    #[error("cannot open {path}: {cause}; put a backup in its place, or move it away to start anew")]
    Unusable { path: String, cause: rusqlite::Error },
    #[error("nothing was stored: {0}; try again once the disk has room and works")]
    NotStored(String),
    #[error("the store is shut down")]
    Closed,
    #[error("a write panicked and was undone")]
    Panicked,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt(_) | StoreError::Panicked => Fault::internal(error),
            error => Fault::unavailable(error),
        }
    }
}
