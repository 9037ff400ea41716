//! `GET /v1/operator/knocks`: who waits before which room.

use axum::extract::State;
use serde::Serialize;

use crate::{
    extract::{NoQuery, Shared},
    wire::{Answer, Answered, IncomingKnock},
};

#[derive(Debug, Serialize)]
pub(super) struct Knocks {
    knocks: Vec<IncomingKnock>,
}

pub(super) async fn list(_: NoQuery, State(api): State<Shared>) -> Answered<Knocks> {
    Ok(Answer::ok(Knocks { knocks: api.app.all_knocks().iter().map(IncomingKnock::from).collect() }))
}
