//! A copy of the database, also while a bridge works with it.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rusqlite::{Connection, OpenFlags};

use crate::{COPY, StoreError, db::BUSY_MS};

/// What a copy is called, in place of its own extension, until it is one.
const PART: &str = "part";

/// Writes a copy of the database of `folder` to the file `copy`, which must not be there yet: one moment of it, whole,
/// compact and checked. Who works with the database goes on meanwhile. The copy says that it is one, so that the bridge
/// that is started on it reuses nothing of what was used after it. Until then it has another name: whoever is cut off
/// leaves nothing that could be taken for a copy.
///
/// # Errors
/// There is no database, it cannot be read, or the copy cannot be written or is not sound.
pub fn backup(folder: &Path, copy: &Path) -> Result<(), StoreError> {
    let at = |cause| StoreError::Folder { path: copy.display().to_string(), cause };
    if copy.exists() {
        return Err(at(io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let part = copy.with_extension(PART);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part).map_err(at)?;
    let written = vacuum(&folder.join("parlour.db"), &part).and_then(|()| {
        mark_and_check(&part).map_err(unusable(&part))?;
        put_in_place(&part, copy).map_err(at)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

fn vacuum(source: &Path, part: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(source, flags).map_err(unusable(source))?;
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_MS)).map_err(unusable(source))?;
    // one that is no database is told as such, not blamed on the copy
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(unusable(source))?;
    let name = part.to_str().ok_or_else(|| StoreError::Folder {
        path: part.display().to_string(),
        cause: io::Error::new(io::ErrorKind::InvalidInput, "the path is no UTF-8"),
    })?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(unusable(part))?;
    Ok(())
}

fn unusable(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    let path = path.display().to_string();
    move |cause| StoreError::Unusable { path: path.clone(), cause }
}

fn mark_and_check(copy: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute("INSERT INTO meta (name, value) VALUES (?1, x'31') ON CONFLICT DO NOTHING", [COPY])?;
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    let stray = connection.prepare("PRAGMA foreign_key_check")?.exists([])?;
    if verdict == "ok" && !stray {
        return Ok(());
    }
    let what = if stray { "the copy has rows that point nowhere" } else { "the copy is not sound" };
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(what.to_owned())))
}

fn put_in_place(part: &Path, copy: &Path) -> io::Result<()> {
    fs::File::open(part)?.sync_all()?;
    fs::rename(part, copy)?;
    copy.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}
