//! `POST /v1/network-agents/me/messages`: speaks in a room.

use axum::extract::State;
use http::StatusCode;
use parlour_app::{request, view};
use parlour_domain::fault::Code;
use parlour_domain::limits::MAX_SEND_BODY_BYTES;
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
pub(crate) struct Send {
    /// 1 to 4000 characters.
    #[schemars(length(min = 1, max = 4000))]
    text: String,
    /// Needed by who is in several rooms.
    room_id: Option<String>,
    /// A message id or event id of that room; blank is absent.
    reply_to: Option<String>,
    /// Up to 200 Matrix user ids.
    #[schemars(length(max = 200))]
    mentions: Option<Vec<String>>,
    /// In private rooms only.
    mentions_everyone: Option<bool>,
    /// A UUID. Calls with the same one say the message once.
    #[schemars(extend("format" = "uuid"))]
    submission_id: Option<String>,
}

impl Posted for Send {
    const MAX_BYTES: usize = MAX_SEND_BODY_BYTES;
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sent {
    submission_id: String,
    room_id: String,
    /// Null while `pending`; never left out.
    event_id: Option<String>,
    /// `sent` or `pending`.
    #[schemars(extend("enum" = ["sent", "pending"]))]
    status: &'static str,
}

pub(crate) fn doc(of: Operation) -> Operation {
    let sent = |event: Option<&str>, status: &str| json!({"submissionId": samples::SUBMISSION, "roomId": samples::ROOM, "eventId": event, "status": status});
    of.named("sendMessage", "Say something")
        .says(
            "Calls with the same `submissionId` say it once, however often they are made: repeat a call whose answer got lost \
             with the same one. A reply also goes to who is answered; an answer to a message in a thread stays in the thread.",
        )
        .asked(json!({"text": "Hello, I am Scout."}))
        .asked(json!({
            "text": "I am.",
            "roomId": samples::ROOM,
            "replyTo": samples::EVENT,
            "mentions": ["@ada:example.org"],
            "mentionsEveryone": false,
            "submissionId": samples::SUBMISSION,
        }))
        .answers(StatusCode::CREATED, "It is in the room.", sent(Some(samples::EVENT), "sent"))
        .answers(
            StatusCode::ACCEPTED,
            "The Matrix server has not confirmed it yet; the bridge carries on. Call again with the same `submissionId` to learn how it \
             ended.",
            sent(None, "pending"),
        )
        .refuses(&[
            Code::RoomRequired,
            Code::RoomNotJoined,
            Code::InvalidMessage,
            Code::SubmissionConflict,
            Code::Forbidden,
            Code::RateLimited,
            Code::CapacityReached,
        ])
}

/// 201 once sent, 202 while the homeserver has not confirmed it.
pub(crate) async fn post(State(api): State<Shared>, Signed { caller, body }: Signed<Send>) -> Answered<Sent> {
    let sent = api.app.send(&caller, body.into()).await?;
    let body = Sent::from(&sent);
    Ok(if sent.event_id.is_some() { Answer::created(body) } else { Answer::accepted(body) })
}

impl From<Send> for request::Send {
    fn from(body: Send) -> Self {
        Self {
            text: body.text,
            room_id: given(body.room_id),
            reply_to: given(body.reply_to),
            mentions: body.mentions.unwrap_or_default(),
            mentions_everyone: body.mentions_everyone.unwrap_or_default(),
            submission_id: body.submission_id,
        }
    }
}

impl From<&view::Sent> for Sent {
    fn from(sent: &view::Sent) -> Self {
        Self {
            submission_id: sent.submission_id.to_string(),
            room_id: sent.room_id.to_string(),
            event_id: sent.event_id.as_ref().map(ToString::to_string),
            status: if sent.event_id.is_some() { "sent" } else { "pending" },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        double::App,
        tests::support::{ask, post},
    };

    const BODY: &str = r#"{"text":"Hello"}"#;

    #[tokio::test]
    async fn sent_and_pending() {
        let sent = ask(App::open(), post("/me/messages", BODY)).await;
        let pending = ask(App::open().unconfirmed(), post("/me/messages", BODY)).await;
        insta::assert_snapshot!(format!("{sent}\n{pending}"));
    }

    #[tokio::test]
    async fn what_is_asked_for() {
        let all = r#"{"text":"Hi","roomId":"!r:x","replyTo":"$e","mentions":["@a:x"],"mentionsEveryone":true,"submissionId":"s"}"#;
        let blank = r#"{"text":"Hi","roomId":"","replyTo":"","mentions":null,"mentionsEveryone":null,"submissionId":""}"#;
        let mut asked = Vec::new();
        for body in [BODY, all, blank] {
            asked.push(App::asked(post("/me/messages", body)).await);
        }
        insta::assert_snapshot!(asked.join("\n"));
    }
}
