//! `DELETE .../me/private-rooms/{id}/agents/{agentId}`: removes an agent that came by code or knock.

use axum::extract::State;
use parlour_domain::fault::Code;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    openapi::Operation,
    wire::Done,
};

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("removeAgent", "Remove an agent")
        .says("For agents that came by code or knock. A code older than the removal does not let it in again; it may knock.")
        .done("Out, or it was out already.")
        .refuses(&[Code::RoomNotOwned, Code::AgentNotInRoom, Code::Forbidden, Code::RateLimited])
}

pub(crate) async fn delete(
    By(caller): By,
    At((room, agent)): At<(String, String)>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.remove_agent(&caller, &room, &agent).await?;
    Ok(Done)
}
