//! The example files of the project are what the binary makes of its own declarations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::path::Path;

use rstest::rstest;
use support::{Run, parlour};

#[rstest]
#[case("config", "config.example.toml")]
#[case("registration", "registration.yaml.example")]
fn are_up_to_date(#[case] what: &str, #[case] file: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let run: Run = parlour(root).args(["example", what]).output().unwrap().into();
    let kept = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    assert!(
        run.code == Some(0) && run.stdout == kept,
        "{file} is out of date; run: cargo run -q -p parlour -- example {what} > {file}"
    );
}
