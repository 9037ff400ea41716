//! `GET`, `PUT`, `DELETE .../me/private-rooms/{id}/code`: shows, replaces, switches off a room's Agent code.

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

/// The old code is void at once.
pub(crate) async fn put(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.manage_private_room(&caller, &room).await?;
    Ok(Done)
}

pub(crate) async fn delete(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.manage_private_room(&caller, &room).await?;
    Ok(Done)
}
