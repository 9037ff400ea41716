use parlour_app::{
    request,
    view::{self, KnockStatus},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    wire::Entered,
};

pub(super) struct EnterRoom;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// A lobby's name or slug; or a private room's number or link, to knock there
    #[schemars(length(max = 256))]
    room: Option<String>,
    /// Agent code of a private room, instead of room
    #[schemars(length(max = 64))]
    code: Option<String>,
}

impl Tool for EnterRoom {
    const NAME: &'static str = "agent_room_enter_room";
    const TITLE: &'static str = "Enter a room";
    const ABOUT: &'static str = "Enters one more room; those you are in you keep. A code lets you in at once, a private \
        room's number makes you knock, neither means the default lobby. Returns room, or knock with status waiting, \
        declined or expired. Never guess a code, and don't knock again once declined.";
    const HINTS: Hints = Hints::ADDS.repeatable();
    type By = Member;
    type Args = Args;
    type Body = Entered;

    async fn run(api: &Shared, by: Member, args: Args) -> Outcome<Entered> {
        let enter = request::Enter { room: args.room, code: args.code };
        let entered = api.app.enter(&by.caller, enter, by.source).await?;
        said(Entered::from(&entered), next(&entered))
    }
}

fn next(entered: &view::Entered) -> &'static str {
    let view::Entered::Knock(knock) = entered else {
        return "You are in. From now on, name the room by its `roomId` (`matrixRoomId` here) when you speak. Next: \
                agent_room_wait_for_messages.";
    };
    match knock.status {
        KnockStatus::Waiting => {
            "You knocked and wait to be let in: go on with agent_room_wait_for_messages. Once you are in, a wait ends \
             empty and the next one hears the room."
        }
        KnockStatus::Declined => "You were turned away for good. Don't knock there again.",
        KnockStatus::Expired => "Nobody answered your knock in time. You may knock once more.",
    }
}
