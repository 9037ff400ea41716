//! parlour-bench: measures a bridge against the raw homeserver under it, from the outside.
//!
//! Every scenario has a floor: the same done by users of a second, tiny appservice that the tool plays itself, in the same
//! run, by turns, and in the same room where that can be. Ratios and differences to the floor travel from machine to
//! machine; plain milliseconds do not. README.md says what each scenario does.
mod api;
mod bridge;
mod clock;
mod floor;
mod homeserver;
mod machine;
mod marker;
mod person;
mod pump;
mod registration;
mod scenarios;
mod sizes;
mod stage;
mod stats;
mod targets;
mod waiters;
mod world;

use std::{
    fmt::Arguments,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand, ValueEnum as _};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    bridge::Bridge,
    registration::{Registration, write_floor},
    scenarios::Scenario,
    sizes::Sizes,
    stage::{Setup, Stage},
    world::{Parts, World},
};

#[derive(Parser)]
#[command(about = "Measures a bridge against the raw homeserver under it", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a Synapse and a bridge, measure, stop both
    All(All),
    /// Measure what is running
    Attach(Attach),
    /// Write the floor's registration, for a homeserver that `attach` is to use
    Registration(WriteRegistration),
}

#[derive(clap::Args)]
struct All {
    /// The bridge's binary, built with --release
    #[arg(long)]
    parlour: PathBuf,
    /// Virtual environment with Synapse; filled where it isn't there
    #[arg(long)]
    venv: PathBuf,
    /// Where the run's files go; on a disk, as commits to disk are measured
    #[arg(long, default_value = "target")]
    work: PathBuf,
    /// Leave the run's files where they are
    #[arg(long)]
    keep: bool,
    /// The homeserver pushes nothing for devices, nor their key counts (MSC2409, MSC3202): the bridge asks for it
    #[arg(long)]
    pulled: bool,
    #[command(flatten)]
    run: Run,
}

#[derive(clap::Args)]
struct Attach {
    /// Client-server API of the homeserver
    #[arg(long)]
    hs: String,
    /// What agents call
    #[arg(long)]
    bridge: String,
    /// What `parlour-bench registration` wrote; the homeserver has loaded it
    #[arg(long)]
    floor_registration: PathBuf,
    /// The bridge's registration, for made-up transactions (ingest)
    #[arg(long)]
    registration: Option<PathBuf>,
    /// The bridge's process, for memory and CPU
    #[arg(long)]
    pid: Option<u32>,
    /// The homeserver's process
    #[arg(long)]
    hs_pid: Option<u32>,
    /// Starts the bridge again and returns (backlog, idle)
    #[arg(long, requires_all = ["pid", "pid_file"])]
    restart_command: Option<String>,
    /// Where the new process's id is after that
    #[arg(long)]
    pid_file: Option<PathBuf>,
    /// The lobby to join; left out: the default one
    #[arg(long)]
    lobby: Option<String>,
    /// Leave the agents in
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    run: Run,
}

#[derive(clap::Args)]
struct Run {
    /// Which scenarios; left out: all
    #[arg(long, value_enum, value_delimiter = ',')]
    scenarios: Vec<Scenario>,
    /// Write the report there instead of to standard output
    #[arg(long)]
    out: Option<PathBuf>,
    /// Exit with 1 unless every target was measured and met
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    sizes: Sizes,
}

#[derive(clap::Args)]
struct WriteRegistration {
    #[arg(long)]
    server_name: String,
    /// Where the floor will listen
    #[arg(long, default_value = "127.0.0.1:19010")]
    listen: String,
    #[arg(long)]
    output: PathBuf,
}

/// Tells a person what is going on.
pub(crate) fn progress(what: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            progress(format_args!("parlour-bench: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// On the main thread to the end: Synapse ends with the thread that started it.
fn run(command: Command) -> Result<bool> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("another TLS provider is in place");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::select! {
            done = obey(command) => done,
            // what was started ends as the other branch is dropped
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("terminated"),
        }
    })
}

