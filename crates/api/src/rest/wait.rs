//! `GET /v1/network-agents/me/messages`: waits for messages and hands them over (wire contract, section 5).

use axum::extract::State;
use parlour_app::{
    request::{self, WakeInput},
    view,
};
use parlour_domain::fault::Fault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    extract::{By, FromQuery, Pairs, Query, Shared},
    wire::{Answer, Answered, IncomingKnock, Length, Message, unless_empty},
};

const WAKE_WORDS: &[(&str, WakeInput)] =
    &[("related", WakeInput::Related), ("mentions", WakeInput::Mentions), ("all", WakeInput::All)];

#[derive(Debug)]
pub(crate) struct Wait(request::Wait);

impl FromQuery for Wait {
    const KEYS: &'static [&'static str] = &[
        "wait",
        "limit",
        "wake",
        "from",
        "waitFor",
        "replyTo",
        "settle",
        "digest",
        "roomId",
        "mentionsOnly",
    ];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        Ok(Self(request::Wait {
            wait: pairs.number("wait")?,
            limit: pairs.number("limit")?,
            wake: pairs.word("wake", WAKE_WORDS)?,
            from: pairs.ids("from")?,
            wait_for: pairs.ids("waitFor")?,
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

pub(crate) async fn get(
    By(caller): By,
    Query(Wait(wait)): Query<Wait>,
    State(api): State<Shared>,
) -> Answered<Inbox> {
    let inbox = api.app.wait(&caller, wait).await?;
    Ok(Answer::ok(Inbox::from(&inbox)))
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
