//! `parlour registration`, as an operator meets it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use support::Place;

/// A homeserver that nobody runs: it is never asked.
const NOWHERE: &str = "http://127.0.0.1:9";

fn tokens(yaml: &str) -> [String; 2] {
    ["as_token: ", "hs_token: "].map(|key| {
        let line = yaml.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_matches('\'').to_owned()
    })
}

#[test]
fn writes_a_private_file_and_says_what_comes_next() {
    let place = Place::new(NOWHERE, "");
    let run = place.run(&["registration", "--output", "new/folder/registration.yaml"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let yaml = place.read("new/folder/registration.yaml");
    let mode = fs::metadata(place.path("new/folder/registration.yaml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let [as_token, hs_token] = tokens(&yaml);
    assert!(as_token.len() == 43 && hs_token.len() == 43 && as_token != hs_token, "{yaml}");
    assert!(!run.stdout.contains(&as_token) && !run.stdout.contains(&hs_token));
    for part in ["app_service_config_files", "admin room", "parlour check", "set homeserver.registration to"]
    {
        assert!(run.stdout.contains(part), "{part} is missing in {}", run.stdout);
    }
    // Nothing else was made: no data folder, no leftovers.
    assert!(!place.path("data").exists());
    assert_eq!(fs::read_dir(place.path("new/folder")).unwrap().count(), 1);
}

#[test]
fn the_configs_place_is_the_default() {
    let place = Place::new(NOWHERE, "");
    let run = place.run(&["registration"]);
    assert!(
        place.path("registration.yaml").exists() && !run.stdout.contains("names another file"),
        "{run:?}"
    );
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let place = Place::registered(NOWHERE, "");
    let before = place.read("registration.yaml");
    place.run(&["registration"]).assert_fails_with(&["registration.yaml", "--force"]);
    assert_eq!(place.read("registration.yaml"), before);
}

#[test]
fn force_keeps_the_tokens_and_takes_up_the_config() {
    let place = Place::registered(NOWHERE, "");
    let before = tokens(&place.read("registration.yaml"));
    place.write("parlour.toml", &place.read("parlour.toml").replace("'lobby'", "'hall'"));
    let run = place.run(&["registration", "--force"]);
    assert!(run.code == Some(0) && run.stdout.contains("tokens of the file that was there"), "{run:?}");
    let after = place.read("registration.yaml");
    assert!(after.contains("#hall:") && !after.contains("#lobby:"), "{after}");
    assert_eq!(tokens(&after), before);

    let run = place.run(&["registration", "--force", "--new-tokens"]);
    assert!(run.code == Some(0) && run.stdout.contains("tokens are new"), "{run:?}");
    let [as_token, hs_token] = tokens(&place.read("registration.yaml"));
    assert!(as_token != before[0] && hs_token != before[1]);
}

#[test]
fn force_over_a_broken_file_says_that_the_tokens_are_new() {
    let place = Place::new(NOWHERE, "");
    place.write("registration.yaml", "id: [\n");
    let run = place.run(&["registration", "--force"]);
    assert!(run.code == Some(0) && run.stdout.contains("could not be read"), "{run:?}");
    tokens(&place.read("registration.yaml"));
}

#[test]
fn a_link_stays_a_link() {
    let place = Place::registered(NOWHERE, "");
    symlink(place.path("registration.yaml"), place.path("link.yaml")).unwrap();
    assert_eq!(place.run(&["registration", "--force", "--output", "link.yaml"]).code, Some(0));
    assert!(fs::symlink_metadata(place.path("link.yaml")).unwrap().is_symlink());
}

#[test]
fn what_cannot_be_written_is_named() {
    let place = Place::new(NOWHERE, "");
    place.write("file", "");
    place
        .run(&["registration", "--output", "file/registration.yaml"])
        .assert_fails_with(&["file", "--output"]);
}

#[test]
fn wrong_usage_ends_with_2() {
    let place = Place::new(NOWHERE, "");
    for args in [&["registration", "--colour"][..], &["registration", "--new-tokens"], &["dance"], &[]] {
        assert_eq!(place.run(args).code, Some(2), "{args:?}");
    }
}
