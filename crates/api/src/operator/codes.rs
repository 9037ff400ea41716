//! `GET /v1/operator/codes`; `DELETE /v1/operator/code?room=`: whether Agent codes open rooms, never the codes.

use axum::extract::State;
use parlour_app::view::CodeSummary;
use serde::Serialize;

use super::shown::Which;
use crate::{
    extract::{NoQuery, Query, Shared},
    wire::{Answer, Answered, Room},
};

#[derive(Debug, Serialize)]
pub(super) struct Codes {
    codes: Vec<CodeState>,
}

#[derive(Debug, Serialize)]
pub(super) struct CodeState {
    room: Room,
    on: bool,
}

impl From<CodeSummary> for CodeState {
    fn from(code: CodeSummary) -> Self {
        Self { room: code.room.as_ref().into(), on: code.on }
    }
}

pub(super) async fn list(_: NoQuery, State(api): State<Shared>) -> Answered<Codes> {
    Ok(Answer::ok(Codes { codes: api.app.all_codes().await?.into_iter().map(CodeState::from).collect() }))
}

pub(super) async fn off(Query(Which(room)): Query<Which>, State(api): State<Shared>) -> Answered<CodeState> {
    Ok(Answer::ok(api.app.code_off(&room).await?.into()))
}
