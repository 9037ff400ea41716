//! `GET /v1/operator/status`: how the bridge fares.

use axum::extract::State;
use parlour_app::view::{self, DeviceWay, Readiness};
use serde::Serialize;

use crate::{
    extract::{NoQuery, Shared},
    wire::{Answer, Answered},
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    version: &'static str,
    pid: u32,
    ready: bool,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Those that have not ended.
    agents: usize,
    lobbies: usize,
    /// Those that are not closed.
    private_rooms: usize,
    /// Puppets that can speak in encrypted rooms.
    devices: usize,
    /// How they are reached; `null`: not probed yet.
    device_way: Option<DeviceWay>,
    ban_lists: BanLists,
}

/// Those that the config names, those that were read once, those that could not be read at the last try, and the rules in
/// force.
#[derive(Debug, Serialize)]
struct BanLists {
    named: usize,
    read: usize,
    failed: usize,
    rules: usize,
}

pub(crate) async fn get(_: NoQuery, State(api): State<Shared>) -> Answered<Status> {
    let status = api.app.status();
    let view::BanLists { named, read, failed, rules } = status.ban_lists;
    let reason = match status.readiness {
        Readiness::Ready => None,
        Readiness::NotYet(reason) => Some(reason),
    };
    Ok(Answer::ok(Status {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        ready: reason.is_none(),
        reason,
        agents: status.agents,
        lobbies: status.lobbies,
        private_rooms: status.private_rooms,
        devices: status.devices,
        device_way: status.way,
        ban_lists: BanLists { named, read, failed, rules },
    }))
}
