//! `cargo xtask test`: everything that must hold before a change is accepted.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use parlour_synapse::free_port;

use crate::step::{cargo, has_nextest, run_step, synapse, target};
use crate::{browser, human, mcp, python};

/// Makes requests out of the API's description, and holds the answers to it.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// What the tests of `parlour-tests` are given.
pub(crate) struct Ground {
    venv: PathBuf,
    parlour: PathBuf,
    clients: human::Clients,
    schemathesis: PathBuf,
    hosts: mcp::Hosts,
}

impl Ground {
    /// Installs Synapse and people's clients while the binary under test and all tests are built: one wants the network, the
    /// other the cores. The whole workspace at once, as the runs after it do: a choice of packages would join other features
    /// and build the dependencies twice.
    pub(crate) fn prepare() -> Result<Self> {
        std::thread::scope(|scope| {
            let mut build = cargo(&["build", "--workspace", "--bins", "--tests"]);
            let built = scope.spawn(move || run_step("build", &mut build));
            let ground = Self::install();
            built.join().ok().context("the build panicked")??;
            ground
        })
    }

    fn install() -> Result<Self> {
        let venv = std::path::absolute(synapse()?)?;
        let clients = human::install()?;
        let schemathesis = python::venv("schemathesis-venv", SCHEMATHESIS)?;
        let hosts = mcp::install()?;
        browser::install()?;
        Ok(Self { venv, parlour: target()?.join("debug/parlour"), clients, schemathesis, hosts })
    }

    /// Tells the tests where Synapse, the bridge and the clients are. Absolute, since tests run in their package's folder.
    pub(crate) fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("PARLOUR_SYNAPSE_VENV", &self.venv).env("PARLOUR_BIN", &self.parlour);
        command.env("PARLOUR_HUMAN", &self.clients.js).env("PARLOUR_NIO", &self.clients.nio);
        command.env("PARLOUR_SCHEMATHESIS", &self.schemathesis);
        command.env("PARLOUR_MCP", &self.hosts.folder).env("PARLOUR_MCP_PYTHON", &self.hosts.python)
    }
}

/// Installs what the tests need and runs them all.
pub(crate) fn run() -> Result<()> {
    let ground = Ground::prepare()?;
    for (title, mut command) in if has_nextest() { with_nextest() } else { without_nextest() } {
        run_step(title, ground.tell(&mut command))?;
    }
    run_step("up, once", ground.tell(&mut up_once(&ground.parlour)?))?;
    run_step("doc tests", &mut cargo(&["test", "--workspace", "--doc"]))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_step("clippy", &mut cargo(&clippy))?;
    run_step("format", &mut cargo(&["fmt", "--all", "--check"]))
}

/// What a newcomer does first, but for the release build, in a folder of its own and on ports that are free.
fn up_once(parlour: &Path) -> Result<Command> {
    let folder = target()?.join("up-once");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    // not the file that runs: the build before the tests has put another in its place
    let mut up = Command::new(target()?.join("debug/xtask"));
    up.args(["up", "--once", "--parlour"]).arg(parlour).arg("--folder").arg(folder);
    up.args(["--port", &free_port()?.to_string(), "--bridge-port", &free_port()?.to_string()]);
    Ok(up)
}

fn with_nextest() -> Vec<(&'static str, Command)> {
    vec![("tests", cargo(&["nextest", "run", "--workspace"]))]
}

/// Stories that share two cores with a homeserver run one at a time; `.config/nextest.toml` lets two of them wait at once.
fn without_nextest() -> Vec<(&'static str, Command)> {
    let quick = ["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"];
    let but = ["--exclude", "parlour-tests", "--exclude", "parlour-synapse"];
    let stories = ["test", "--package", "parlour-tests", "--package", "parlour-synapse", "--lib", "--tests"];
    vec![
        ("tests", cargo(&[&quick[..], &but].concat())),
        ("stories", cargo(&[&stories[..], &["--no-fail-fast", "--", "--test-threads=1"]].concat())),
    ]
}
