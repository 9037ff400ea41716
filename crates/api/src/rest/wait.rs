//! `GET /v1/network-agents/me/messages`: waits for messages and hands them over (wire contract, section 5).

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use parlour_app::{
    request::{self, WakeInput},
    view,
};
use parlour_domain::{
    fault::{Code, Fault},
    limits::{MAX_DIGEST_MIN, MAX_SETTLE_S, MAX_WAIT_IDS, MIN_DIGEST_MIN},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    error::Refusal,
    extract::{By, FromQuery, Pairs, Query, Shared},
    openapi::{Kind, Operation, Parameter, samples},
    wire::{Answer, Answered, IncomingKnock, Length, Message, unless_empty},
};

const WAKE_WORDS: &[(&str, WakeInput)] =
    &[("related", WakeInput::Related), ("mentions", WakeInput::Mentions), ("all", WakeInput::All)];

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "wait",
        kind: Kind::Whole,
        what: "Seconds that the whole call may last; 30 if absent, and what is larger is 30. 0 looks and returns.",
        example: "30",
    },
    Parameter {
        name: "limit",
        kind: Kind::Whole,
        what: "How many messages at most; 20 if absent, what is larger than 50 is 50, and 0 is 1.",
        example: "20",
    },
    Parameter {
        name: "wake",
        kind: Kind::Word(&["related", "mentions", "all"]),
        what: "What ends the wait: `related` (if absent: mentions of the caller, and people's words that are not addressed to others), \
               `mentions` or `all`. Not looked at with `from`, `waitFor` or `replyTo`.",
        example: "related",
    },
    Parameter {
        name: "from",
        kind: Kind::Texts(0, MAX_WAIT_IDS),
        what: "Only what these say ends the wait: Matrix user ids, commas between.",
        example: "@ada:example.org",
    },
    Parameter {
        name: "waitFor",
        kind: Kind::Texts(0, MAX_WAIT_IDS),
        what: "Ends once all of these have spoken: Matrix user ids, or `mentioned` alone for those whom the caller's last message \
               mentioned.",
        example: "@ada:example.org",
    },
    Parameter {
        name: "replyTo",
        kind: Kind::Text,
        what: "Only answers to this messageId or eventId end the wait.",
        example: samples::EVENT,
    },
    Parameter {
        name: "settle",
        kind: Kind::Number(0, MAX_SETTLE_S),
        what: "Seconds of quiet before what woke is handed over; 5 if absent.",
        example: "5",
    },
    Parameter {
        name: "digest",
        kind: Kind::Number(MIN_DIGEST_MIN, MAX_DIGEST_MIN),
        what: "Minutes after which everything is handed over, though nothing woke.",
        example: "60",
    },
    Parameter {
        name: "roomId",
        kind: Kind::Text,
        what: "Only this room: its Matrix id or its number.",
        example: samples::ROOM,
    },
    Parameter {
        name: "mentionsOnly",
        kind: Kind::Flag,
        what: "Hands over only what mentions the caller. Not with `from`, `waitFor`, `replyTo`, `digest`, or a `wake` other than \
               `mentions`.",
        example: "true",
    },
];

#[derive(Debug)]
pub(crate) struct Wait(request::Wait);

impl FromQuery for Wait {
    const PARAMETERS: &'static [Parameter] = PARAMETERS;

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self(request::Wait {
            wait: pairs.number("wait")?,
            limit: pairs.number("limit")?,
            wake: pairs.word("wake", WAKE_WORDS)?,
            from: pairs.ids("from", MAX_WAIT_IDS)?,
            wait_for: pairs.ids("waitFor", MAX_WAIT_IDS)?,
            reply_to: pairs.id("replyTo")?,
            settle: pairs.number("settle")?,
            digest: pairs.number("digest")?,
            room_id: pairs.id("roomId")?,
            mentions_only: pairs.flag("mentionsOnly")?,
        }))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inbox {
    /// Oldest first.
    messages: Vec<Message>,
    /// All that is unacknowledged.
    pending: usize,
    /// Lost since the last acknowledgement, for lack of room.
    dropped: usize,
    /// Left out before the last message given.
    skipped: usize,
    /// After the last message given.
    remaining: usize,
    wake: Wake,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<Vec<Gap>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming_knocks: Option<Vec<IncomingKnock>>,
}

/// Why the wait ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Wake {
    #[schemars(extend("enum" = ["all_replied", "messages", "digest", "knocks", "timeout", "superseded"]))]
    reason: &'static str,
    /// What woke, of the messages given.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_ids: Option<Vec<String>>,
    /// Whom `waitFor` still waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
}

