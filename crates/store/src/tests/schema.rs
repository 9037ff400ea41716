use std::{collections::BTreeSet, fs, path::Path};

use rusqlite::Connection;
use rusqlite_migration::Migrations;
use sha2::{Digest, Sha256};

/// How many migrations there are.
pub(super) fn newest() -> usize {
    let fresh = Connection::open_in_memory().unwrap();
    crate::db::migrations().pending_migrations(&fresh).unwrap().try_into().unwrap()
}

fn schema(migrations: &Migrations<'_>) -> String {
    let mut connection = Connection::open_in_memory().unwrap();
    migrations.to_latest(&mut connection).unwrap();
    let mut query = connection
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name")
        .unwrap();
    let schema: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    schema.join(";\n\n")
}

#[test]
fn migrations_apply_and_the_schema_is_known() {
    insta::assert_snapshot!(schema(&crate::db::migrations()));
}

#[test]
fn the_journals_schema_is_known() {
    insta::assert_snapshot!(schema(&crate::journal::migrations()));
}

/// As `sha256sum` prints it.
fn sum(folder: &Path, name: &str) -> String {
    let digest = Sha256::digest(fs::read(folder.join(name)).unwrap());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}  {name}")
}

fn files(folder: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(folder.join(prefix)).unwrap().map(|file| file.unwrap().file_name());
    let names = names.map(|name| format!("{prefix}{}", name.to_str().unwrap()));
    names.filter(|name| name.ends_with(".sql")).collect()
}

/// A database that a migration was applied to is not brought up to date by a change of it. After a new one:
/// `sha256sum 0018_new.sql >> SHA256SUMS`; no line that is there is ever changed.
#[test]
fn migrations_are_as_they_were_released() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/migrations");
    let (main, journal) = (files(&folder, ""), files(&folder, "journal/"));
    assert_eq!(main.len(), newest(), "a file that is not applied");
    let now: BTreeSet<String> = main.iter().chain(&journal).map(|name| sum(&folder, name)).collect();
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let released: BTreeSet<String> = sums.lines().map(str::to_owned).collect();
    assert_eq!(now, released, "see the comment on this test");
}
