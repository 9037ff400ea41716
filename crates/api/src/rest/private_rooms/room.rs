//! `DELETE .../me/private-rooms/{id}`: closes a room for good; closed already is fine.

use axum::extract::State;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    wire::Done,
};

pub(crate) async fn delete(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.close_private_room(&caller, &room).await?;
    Ok(Done)
}
