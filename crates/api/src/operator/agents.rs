//! `GET /v1/operator/agents`; `GET` and `DELETE /v1/operator/agent?agent=`: shown with its quotas, ended.

use axum::extract::State;
use serde::Serialize;

use super::shown::{Agent, Quota, Whom};
use crate::{
    extract::{NoQuery, Query, Shared},
    wire::{Answer, Answered},
};

#[derive(Debug, Serialize)]
pub(super) struct Agents {
    agents: Vec<Agent>,
}

#[derive(Debug, Serialize)]
pub(super) struct One {
    agent: Agent,
    #[serde(skip_serializing_if = "Option::is_none")]
    quotas: Option<Vec<Quota>>,
}

pub(super) async fn list(_: NoQuery, State(api): State<Shared>) -> Answered<Agents> {
    Ok(Answer::ok(Agents { agents: api.app.all_agents().into_iter().map(Agent::from).collect() }))
}

pub(super) async fn show(Query(Whom(agent)): Query<Whom>, State(api): State<Shared>) -> Answered<One> {
    let shown = api.app.agent_shown(&agent).await?;
    let quotas = shown.quotas.into_iter().map(Quota::from).collect();
    Ok(Answer::ok(One { agent: shown.summary.into(), quotas: Some(quotas) }))
}

/// Tells whom it ended, as it was before.
pub(super) async fn disable(Query(Whom(agent)): Query<Whom>, State(api): State<Shared>) -> Answered<One> {
    let ended = api.app.disable_agent(&agent).await?;
    Ok(Answer::ok(One { agent: ended.into(), quotas: None }))
}
