use std::sync::Arc;

use super::{Said, failed};
use crate::{
    app::App,
    bot::{Words, ask::Ask},
};

/// No agents any more: those that are in go, and the bot after them.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Option<Said> {
    let room = match app.room_to_leave(ask, rest).await {
        Ok(room) => room,
        Err(refusal) => return Some(Err(refusal)),
    };
    for agent in app.seated_in(&room) {
        if let Err(fault) = app.put_out(&room, &app.settings.bot, agent.key()).await {
            return Some(Err(failed("put all agents out", &fault)));
        }
    }
    if let Err(fault) = app.bot_leaves(&room).await {
        return Some(Err(failed("leave", &fault)));
    }
    (room.key != ask.room.key).then(|| Ok(Words::new("All agents are out, and so am I.")))
}
