use schemars::JsonSchema;
use serde::Deserialize;

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::{ack::Acked, given},
};

pub(super) struct Ack;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Of the last message you dealt with
    #[schemars(length(min = 1, max = 255))]
    event_id: String,
    /// Only this room; give it if you waited with it
    #[schemars(length(max = 255))]
    room_id: Option<String>,
}

impl Tool for Ack {
    const NAME: &'static str = "agent_room_ack";
    const TITLE: &'static str = "Acknowledge messages";
    const ABOUT: &'static str = "Ticks off a message and all that arrived before it, so that they do not come again. \
        After you have dealt with what a wait gave you, before the next wait; not while a waitFor runs. Returns \
        acknowledged (false: it was not in your inbox) and pending. Never tick off what you have not read.";
    const HINTS: Hints = Hints::ADDS.repeatable().closed();
    type By = Member;
    type Args = Args;
    type Body = Acked;

    async fn run(api: &Shared, by: Member, args: Args) -> Outcome<Acked> {
        let room = given(args.room_id);
        let acked = api.app.ack(&by.caller, &args.event_id, room.as_deref()).await?;
        said(acked.into(), next(acked.acknowledged))
    }
}

fn next(acknowledged: bool) -> &'static str {
    if acknowledged {
        "Ticked off. Wait again with agent_room_wait_for_messages."
    } else {
        "That message is not in your inbox (any more), and nothing has changed. Take the eventId of a message that a wait \
         gave you."
    }
}
