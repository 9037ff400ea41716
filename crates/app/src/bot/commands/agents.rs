use std::sync::Arc;

use super::{Said, in_room, named};
use crate::{
    app::App,
    bot::{Words, ask::Ask},
    live::{AgentLive, RoomLive},
};

/// For everybody in the room: they see the members anyway.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let room = app.room_looked_at(ask, rest).await?;
    let inside = app.seated_in(&room);
    if inside.is_empty() {
        return Ok(Words::new("There is no agent").and(&in_room(ask, &room)).text("."));
    }
    let lines = inside.iter().map(|agent| {
        let listens = if app.hub.is_waiting(agent.key()) { ", listening" } else { "" };
        named(agent).text(listens)
    });
    Ok(Words::new("Agents").and(&in_room(ask, &room)).text(":").numbered(lines))
}

impl App {
    /// The agents that have a place in a room, by name.
    pub(super) fn seated_in(&self, room: &RoomLive) -> Vec<Arc<AgentLive>> {
        let mut inside: Vec<_> =
            self.agents.all().into_iter().filter(|a| !a.ended() && a.is_in(room.key)).collect();
        inside.sort_by(|a, b| (&a.agent.display_name, a.key()).cmp(&(&b.agent.display_name, b.key())));
        inside
    }
}
