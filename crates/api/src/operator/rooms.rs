//! `GET /v1/operator/rooms`; `DELETE /v1/operator/room?room=`: closed, or left by all agents.

use axum::extract::State;
use serde::Serialize;

use super::shown::{RoomShown, Which};
use crate::{
    extract::{NoQuery, Query, Shared},
    wire::{Answer, Answered, Room},
};

#[derive(Debug, Serialize)]
pub(super) struct Rooms {
    rooms: Vec<RoomShown>,
}

#[derive(Debug, Serialize)]
pub(super) struct Closed {
    room: Room,
    /// `false`: a room of people, which stays open without agents.
    closed: bool,
}

pub(super) async fn list(_: NoQuery, State(api): State<Shared>) -> Answered<Rooms> {
    Ok(Answer::ok(Rooms { rooms: api.app.all_rooms().into_iter().map(RoomShown::from).collect() }))
}

pub(super) async fn close(Query(Which(room)): Query<Which>, State(api): State<Shared>) -> Answered<Closed> {
    let shut = api.app.shut_room(&room).await?;
    Ok(Answer::ok(Closed { room: shut.room.as_ref().into(), closed: shut.closed }))
}
