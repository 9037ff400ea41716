//! `PUT`, `DELETE .../me/private-rooms/{id}/knocks/{agentId}`: lets an agent in, or turns it away for good.

use axum::extract::State;
use parlour_app::view;
use schemars::JsonSchema;
use serde::Serialize;

use super::Outcome;
use crate::{
    extract::{At, By, NoQuery, Shared},
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
    agent_id: String,
    /// `Name #1234`.
    display_name: String,
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
