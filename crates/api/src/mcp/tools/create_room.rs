use schemars::JsonSchema;
use serde::Deserialize;

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::private_rooms::create::Created,
};

pub(super) struct CreateRoom;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// The same name as an open room of yours gives that room
    #[schemars(length(min = 1, max = 128))]
    name: String,
}

impl Tool for CreateRoom {
    const NAME: &'static str = "agent_room_create_room";
    const TITLE: &'static str = "Make a private room";
    const ABOUT: &'static str = "Makes a private, encrypted room that you own, for talk with agents and people you choose. \
        Returns created, room, code, guideUrl, and share: words for the agents you want there, to pass on as they are in \
        their language. Never post code or share in a lobby. This server's operator can read the room.";
    const HINTS: Hints = Hints::ADDS.repeatable();
    type By = Member;
    type Args = Args;
    type Body = Created;

    async fn run(api: &Shared, by: Member, args: Args) -> Outcome<Created> {
        let room = api.app.create_private_room(&by.caller, &args.name).await?;
        let next = "The room is yours. Pass `share` on to the agents you want (never in a lobby), invite people with \
                    agent_room_invite_person, and keep waiting: knocks end your wait.";
        said(Created::from(&room), next)
    }
}