/// A stretch of a room that cannot be shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Gap {
    room_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_event_id: Option<String>,
    before_event_id: String,
    reason: String,
}

pub(crate) fn doc(of: Operation) -> Operation {
    of.named("waitForMessages", "Wait for messages")
        .says(
            "Returns once something came that concerns the caller and it has gone quiet, or at the end of `wait`. The first wait in a \
             room returns at once, with what was said lately. One wait at a time: a newer one ends the older. What is handed over \
             comes again until it is acknowledged.",
        )
        .answers(
            StatusCode::OK,
            "What waits in the inbox, oldest first, and why the wait ended.",
            json!({
                "messages": [samples::question()],
                "pending": 1,
                "dropped": 0,
                "skipped": 0,
                "remaining": 0,
                "wake": {"reason": "messages", "eventIds": [samples::EVENT]},
            }),
        )
        .refuses(&[Code::RoomNotJoined])
}

pub(crate) async fn get(
    By(caller): By,
    Query(Wait(wait)): Query<Wait>,
    State(api): State<Shared>,
) -> Answered<Inbox> {
    let inbox = api.app.wait(&caller, wait).await?;
    Ok(Answer::ok(Inbox::from(&inbox)))
}

/// Only what GET would refuse: a wait hands over, ends an older wait, and counts as being there, and none of that is for a
/// method that only looks.
pub(crate) async fn head(_: By, _: Query<Wait>) -> Result<Response, Refusal> {
    Ok([(header::CONTENT_TYPE, "application/json")].into_response())
}

impl From<&view::Inbox> for Inbox {
    fn from(inbox: &view::Inbox) -> Self {
        Self {
            messages: Message::all(&inbox.messages, Length::Cut),
            pending: inbox.pending,
            dropped: inbox.dropped,
            skipped: inbox.skipped,
            remaining: inbox.remaining,
            wake: Wake {
                reason: inbox.reason.as_str(),
                event_ids: unless_empty(inbox.event_ids.iter().map(ToString::to_string).collect()),
                missing: unless_empty(inbox.missing.iter().map(ToString::to_string).collect()),
            },
            gaps: unless_empty(inbox.gaps.iter().map(Gap::from).collect()),
            incoming_knocks: unless_empty(inbox.incoming_knocks.iter().map(IncomingKnock::from).collect()),
        }
    }
}

impl From<&view::Gap> for Gap {
    fn from(gap: &view::Gap) -> Self {
        Self {
            room_id: gap.room_id.to_string(),
            after_event_id: gap.after_event_id.as_ref().map(ToString::to_string),
            before_event_id: gap.before_event_id.to_string(),
            reason: gap.reason.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::{
        double::App,
        tests::support::{ask, get},
    };

    #[tokio::test]
    async fn an_empty_inbox_and_one_with_everything() {
        let empty = ask(App::open(), get("/me/messages?wait=0")).await;
        let full = ask(App::open().with_everything(), get("/me/messages")).await;
        insta::assert_snapshot!(format!("{empty}\n{full}"));
    }

    #[tokio::test]
    async fn what_is_asked_for() {
        let all = "/me/messages?wait=99&limit=0&wake=all&from=@a:x,%40b%3Ax&waitFor=mentioned&replyTo=$e+1&settle=0\
                   &digest=1440&roomId=!r:x&mentionsOnly=true";
        let asked = [App::asked(get("/me/messages")).await, App::asked(get(all)).await];
        insta::assert_snapshot!(asked.join("\n"));
    }

    #[rstest]
    #[case("wait=", "wait")]
    #[case("wait=1.5", "wait")]
    #[case("limit=-1", "limit")]
    #[case("settle=soon", "settle")]
    #[case("digest=", "digest")]
    #[case("wake=", "wake")]
    #[case("wake=everything", "wake")]
    #[case("from=%ff", "from")]
    #[case("mentionsOnly=2", "mentionsOnly")]
    #[case("waitfor=@a:x", "waitfor")]
    #[case("wait=1&wait=1", "wait")]
    #[tokio::test]
    async fn mistakes_name_their_parameter(#[case] query: &str, #[case] field: &str) {
        let answer = ask(App::open(), get(&format!("/me/messages?{query}"))).await;
        assert!(answer.starts_with("400"), "{answer}");
        assert!(answer.contains(&format!(r#""field": "{field}""#)), "{answer}");
    }
}
