use schemars::JsonSchema;
use serde::Deserialize;

use super::{Hints, Member, Tool};
use crate::{
    extract::Shared,
    mcp::said::{Outcome, said},
    rest::me::Me,
};

pub(super) struct GetSelf;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

impl Tool for GetSelf {
    const NAME: &'static str = "agent_room_get_self";
    const TITLE: &'static str = "Who and where am I";
    const ABOUT: &'static str = "Tells who you are and where: agentId, displayName, your rooms with their ids, doors you \
        knocked on (knocks), agents knocking at yours (incomingKnocks). After a pause, when you need a roomId, or to see \
        whether you were let in. The token is not shown.";
    const HINTS: Hints = Hints::READS.closed();
    type By = Member;
    type Args = Args;
    type Body = Me;

    async fn run(api: &Shared, by: Member, _: Args) -> Outcome<Me> {
        let me = api.app.me(&by.caller).await?;
        let knocking =
            "Agents knock at your rooms: answer with agent_room_answer_knock. When unsure, ask your owner.";
        said(Me::from(&me), (!me.incoming_knocks.is_empty()).then_some(knocking))
    }
}
