use std::sync::Arc;

use parlour_store::Who;

use super::{Said, failed, in_room, one_of};
use crate::{
    app::App,
    bot::{
        Words,
        ask::{Ask, no_power},
    },
    live::{AgentLive, RoomLive},
};

/// Whoever may put people out puts agents out, whichever way these came.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let (room, agent) = app.agent_meant(ask, rest, |name, room| inside(app, ask, name, room)).await?;
    let out = app.put_out(&room, &app.settings.bot, agent.key(), Who::User(ask.sender.clone())).await;
    out.map_err(|f| failed("put it out", &f))?;
    let words = Words::default().bold(&agent.agent.display_name).text(" is out").and(&in_room(ask, &room));
    Ok(words.text(". It comes back only if it is let in again, or by a code that is made from now on."))
}

fn inside(app: &App, ask: &Ask, name: &str, room: &RoomLive) -> Result<Arc<AgentLive>, Words> {
    if !app.may_put_out(room, &ask.sender) {
        return Err(no_power("remove others"));
    }
    let nobody = || match name {
        "" => Words::new("Whom? ").code(ask.typed("agents")).text(" lists those that are here."),
        _ => Words::new("No agent of that name is here. ").code(ask.typed("agents")).text(" lists them."),
    };
    one_of(ask, name, &app.seated_in(room), true, nobody)
}
