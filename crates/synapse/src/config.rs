//! What a Synapse is started with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

/// How a homeserver speaks with others on this machine. Certificates are made here and not looked at.
#[derive(Debug, Clone)]
pub struct Federation {
    /// Where it listens for them, by TLS. Its server name has to lead there, since nobody is asked where it is.
    pub listen: SocketAddr,
    /// The server names of the others. It speaks with nobody else.
    pub with: Vec<String>,
}

/// Settings of one homeserver. Begin with [`Config::new`] and change what differs.
#[derive(Debug, Clone)]
pub struct Config {
    /// The virtual environment that [`install`](crate::install) filled.
    pub venv: PathBuf,
    /// Database, keys, media and logs; made when missing. A second start on the same folder is a restart.
    pub data: PathBuf,
    /// Where it listens on 127.0.0.1; 0 picks a free port.
    pub port: u16,
    /// The part after the colon in user ids.
    pub server_name: String,
    /// Other homeservers that it speaks with; none by default.
    pub federation: Option<Federation>,
    /// Appservice registrations, read at each start.
    pub registrations: Vec<PathBuf>,
    /// Where Prometheus metrics are served on 127.0.0.1, at `/_synapse/metrics`; none by default.
    pub metrics_port: Option<u16>,
    /// Synapse's own rate limits; off by default, so that they are not in the way of tests.
    pub rate_limits: bool,
    /// Push of to-device messages, device lists and key counts to appservices (MSC2409, MSC3202); on by default.
    pub e2ee_flags: bool,
    /// Further `homeserver.yaml` keys. An object is merged into one that is there, anything else replaces it.
    pub extra: Map<String, Value>,
    /// How long a start may take. Two busy cores need some 10 s for the first one, which makes the database.
    pub start_timeout: Duration,
}

impl Config {
    /// Defaults for tests: a free port, server name `hs.test`, no appservices, no rate limits.
    pub fn new(venv: impl Into<PathBuf>, data: impl Into<PathBuf>) -> Self {
        Self {
            venv: venv.into(),
            data: data.into(),
            port: 0,
            server_name: "hs.test".to_owned(),
            federation: None,
            registrations: Vec::new(),
            metrics_port: None,
            rate_limits: false,
            e2ee_flags: true,
            extra: Map::new(),
            start_timeout: Duration::from_secs(90),
        }
    }
}
