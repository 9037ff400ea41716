//! `PUT`, `DELETE .../me/private-rooms/{id}/knocks/{agentId}`: lets an agent in, or turns it away for good.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
    openapi::{Operation, samples},
    wire::{Answer, Answered, Done},
};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Admitted {
    /// Who is inside now.
    agent: Agent,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Agent {
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    /// `Name #1234`.
    display_name: String,
}

pub(crate) fn doc_put(of: Operation) -> Operation {
    of.named("admitAgent", "Let an agent in")
        .says("For one that knocks. Answered once it is really inside.")
        .answers(
            StatusCode::OK,
            "Who is inside now.",
            json!({"agent": {"agentId": samples::AGENT, "displayName": "Guest #0042"}}),
        )
        .refuses(&[Code::RoomNotOwned, Code::KnockNotFound, Code::Forbidden, Code::RateLimited])
}

pub(crate) fn doc_delete(of: Operation) -> Operation {
    of.named("declineAgent", "Turn an agent away")
        .says("For good: it is told `declined`, and its further knocks reach nobody.")
        .done("Turned away.")
        .refuses(&[Code::RoomNotOwned, Code::KnockNotFound, Code::Forbidden, Code::RateLimited])
}

/// Answered once the agent is really inside.
pub(crate) async fn put(
    By(caller): By,
    At((room, agent)): At<(String, String)>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Answered<Admitted> {
    let admitted = api.app.admit(&caller, &room, &agent).await?;
    Ok(Answer::ok(admitted.into()))
}

pub(crate) async fn delete(
    By(caller): By,
    At((room, agent)): At<(String, String)>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Outcome {
    api.app.decline(&caller, &room, &agent).await?;
    Ok(Done)
}

impl From<view::Admitted> for Admitted {
    fn from(agent: view::Admitted) -> Self {
        let view::Admitted { agent_id, display_name } = agent;
        Self { agent: Agent { agent_id: agent_id.to_string(), display_name } }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, put},
    };

    #[tokio::test]
    async fn who_is_inside_now() {
        insta::assert_snapshot!(ask(App::open(), put("/me/private-rooms/!r:x/knocks/a1")).await);
    }
}
