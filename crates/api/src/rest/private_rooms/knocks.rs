//! `GET .../me/private-rooms/{id}/knocks`: who waits before the door.

use axum::extract::State;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    wire::Done,
};

pub(crate) async fn get(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.manage_private_room(&caller, &room).await?;
    Ok(Done)
}
