//! The homeserver that the bridge is on, and a second one where a story needs people from elsewhere.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result};
use parlour_synapse::{Config, Federation, Synapse, free_port, install, shared_venv};
use serde_json::json;

use crate::stack::{Devices, Plan, SERVER_NAME};

/// Where homeservers that federate are found by each other; written out, these are their names. A host for each, since a
/// ban of a server leaves its port out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) home: SocketAddr,
    /// Where the one at home listens, behind the [`Border`](crate::Border).
    pub(crate) inside: SocketAddr,
    pub(crate) elsewhere: SocketAddr,
}

impl Places {
    pub(crate) fn find() -> Result<Self> {
        Ok(Self {
            home: SocketAddr::from(([127, 0, 0, 1], free_port()?)),
            inside: SocketAddr::from(([127, 0, 0, 1], free_port()?)),
            elsewhere: SocketAddr::from(([127, 0, 0, 2], free_port()?)),
        })
    }
}

/// The name of the bridge's homeserver.
pub(crate) fn home_name(places: Option<Places>) -> String {
    places.map_or_else(|| SERVER_NAME.to_owned(), |places| places.home.to_string())
}

/// Starts the homeserver on this port, and beside it the one elsewhere, where there are places for two.
pub(crate) fn start(
    folder: &Path,
    port: u16,
    plan: &Plan,
    places: Option<Places>,
) -> Result<(Synapse, Option<Synapse>)> {
    install(&shared_venv())?;
    let home = home(folder, port, plan, places);
    let Some(places) = places else { return Ok((Synapse::start(home)?, None)) };
    let elsewhere = Config::new(shared_venv(), folder.join("elsewhere"));
    let elsewhere = federating(elsewhere, places.elsewhere, places.elsewhere, places.home);
    std::thread::scope(|scope| {
        let elsewhere = scope.spawn(|| Synapse::start(elsewhere));
        let home = Synapse::start(home)?;
        let elsewhere = elsewhere.join().ok().context("the start of the second homeserver panicked")??;
        Ok((home, Some(elsewhere)))
    })
}

fn home(folder: &Path, port: u16, plan: &Plan, places: Option<Places>) -> Config {
    let mut config = Config::new(shared_venv(), folder.join("synapse"));
    config.port = port;
    config.server_name = SERVER_NAME.to_owned();
    config.e2ee_flags = plan.devices == Devices::Pushed;
    config.registrations = vec![folder.join("registration.yaml")];
    let version = plan.room_version.map(|version| ("default_room_version".to_owned(), json!(version)));
    config.extra.extend(version);
    match places {
        Some(places) => federating(config, places.home, places.inside, places.elsewhere),
        None => config,
    }
}

fn federating(config: Config, name: SocketAddr, listen: SocketAddr, with: SocketAddr) -> Config {
    let federation = Federation { listen, with: vec![with.to_string()] };
    Config { server_name: name.to_string(), federation: Some(federation), ..config }
}
