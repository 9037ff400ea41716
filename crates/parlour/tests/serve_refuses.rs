//! What keeps `parlour serve` from starting: one plain line each, and exit code 1.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::fs::{self, File};

use rstest::rstest;
use support::{Place, taken_port};

const NOWHERE: &str = "http://127.0.0.1:9";

#[test]
fn no_config() {
    let place = Place::new(NOWHERE, "");
    place.run(&["serve", "--config", "other.toml"]).assert_fails_with(&["other.toml", "--config"]);
    place.write("binary.toml", "");
    fs::write(place.path("binary.toml"), b"\xff\xfe").unwrap();
    place.run(&["serve", "--config", "binary.toml"]).assert_fails_with(&["binary.toml"]);
}

#[test]
fn every_mistake_in_the_config_has_its_line() {
    let place = Place::new(NOWHERE, "[serve]\nx = 1\n[agents]\nidle_minutes = 0\n");
    let run = place.run(&["serve"]);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(run.code, Some(1));
    assert_eq!(lines.len(), 2, "{run:?}");
    assert!(lines[0].starts_with("parlour: parlour.toml: agents.idle_minutes: 0 makes no sense"), "{run:?}");
    assert!(
        lines[1].starts_with("parlour: parlour.toml: serve: there is no such section; did you mean server?")
    );
}

#[test]
fn an_unknown_variable() {
    let place = Place::new(NOWHERE, "");
    let run = place.command(&["serve"]).env("PARLOUR__SERVER__LISTN", "127.0.0.1:1").output().unwrap();
    support::Run::from(run).assert_fails_with(&["PARLOUR__SERVER__LISTN", "server.listen"]);
}

#[test]
fn no_registration() {
    Place::new(NOWHERE, "").run(&["serve"]).assert_fails_with(&["registration.yaml", "parlour registration"]);
}

#[rstest]
#[case::no_yaml("id: [sesame\n", "is no YAML")]
#[case::no_token("id: a\nhs_token: sesame\nsender_localpart: x\n", "as_token: is missing")]
fn a_broken_registration(#[case] yaml: &str, #[case] part: &str) {
    let place = Place::new(NOWHERE, "");
    place.write("registration.yaml", yaml);
    let run = place.run(&["serve"]);
    run.assert_fails_with(&["registration.yaml", part]);
    assert!(!run.stderr.contains("sesame"));
}

#[test]
fn a_port_that_is_in_use_names_its_key() {
    let (_held, port) = taken_port();
    let place = Place::listening_on(port, NOWHERE, "");
    assert_eq!(place.run(&["registration"]).code, Some(0));
    place.run(&["serve", "--log", "error"]).assert_fails_with(&["server.listen", &port.to_string()]);

    let place = Place::registered(NOWHERE, &format!("[metrics]\nlisten = '127.0.0.1:{port}'\n"));
    place.run(&["serve", "--log", "error"]).assert_fails_with(&["metrics.listen", &port.to_string()]);
}

#[test]
fn a_data_folder_that_another_one_uses() {
    let place = Place::registered(NOWHERE, "");
    fs::create_dir(place.path("data")).unwrap();
    let lock = File::create(place.path("data/parlour.lock")).unwrap();
    lock.lock().unwrap();
    place.run(&["serve", "--log", "error"]).assert_fails_with(&["parlour.lock"]);
}

#[test]
fn a_data_folder_that_is_none() {
    let place = Place::registered(NOWHERE, "");
    place.write("data", "a file");
    place.run(&["serve", "--log", "error"]).assert_fails_with(&["storage.path"]);
}

#[test]
fn a_database_that_is_none() {
    let place = Place::registered(NOWHERE, "");
    fs::create_dir(place.path("data")).unwrap();
    place.write("data/parlour.db", &"no database ".repeat(500));
    place.run(&["serve", "--log", "error"]).assert_fails_with(&["storage.path"]);
}

#[test]
fn a_filter_that_cannot_be_read() {
    let place = Place::new(NOWHERE, "");
    place.run(&["serve", "--log", "parlour=loud"]).assert_fails_with(&["--log"]);
}

#[test]
fn an_unreadable_config() {
    let place = Place::new(NOWHERE, "");
    let config = place.path("parlour.toml");
    // root reads whatever there is to read, but no folder is a file
    fs::remove_file(&config).unwrap();
    fs::create_dir(&config).unwrap();
    place.run(&["serve"]).assert_fails_with(&["parlour.toml", "irectory"]);
}
