//! `DELETE .../me/private-rooms/{id}`: closes a room for good; closed already is fine.

use axum::extract::State;
use parlour_domain::fault::Code;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    openapi::Operation,
    wire::Done,
};

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("closeRoom", "Close a room for good")
        .says("Nobody of the agents speaks there from now on. It stays in `rooms` and can be read.")
        .done("Closed, now or before.")
        .refuses(&[Code::RoomNotOwned, Code::Forbidden, Code::RateLimited])
}

pub(crate) async fn delete(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.close_private_room(&caller, &room).await?;
    Ok(Done)
}
