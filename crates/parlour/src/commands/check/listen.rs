//! The addresses that `serve` will listen on.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use super::{Report, storage::Running};
use crate::{config::Config, listening::trouble};

/// Who has `server.listen`.
#[derive(Debug)]
pub(super) enum Listening {
    /// We, for the time of the check: so that the homeserver's ping finds somebody.
    We(TcpListener),
    /// The parlour that runs.
    Parlour,
    /// Somebody else, or nobody can have it.
    Nobody,
}

pub(super) fn check(config: &Config, running: Running, report: &mut Report) -> Listening {
    if let Some(metrics) = config.metrics.listen {
        one("metrics.listen", metrics, running, report);
    }
    one("server.listen", config.server.listen, running, report)
}

fn one(key: &str, address: SocketAddr, running: Running, report: &mut Report) -> Listening {
    match (TcpListener::bind(address), running) {
        (Ok(listener), _) => {
            let idle =
                if running == Running::Yes { ", though a parlour runs: it has another address" } else { "" };
            report.ok(key, &format!("{address} is free{idle}"));
            Listening::We(listener)
        }
        (Err(error), Running::Yes) if error.kind() == io::ErrorKind::AddrInUse => {
            report.ok(key, &format!("{address} is in use by the parlour that runs"));
            Listening::Parlour
        }
        (Err(error), _) => {
            report.missing(key, &trouble(key, address, &error));
            Listening::Nobody
        }
    }
}
