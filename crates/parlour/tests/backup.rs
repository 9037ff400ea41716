//! `parlour backup`: what it writes, and what it refuses. That a copy becomes a bridge again is a story of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use parlour_synapse::Deadline;
use support::Place;

const NOWHERE: &str = "http://127.0.0.1:9";

/// A bridge that answers its operator; killed with its test.
struct Serve(Child);

impl Serve {
    fn on(place: &Place) -> Self {
        let serve = place.command(&["serve"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let answers = || Ok((!place.run(&["status"]).stdout.is_empty()).then_some(()));
        assert!(
            Deadline::after(Duration::from_secs(30)).poll(answers).unwrap().is_some(),
            "it does not start"
        );
        Self(serve)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // Fails only for a child that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn holds_database_and_key_for_its_owner_alone() {
    let place = Place::registered(NOWHERE, "");
    let running = Serve::on(&place);
    let run = place.run(&["backup", "kept/today"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    run.assert_says("Copied the database", &["kept/today"]);
    let folder = place.path("kept/today");
    assert_eq!(names(&folder), ["parlour.db", "sealing.key"]);
    assert_eq!(
        (mode(&folder), mode(&folder.join("parlour.db")), mode(&folder.join("sealing.key"))),
        (0o700, 0o600, 0o600)
    );
    assert_eq!(place.read("kept/today/sealing.key"), place.read("data/sealing.key"));

    place.run(&["backup", "kept/today"]).assert_fails_with(&["kept/today", "not empty"]);
    assert_eq!(names(&folder), ["parlour.db", "sealing.key"]);

    // An empty folder with a careless mode, and without the key; the bridge does not run.
    drop(running);
    fs::create_dir(place.path("bare")).unwrap();
    fs::set_permissions(place.path("bare"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = place.run(&["backup", "bare", "--without-key"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.assert_says("Without the sealing key", &[]);
    assert_eq!(
        (names(&place.path("bare")), mode(&place.path("bare"))),
        (vec!["parlour.db".to_owned()], 0o700)
    );
}

#[test]
fn the_key_of_the_environment_is_held_as_well() {
    let place = Place::registered(NOWHERE, "");
    drop(Serve::on(&place));
    let key = "ab".repeat(32);
    let run = place.command(&["backup", "copy"]).env("PARLOUR__STORAGE__SEALING_KEY", &key).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(place.read("copy/sealing.key").trim(), key);
    let told = format!("{run:?}");
    assert!(!told.contains(&key), "the key was printed");
}

#[test]
fn refuses_what_cannot_become_a_backup_and_leaves_nothing_behind() {
    let place = Place::registered(NOWHERE, "");
    place.run(&["backup", "copy"]).assert_fails_with(&["storage.path", "no database"]);
    place.run(&["backup", "copy", "--config", "other.toml"]).assert_fails_with(&["other.toml"]);
    drop(Serve::on(&place));
    place.write("file", "in the way");
    place.run(&["backup", "file"]).assert_fails_with(&["file"]);
    fs::rename(place.path("data/sealing.key"), place.path("elsewhere")).unwrap();
    place.run(&["backup", "copy"]).assert_fails_with(&["sealing.key", "--without-key"]);
    fs::rename(place.path("elsewhere"), place.path("data/sealing.key")).unwrap();
    fs::remove_file(place.path("data/parlour.db-wal")).unwrap();
    place.write("data/parlour.db", &"no database ".repeat(500));
    place.run(&["backup", "copy"]).assert_fails_with(&["parlour.db"]);
    assert!(!place.path("copy").exists(), "half a backup is worse than none");
}

#[test]
fn another_sealing_key_than_the_databases_own_is_noticed() {
    let place = Place::registered(NOWHERE, "");
    drop(Serve::on(&place));
    let key = place.read("data/sealing.key");
    place.write("data/sealing.key", &"cd".repeat(32));
    let run = place.run(&["serve", "--log", "error"]);
    run.assert_fails_with(&["storage.sealing_key", "sealing.key", "another key", "put that one back"]);
    assert!(!run.stderr.contains("cdcd"), "{run:?}");
    fs::remove_file(place.path("data/sealing.key")).unwrap();
    place.run(&["serve", "--log", "error"]).assert_fails_with(&[
        "storage.sealing_key",
        "is not there",
        "backup",
    ]);
    assert!(!place.path("data/sealing.key").exists(), "a new key would hide what is wrong");
    let mut other = place.command(&["serve", "--log", "error"]);
    let other = other.env("PARLOUR__STORAGE__SEALING_KEY", "ef".repeat(32)).output().unwrap();
    support::Run::from(other).assert_fails_with(&["storage.sealing_key", "environment", "another key"]);
    place.write("data/sealing.key", &key);
    drop(Serve::on(&place));
}
