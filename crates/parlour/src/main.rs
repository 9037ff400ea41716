//! The binary: command line, config, telemetry, life cycle. What the bridge does is in the crates below it.

mod cli;
mod commands;
mod config;
mod failure;
mod listening;
mod operator;
mod output;
mod sealing_file;
mod socket;
mod table;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.lines().iter().for_each(|line| output::complain(line));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Registration(args) => commands::registration::run(&args),
        Command::Check(args) => commands::check::run(&args.config),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Agents(args) => commands::agents::run(&args),
        Command::Rooms(args) => commands::rooms::run(&args),
        Command::Knocks(args) => commands::knocks::run(&args),
        Command::Codes(args) => commands::codes::run(&args),
        Command::Quotas(args) => commands::quotas::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Example { file } => commands::example::run(file),
    }
}
