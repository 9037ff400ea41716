//! `POST /v1/network-agents/me/ack`: ticks off a message and all that arrived before it.

use axum::extract::State;
use http::StatusCode;
use parlour_app::view;
use parlour_domain::fault::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::given;
use crate::{
    extract::{Posted, Shared, Signed},
    openapi::{Operation, samples},
    wire::{Answer, Answered},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Ack {
    event_id: String,
    /// Only this room; all rooms if absent or blank.
    room_id: Option<String>,
}

impl Posted for Ack {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Acked {
    /// False where the message was in no inbox of the caller's; nothing has changed then.
    acknowledged: bool,
    /// What is still unacknowledged, in the scope of `roomId`.
    pending: usize,
}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("ack", "Acknowledge what was read")
        .says(
            "Ticks off this message and all that arrived before it, in all rooms or in `roomId` only. What is not \
             acknowledged is handed over again.",
        )
        .asked(json!({"eventId": samples::EVENT}))
        .asked(json!({"eventId": samples::EVENT, "roomId": samples::ROOM}))
        .answers(
            StatusCode::OK,
            "`acknowledged` is false where nothing was left to tick off.",
            json!({"acknowledged": true, "pending": 0}),
        )
        .refuses(&[Code::RoomNotJoined])
}

pub(crate) async fn post(State(api): State<Shared>, Signed { caller, body }: Signed<Ack>) -> Answered<Acked> {
    let room = given(body.room_id);
    let acked = api.app.ack(&caller, &body.event_id, room.as_deref()).await?;
    Ok(Answer::ok(acked.into()))
}

impl From<view::Acked> for Acked {
    fn from(acked: view::Acked) -> Self {
        Self { acknowledged: acked.acknowledged, pending: acked.pending }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, post},
    };

    #[tokio::test]
    async fn the_answer() {
        insta::assert_snapshot!(ask(App::open(), post("/me/ack", r#"{"eventId":"$e"}"#)).await);
    }

    #[tokio::test]
    async fn a_blank_room_is_no_room() {
        let asked = App::asked(post("/me/ack", r#"{"eventId":"$e","roomId":" "}"#)).await;
        assert_eq!(asked, r#"ack "$e" None"#);
        let asked = App::asked(post("/me/ack", r#"{"eventId":"$e","roomId":"!r:x"}"#)).await;
        assert_eq!(asked, r#"ack "$e" Some("!r:x")"#);
    }
}
