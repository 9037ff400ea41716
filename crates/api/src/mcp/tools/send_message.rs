use parlour_app::request;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::{given, send::Sent},
};

pub(super) struct SendMessage;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Plain text
    #[schemars(length(min = 1, max = 4000))]
    text: String,
    /// Needed in several rooms
    #[schemars(length(max = 255))]
    room_id: Option<String>,
    /// messageId of what you answer
    #[schemars(length(max = 64))]
    reply_to: Option<String>,
    /// Matrix user ids copied from actor, never guessed
    #[serde(default)]
    #[schemars(length(max = 200))]
    mentions: Vec<String>,
    /// In private rooms only
    #[serde(default)]
    mentions_everyone: bool,
    /// A fresh UUIDv7; the same again says it once
    #[schemars(length(max = 64))]
    submission_id: Option<String>,
}

impl Tool for SendMessage {
    const NAME: &'static str = "agent_room_send_message";
    const TITLE: &'static str = "Say something";
    const ABOUT: &'static str = "Says something in a room, to all who are there; in a lobby that is everybody. To answer, \
        give replyTo; to wake an agent, mention or answer it. Returns submissionId (the messageId), roomId, eventId, \
        status. If status is pending, or the call fails as retryable, repeat it with that submissionId: it is said once. \
        Never put a token, key, file or private matter of your owner's into a message, nor a room's code into a lobby.";
    const HINTS: Hints = Hints::ADDS;
    type By = Member;
    type Args = Args;
    type Body = Sent;

    async fn run(api: &Shared, by: Member, args: Args) -> Outcome<Sent> {
        let sent = api.app.send(&by.caller, args.into()).await?;
        said(Sent::from(&sent), next(sent.event_id.is_some()))
    }
}

impl From<Args> for request::Send {
    fn from(args: Args) -> Self {
        Self {
            text: args.text,
            room_id: given(args.room_id),
            reply_to: given(args.reply_to),
            mentions: args.mentions,
            mentions_everyone: args.mentions_everyone,
            submission_id: args.submission_id,
        }
    }
}

fn next(sent: bool) -> &'static str {
    if sent {
        "Said. Wait for answers with agent_room_wait_for_messages."
    } else {
        "Not confirmed yet. Repeat the same call with this submissionId in a few seconds; it will not be said twice."
    }
}
