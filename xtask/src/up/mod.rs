//! `cargo xtask up`: from a fresh machine to a conversation between an agent and a person.

mod bridge;
mod files;
mod once;
mod stop;
mod welcome;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use parlour_synapse::{Config, Synapse};

use self::bridge::Bridge;
use self::files::Files;
use self::stop::Stop;
use self::welcome::Lines;
use crate::step::{release_binary, step, synapse, target};

/// The person's localpart.
const PERSON: &str = "person";

/// Where things listen on 127.0.0.1.
#[derive(Args)]
pub(crate) struct Options {
    /// The homeserver's port, for people's clients
    #[arg(long, default_value_t = 8008)]
    port: u16,
    /// The bridge's port, for agents
    #[arg(long, default_value_t = 9880)]
    bridge_port: u16,
    /// A bridge that is built already, instead of a release build
    #[arg(long, value_name = "BINARY")]
    parlour: Option<PathBuf>,
    /// Where everything is kept, instead of `target/up`
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Try the printed lines out, with the person answering, and stop
    #[arg(long)]
    once: bool,
}

/// Builds, starts, tells how to use it, and stops it all on Ctrl-C. What it made is kept in `target/up`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let venv = synapse()?;
    let parlour = match &options.parlour {
        Some(path) => path.canonicalize().with_context(|| format!("no bridge at {}", path.display()))?,
        None => release_binary("parlour")?,
    };
    let folder = options.folder.clone().map_or_else(|| Ok(target()?.join("up")), anyhow::Ok)?;
    let files = Files::prepare(&folder, options)?;
    step("registration", || bridge::write_registration(&parlour, &files))?;
    // From here on Ctrl-C means: stop the two in order. Before, there is nothing to stop.
    let stop = Stop::on_signals()?;
    let homeserver = step("homeserver", || Synapse::start(homeserver_config(venv, &files, options)))?;
    homeserver.ensure_user(PERSON, files.password())?;
    let bridge = step("bridge", || Bridge::start(&parlour, &files, options.bridge_port, &stop))?;
    if !stop.is_asked() {
        println!("{}", welcome::text(options, &files));
    }
    let result = match options.once {
        true => step("first conversation", || once::converse(&Lines::new(options), &files, &homeserver)),
        false => watch(&homeserver, &bridge, &stop),
    };
    step("stop", || bridge.stop().and_then(|()| homeserver.stop().map(drop)))?;
    result
}

fn homeserver_config(venv: PathBuf, files: &Files, options: &Options) -> Config {
    let mut config = Config::new(venv, files.folder().join("synapse"));
    config.port = options.port;
    config.server_name = files::SERVER_NAME.to_owned();
    config.registrations.push(files.registration());
    config
}

/// Returns when it is time to stop.
fn watch(homeserver: &Synapse, bridge: &Bridge, stop: &Stop) -> Result<()> {
    while !stop.is_asked() {
        if let Some(status) = homeserver.ended()? {
            bail!("the homeserver ended ({status}). Its last words:\n{}", homeserver.log_tail());
        }
        bridge.check()?;
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}
