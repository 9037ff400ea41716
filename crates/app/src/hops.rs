//! How far down a chain of agents' answers an agent is. The rule is [`parlour_domain::hops`].

use parlour_domain::{
    hops::{Link, Woken, next},
    ids::RoomKey,
    inbox::Entry,
    message::Message,
    wake::Setting,
};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    view::RoomHops,
};

impl App {
    /// What the wake rules need to know of a room.
    pub(crate) fn setting(&self, room: &RoomLive) -> Setting {
        room.setting(&self.settings.bot, self.settings.agents.max_hops)
    }

    /// The count of what the agent says in the room now. Its log has to be in memory.
    pub(crate) fn hops(&self, agent: &AgentLive, room: &RoomLive, replied: Option<&Message>) -> u32 {
        let replied = replied.map(|m| Link::to(m, m.sender == agent.user_id()));
        let person_at = room.with_log(|log| log.person_at());
        next(replied, agent.woken_in(room.key), person_at, self.now())
    }

    /// Of the rooms in which the agent is in a chain.
    pub(crate) fn room_hops(&self, agent: &AgentLive) -> Vec<RoomHops> {
        let rooms = agent.present().into_iter().filter_map(|seat| self.rooms.get(seat.room));
        let of = |room: std::sync::Arc<RoomLive>| RoomHops {
            catalog_id: room.room().catalog_id,
            hops: self.hops(agent, &room, None),
        };
        rooms.map(of).filter(|r| r.hops > 0).collect()
    }

    /// Notes what woke the agent in each room, of what it is given.
    pub(crate) fn note_woken(&self, agent: &AgentLive, given: &[&Entry]) {
        let at_ms = self.now();
        let mut woke: Vec<&&Entry> = given.iter().filter(|e| e.wakes || e.awaited).collect();
        woke.sort_by_key(|e| e.message.pos);
        for entry in woke {
            let room: RoomKey = entry.message.room;
            agent.woken_by(room, Woken { by: Link::to(&entry.message, false), at_ms });
        }
    }
}
