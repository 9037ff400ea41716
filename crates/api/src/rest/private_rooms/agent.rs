//! `DELETE .../me/private-rooms/{id}/agents/{agentId}`: removes an agent that came by code or knock.

use axum::extract::State;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    wire::Done,
};

pub(crate) async fn delete(
    By(caller): By,
    At((room, agent)): At<(String, String)>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.remove_agent(&caller, &room, &agent).await?;
    Ok(Done)
}
