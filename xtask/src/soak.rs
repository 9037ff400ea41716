//! `cargo xtask soak`: the stories about kills with the numbers that the project promises.

use std::process::Command;

use anyhow::Result;

use crate::step::{cargo, has_nextest, run_step};
use crate::test::Ground;

/// Rounds of kills; the everyday tests make 10.
const KILL_ROUNDS: (&str, &str) = ("PARLOUR_KILL_ROUNDS", "100");

/// Runs the tests of `parlour-tests` whose names contain `kill` or `soak`, ignored ones too.
pub(crate) fn run() -> Result<()> {
    let ground = Ground::prepare()?;
    let mut command = if has_nextest() { with_nextest() } else { without_nextest() };
    command.env(KILL_ROUNDS.0, KILL_ROUNDS.1);
    run_step("soak", ground.tell(&mut command))
}

fn with_nextest() -> Command {
    let filter = "package(parlour-tests) & (test(kill) | test(soak))";
    let how = ["--profile", "soak", "--no-capture", "--run-ignored", "all"];
    cargo(&[&["nextest", "run", "--workspace", "-E", filter], &how[..]].concat())
}

fn without_nextest() -> Command {
    let which = ["--include-ignored", "--nocapture", "--test-threads=1", "kill", "soak"];
    cargo(&[&["test", "--package", "parlour-tests", "--"], &which[..]].concat())
}
