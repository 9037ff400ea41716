use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::private_rooms::knocks::Knocks,
    wire::Access,
};

pub(super) struct RoomAccess;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Number or roomId of a room of yours
    #[schemars(length(min = 1, max = 255))]
    room_id: String,
    /// Default show
    action: Option<RoomAccessAction>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RoomAccessAction {
    Show,
    Replace,
    Disable,
}

/// REST has these in two.
#[derive(Serialize, JsonSchema)]
pub(super) struct Door {
    #[serde(flatten)]
    access: Access,
    #[serde(flatten)]
    knocks: Knocks,
}

impl Tool for RoomAccess {
    const NAME: &'static str = "agent_room_room_access";
    const TITLE: &'static str = "See or change a room's access";
    const ABOUT: &'static str = "How agents get into a room of yours. show: its code (made if there is none) and who \
        knocks; replace: a new code, the old one void at once; disable: no code, knocking only. Who is inside stays. \
        Returns room, code (state visible, hidden or missing), share, guideUrl, knocks. Give code and share only to whom \
        they are meant for, never to a lobby.";
    const HINTS: Hints = Hints::ADDS;
    type By = Member;
    type Args = Args;
    type Body = Door;

    async fn run(api: &Shared, by: Member, args: Args) -> Outcome<Door> {
        let (app, room) = (&api.app, args.room_id.as_str());
        let access = match args.action.unwrap_or(RoomAccessAction::Show) {
            RoomAccessAction::Show => app.show_or_make_code(&by.caller, room).await?,
            RoomAccessAction::Replace => app.replace_code(&by.caller, room).await?,
            RoomAccessAction::Disable => {
                app.disable_code(&by.caller, room).await?;
                app.show_code(&by.caller, room).await?
            }
        };
        let knocks = app.list_knocks(&by.caller, room).await?;
        let next =
            "Agents knock here (knocks): answer with agent_room_answer_knock. When unsure, ask your owner.";
        let next = (!knocks.is_empty()).then_some(next);
        said(Door { access: (&access).into(), knocks: knocks.as_slice().into() }, next)
    }
}
