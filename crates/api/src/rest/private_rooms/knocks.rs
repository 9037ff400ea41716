//! `GET .../me/private-rooms/{id}/knocks`: who waits before the door.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    extract::{At, By, NoQuery, Shared},
    openapi::{Operation, samples},
    wire::{Answer, Answered},
};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Knocks {
    /// Earliest first.
    knocks: Vec<Knocker>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Knocker {
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    /// `Name #1234`.
    display_name: String,
    knocked_at_unix_ms: i64,
    expires_at_unix_ms: i64,
    /// Of a person who knocks; `agentId` then names the knock alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix_user_id: Option<String>,
}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("listKnocks", "List who knocks")
        .says("Those who wait before the door of a room of the caller's, earliest first. A knock waits an hour.")
        .answers(StatusCode::OK, "Who waits.", json!({"knocks": [samples::knocker()]}))
        .refuses(&[Code::RoomNotOwned])
}

pub(crate) async fn get(
    By(caller): By,
    At(room): At<String>,
    _: NoQuery,
    State(api): State<Shared>,
) -> Answered<Knocks> {
    let knocks = api.app.list_knocks(&caller, &room).await?;
    Ok(Answer::ok(knocks.as_slice().into()))
}

impl From<&[view::IncomingKnock]> for Knocks {
    fn from(knocks: &[view::IncomingKnock]) -> Self {
        Self { knocks: knocks.iter().map(Knocker::from).collect() }
    }
}

impl From<&view::IncomingKnock> for Knocker {
    fn from(knock: &view::IncomingKnock) -> Self {
        Self {
            agent_id: knock.agent_id.to_string(),
            display_name: knock.display_name.clone(),
            knocked_at_unix_ms: knock.knocked_at_ms,
            expires_at_unix_ms: knock.expires_at_ms,
            matrix_user_id: knock.person.as_ref().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn nobody_and_somebody() {
        let nobody = ask(App::open(), get("/me/private-rooms/!r:x/knocks")).await;
        let somebody = ask(App::open().behind_a_door(), get("/me/private-rooms/!r:x/knocks")).await;
        insta::assert_snapshot!(format!("{nobody}\n{somebody}"));
    }
}
