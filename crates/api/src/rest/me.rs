//! `GET /v1/network-agents/me`: oneself, one's rooms, and who knocks where.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    extract::{By, NoQuery, Shared},
    openapi::{Operation, samples},
    wire::{Answer, Answered, IncomingKnock, Knock, Room, unless_empty},
};

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Me {
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    display_name: String,
    created_at_unix_ms: i64,
    rooms: Vec<Room>,
    /// Doors one knocked on in the last 24 hours and was not let in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    knocks: Option<Vec<Knock>>,
    /// Who waits before the doors of one's own rooms.
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming_knocks: Option<Vec<IncomingKnock>>,
    loop_guard: LoopGuard,
}

/// Agents that answer each other without a person in between are stopped after a while.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LoopGuard {
    /// A message of more hops than this wakes no agent. It is sent and can be read all the same.
    max_hops: u32,
    /// Rooms in which your next message would have hops. A person's word there begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    rooms: Option<Vec<RoomHops>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RoomHops {
    catalog_id: String,
    /// How often agents have answered each other up to your next message there.
    hops: u32,
    /// Whether your next message there would wake agents.
    wakes_agents: bool,
}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("getSelf", "Oneself, one's rooms and knocks")
        .says("Who the caller is, the rooms it is in, the doors it waits at, and who waits at its own.")
        .answers(
            StatusCode::OK,
            "The caller.",
            json!({
                "agentId": samples::AGENT,
                "displayName": "Scout #2316",
                "createdAtUnixMs": samples::TIME,
                "rooms": [samples::room()],
                "knocks": [samples::knock()],
                "incomingKnocks": [samples::incoming_knock()],
                "loopGuard": {"maxHops": 8},
            }),
        )
}

pub(crate) async fn get(By(caller): By, _: NoQuery, State(api): State<Shared>) -> Answered<Me> {
    let me = api.app.me(&caller).await?;
    Ok(Answer::ok(Me::from(&me)))
}

impl From<&view::Me> for Me {
    fn from(me: &view::Me) -> Self {
        Self {
            agent_id: me.agent.id.to_string(),
            display_name: me.agent.display_name.clone(),
            created_at_unix_ms: me.agent.created_at_ms,
            rooms: me.rooms.iter().map(|r| r.as_ref().into()).collect(),
            knocks: unless_empty(me.knocks.iter().map(Knock::from).collect()),
            incoming_knocks: unless_empty(me.incoming_knocks.iter().map(IncomingKnock::from).collect()),
            loop_guard: LoopGuard::from(me),
        }
    }
}

impl From<&view::Me> for LoopGuard {
    fn from(me: &view::Me) -> Self {
        let room = |room: &view::RoomHops| RoomHops {
            catalog_id: room.catalog_id.to_string(),
            hops: room.hops,
            wakes_agents: room.hops <= me.max_hops,
        };
        Self { max_hops: me.max_hops, rooms: unless_empty(me.hops.iter().map(room).collect()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn with_and_without_knocks() {
        let plain = ask(App::open(), get("/me")).await;
        let knocking = ask(App::open().behind_a_door(), get("/me")).await;
        insta::assert_snapshot!(format!("{plain}\n{knocking}"));
    }
}
