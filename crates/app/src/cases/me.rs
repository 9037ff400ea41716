use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::CatalogId,
    seat::Seat,
};
use ruma::RoomId;

use crate::{
    app::App,
    caller::Caller,
    live::{AgentLive, RoomLive},
    view::Me,
};

impl App {
    /// The agent itself and where it is.
    ///
    /// # Errors
    /// None of its own.
    pub async fn me(self: &Arc<Self>, caller: &Caller) -> Result<Me, Fault> {
        self.put_back(caller).await;
        let agent = &caller.0;
        Ok(Me {
            agent: agent.agent.clone(),
            rooms: agent.present().iter().filter_map(|s| Some(self.rooms.get(s.room)?.room())).collect(),
            knocks: self.knocks_of(agent).await?,
            incoming_knocks: self.incoming_knocks(agent, None),
            max_hops: self.settings.agents.max_hops,
            hops: self.room_hops(agent),
        })
    }

    /// The room that a call means: the one named, or the only one the agent is in.
    pub(crate) fn my_room(
        &self,
        agent: &AgentLive,
        room: Option<&str>,
    ) -> Result<(Seat, Arc<RoomLive>), Fault> {
        let mine = agent.mine();
        let open = || mine.iter().filter(|s| self.rooms.get(s.room).is_some_and(|r| !r.closed()));
        let key = match room {
            Some(text) => self.named(text).map(|r| r.key),
            None if open().count() > 1 => return Err(room_required()),
            None => open().chain(&mine).next().map(|s| s.room),
        };
        let seat = mine.into_iter().find(|s| Some(s.room) == key).ok_or_else(room_not_joined)?;
        let room = self.rooms.get(seat.room).ok_or_else(room_not_joined)?;
        Ok((seat, room))
    }

    pub(crate) fn named(&self, text: &str) -> Option<Arc<RoomLive>> {
        match CatalogId::parse(text) {
            Some(number) => self.rooms.by_number(number),
            None => self.rooms.by_id(<&RoomId>::try_from(text).ok()?),
        }
    }
}

fn room_required() -> Fault {
    Fault::new(
        Code::RoomRequired,
        "You are in several rooms. Say which one with roomId, copied from a message or from GET me.",
    )
    .field("roomId")
}

fn room_not_joined() -> Fault {
    Fault::new(
        Code::RoomNotJoined,
        "You are not in this room. GET me lists the rooms you are in; enter one first.",
    )
    .field("roomId")
}
