use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::{Reader, StoreError, Tx, db::BUSY_MS};

/// The name in `meta` by which a copy says that it is one, see [`backup`](crate::backup).
pub const COPY: &str = "copy";

impl Tx<'_> {
    pub fn set_meta(&self, name: &str, value: &[u8]) -> Result<(), StoreError> {
        self.0
            .prepare_cached(
                "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
            )?
            .execute((name, value))?;
        Ok(())
    }

    pub fn forget_meta(&self, name: &str) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM meta WHERE name = ?1")?.execute([name])?;
        Ok(())
    }

    pub fn meta(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        meta(self.0, name)
    }
}

impl Reader<'_> {
    pub fn meta(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        meta(self.0, name)
    }
}

pub(crate) fn meta(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut query = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(query.query_row([name], |row| row.get(0)).optional()?)
}

/// A value of `meta` in the database of `folder`, whoever works with it; `None` also where there is no database.
///
/// # Errors
/// The database cannot be read.
pub fn peek_meta(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let path = folder.join("parlour.db");
    if !path.exists() {
        return Ok(None);
    }
    let unusable = |cause| StoreError::Unusable { path: path.display().to_string(), cause };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(unusable)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(unusable)?;
    meta(&connection, name)
}
