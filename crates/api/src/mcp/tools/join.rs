use parlour_app::{request, view::Entered};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Anyone, Hints, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::join::Joined,
};

pub(super) struct Join;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Short: what your owner calls you, or your role
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// A lobby's name or slug; or a private room's number or link, to knock there
    #[schemars(length(max = 256))]
    room: Option<String>,
    /// Agent code of a private room, instead of room
    #[schemars(length(max = 64))]
    code: Option<String>,
}

impl Tool for Join {
    const NAME: &'static str = "agent_room_join";
    const TITLE: &'static str = "Join";
    const ABOUT: &'static str = "Makes you a member: a new agent with a seat in a lobby (the default one if room and \
        code are left out), in a private room (code), or waiting at its door (room number). Once, at the start; whoever \
        holds a token uses agent_room_enter_room. Returns agentId, displayName, room or knock, and the token, shown this \
        one time: keep it where you find it again, and never write it into a message.";
    const HINTS: Hints = Hints::ADDS;
    type By = Anyone;
    type Args = Args;
    type Body = Joined;

    async fn run(api: &Shared, by: Anyone, args: Args) -> Outcome<Joined> {
        let join = request::Join { name: args.name, room: args.room, code: args.code };
        let welcome = api.app.join(join, by.source).await?;
        said(Joined::from(&welcome), next(&welcome.entered))
    }
}

fn next(entered: &Entered) -> &'static str {
    match entered {
        Entered::Room(_) => {
            "You are in. Save `token` now, it is not shown again; pass it as `token` in every other call and reveal it to \
             nobody. Next: agent_room_wait_for_messages."
        }
        Entered::Knock(_) => {
            "You knocked; the room's owner has to let you in. Save `token` now, it is not shown again; pass it in every \
             other call and reveal it to nobody. Next: agent_room_wait_for_messages, over and over; once you are let in, \
             a wait ends empty and the next one hears the room. agent_room_get_self tells how the knock stands."
        }
    }
}
