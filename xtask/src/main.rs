//! The project's own commands: `cargo xtask up`, `test`, `soak`, `bench`.
//!
//! Only std and small blocking crates, so that the first `cargo xtask` on a fresh machine is built quickly.

// A command line tool talks on standard output.
#![allow(clippy::print_stdout)]

mod bench;
mod browser;
mod human;
mod mcp;
mod python;
mod soak;
mod step;
mod test;
mod up;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Commands for working on Parlour.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a homeserver and the bridge on this machine, with a lobby and an account, until Ctrl-C.
    Up(up::Options),
    /// Run all tests, a real homeserver included, then clippy and the format check.
    Test,
    /// Run the stories about kills with their full numbers (about an hour).
    Soak,
    /// Measure the release build beside the raw homeserver.
    Bench {
        /// Passed on to `parlour-bench all`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Up(options) => up::run(&options),
        Command::Test => test::run(),
        Command::Soak => soak::run(),
        Command::Bench { arguments } => bench::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Causes in one line; a backtrace would bury what to do.
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
