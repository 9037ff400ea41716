use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use super::fixture::Fixture;
use crate::{Store, StoreError};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(folder: &Path) -> StoreError {
    match Store::open(folder) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let store = Fixture::new();
    store.says(1..=3);
    let before = store.log();
    let store = store.reopened();
    assert_eq!(store.log(), before);
    store.says(4..=4);
    assert!(store.message(4).seq > before[2].seq);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test is about how long it takes")]
fn a_second_store_on_the_folder_is_refused_at_once_and_names_the_lock() {
    let store = Fixture::new();
    let started = Instant::now();
    let error = refused(store.folder.path());
    assert!(started.elapsed() < Duration::from_secs(1));
    assert!(matches!(&error, StoreError::Locked(path) if path.ends_with("parlour.lock")), "{error:?}");
    let folder = store.folder.path().to_owned();
    let clone = store.store.clone();
    drop(store.store);
    assert!(matches!(refused(&folder), StoreError::Locked(_)));
    drop(clone);
    Store::open(&folder).unwrap();
}

#[test]
fn folder_and_files_are_for_their_owner_alone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("some/data");
    let store = Store::open(&folder).unwrap();
    assert_eq!((mode(&folder), mode(&parent.path().join("some"))), (0o700, 0o700));
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
    assert!(files.len() >= 4, "database, log, index and lock: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    drop(store);
}

#[test]
fn a_database_that_others_could_read_is_taken_from_them() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let path = folder.path().join("parlour.db");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = Store::open(folder.path()).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_newer_parlours_database_is_left_alone() {
    let store = Fixture::new();
    store.says(1..=1);
    let (folder, path) = (store.folder.path().to_owned(), store.path());
    drop(store.store);
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let error = refused(&folder);
    assert!(matches!(error, StoreError::Migration(_)));
    let told = error.to_string();
    assert!(told.contains("use the parlour that last wrote it"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn so_is_a_newer_parlours_journal() {
    let store = Fixture::new();
    let folder = store.folder.path().to_owned();
    drop(store.store);
    let path = folder.join("journal.db");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let told = refused(&folder).to_string();
    assert!(told.contains("use the parlour that last wrote it"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_no_database_is_refused_by_name_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parlour.db");
    let garbage = "this was never a database. ".repeat(500);
    fs::write(&path, &garbage).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("parlour.db") && told.contains("put a backup in its place"), "{told}");
    assert_eq!(fs::read_to_string(&path).unwrap(), garbage);
}

#[test]
fn a_database_cut_short_is_refused() {
    let store = Fixture::new();
    let (folder, path) = (store.folder.path().to_owned(), store.path());
    drop(store.store);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 3]).unwrap();
    let error = refused(&folder);
    assert!(error.to_string().contains("put a backup in its place"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_is_refused_by_name() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    let error = refused(&file.join("data"));
    assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    assert!(error.to_string().contains("file/data"), "{error}");
}