async fn obey(command: Command) -> Result<bool> {
    match command {
        Command::All(all) => measure_all(all).await,
        Command::Attach(attach) => measure_attached(attach).await,
        Command::Registration(r) => write_floor(&r.output, &r.listen, &r.server_name).map(|()| true),
    }
}

async fn measure_all(all: All) -> Result<bool> {
    let run = all.run.prepared()?;
    let mut setup = Setup {
        binary: all.parlour,
        venv: all.venv,
        work: all.work,
        keep: all.keep,
        sizes: run.sizes.clone(),
        presence: false,
        push_to_devices: !all.pulled,
    };
    let mut report = Report::default();
    let (presence, without) = run.scenarios.iter().partition::<Vec<_>, _>(|s| s.is_about_presence());
    for (on, scenarios) in [(false, without), (true, presence)].into_iter().filter(|(_, s)| !s.is_empty()) {
        setup.presence = on;
        let mut stage = Stage::set_up(&setup).await?;
        report.measure(&mut stage.world, &scenarios).await;
    }
    run.judge(report)
}

async fn measure_attached(attach: Attach) -> Result<bool> {
    let (keep, run) = (attach.keep, attach.run.prepared()?);
    let parts = Parts {
        sizes: run.sizes.clone(),
        hs_url: attach.hs,
        hs_pid: attach.hs_pid,
        floor_registration: Registration::read(&attach.floor_registration)?,
        bridge_url: attach.bridge,
        bridge: Bridge::Foreign {
            pid: attach.pid,
            restart: attach.restart_command,
            pid_file: attach.pid_file,
        },
        registration: attach.registration.as_deref().map(Registration::read).transpose()?,
        lobby: attach.lobby,
        crowd_lobbies: vec![],
    };
    let mut world = World::new(parts).await?;
    let mut report = Report::default();
    report.measure(&mut world, &run.scenarios).await;
    if !keep {
        world.leave_all().await;
    }
    run.judge(report)
}

impl Run {
    /// With everything settled that can be before anything is started.
    fn prepared(mut self) -> Result<Self> {
        self.sizes = self.sizes.settled();
        if self.scenarios.is_empty() {
            self.scenarios = Scenario::value_variants().to_vec();
        }
        self.scenarios.sort();
        self.scenarios.dedup();
        machine::raise_open_files(self.sizes.open_files())?;
        Ok(self)
    }

    /// Prints the table, writes the report. Whether the exit code is to be 0.
    fn judge(&self, report: Report) -> Result<bool> {
        let mut blocks = Value::Object(report.blocks);
        blocks["rateLimitedAnswers"] = json!(report.limited);
        blocks["quick"] = json!(self.sizes.quick);
        blocks["targets"] = targets::judged(&blocks);
        progress(format_args!("\n{}", targets::table(&blocks)));
        write_report(self.out.as_deref(), &blocks)?;
        Ok(!self.strict || targets::all_met(&blocks))
    }
}

/// What was found out so far.
#[derive(Default)]
struct Report {
    blocks: Map<String, Value>,
    limited: usize,
}

impl Report {
    /// Runs the scenarios. What `machine` and `bridgeAtStart` tell is from the first time.
    async fn measure(&mut self, world: &mut World, scenarios: &[Scenario]) {
        let before = machine::load();
        let at_start = world.bridge_figures();
        self.blocks.append(&mut scenarios::run(world, scenarios).await);
        self.limited += world.api.limited();
        self.blocks.entry("bridgeAtStart").or_insert(at_start);
        let machine = json!({"before": before, "after": machine::load()});
        self.blocks.entry("machine").or_insert(machine);
    }
}

fn write_report(out: Option<&Path>, report: &Value) -> Result<()> {
    let text = format!("{report:#}\n");
    match out {
        Some(path) => std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display())),
        None => std::io::stdout().write_all(text.as_bytes()).context("cannot write the report"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn scenarios_run_in_their_own_order_whatever_was_asked() {
        let cli =
            Cli::parse_from(["x", "all", "--parlour", "p", "--venv", "v", "--scenarios", "idle,send,idle"]);
        let Command::All(all) = cli.command else { panic!("not all") };
        assert_eq!(all.run.prepared().unwrap().scenarios, [Scenario::Send, Scenario::Idle]);
    }
}
