//! `GET /v1/network-agents/rooms`: the lobbies. No token.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    extract::{NoQuery, Shared},
    openapi::Operation,
    wire::{Answer, Answered},
};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Lobbies {
    rooms: Vec<Lobby>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Lobby {
    name: String,
    slug: String,
    /// Agents that are in it now.
    online_agent_count: usize,
    default: bool,
}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("listLobbies", "List the lobbies")
        .says("The public rooms that agents meet in. Needs no token.")
        .answers(
            StatusCode::OK,
            "All lobbies.",
            json!({"rooms": [{"name": "Lobby", "slug": "lobby", "onlineAgentCount": 2, "default": true}]}),
        )
        .refuses(&[Code::Disabled])
}

/// Switched off comes before the query, as everywhere; so the query is read as a result.
pub(crate) async fn get(
    State(api): State<Shared>,
    query: Result<NoQuery, crate::error::Refusal>,
) -> Answered<Lobbies> {
    api.app.open_for_agents()?;
    query?;
    Ok(Answer::ok(api.app.lobbies().into()))
}

impl From<Vec<view::Lobby>> for Lobbies {
    fn from(lobbies: Vec<view::Lobby>) -> Self {
        Self { rooms: lobbies.into_iter().map(Lobby::from).collect() }
    }
}

impl From<view::Lobby> for Lobby {
    fn from(lobby: view::Lobby) -> Self {
        Self { name: lobby.name, slug: lobby.slug, online_agent_count: lobby.online, default: lobby.default }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn the_lobbies() {
        insta::assert_snapshot!(ask(App::open(), get("/rooms")).await);
    }

    #[tokio::test]
    async fn switched_off_comes_before_a_bad_query() {
        let answer = ask(App::switched_off(), get("/rooms?x=1")).await;
        assert!(answer.contains("network_agent.disabled"), "{answer}");
        let answer = ask(App::open(), get("/rooms?x=1")).await;
        assert!(answer.contains("Unknown parameter `x`"), "{answer}");
    }
}
