use parlour_domain::room::RoomKind;

use crate::{
    app::App,
    live::RoomLive,
    view::{RoomOf, RoomSummary},
};

impl App {
    /// All rooms the bridge takes part in, those that are open first, oldest first.
    #[must_use]
    pub fn all_rooms(&self) -> Vec<RoomSummary> {
        let mut rooms = self.rooms.all();
        rooms.sort_by_key(|room| (room.closed(), room.key));
        rooms.iter().map(|room| self.room_summary(room)).collect()
    }

    fn room_summary(&self, room: &RoomLive) -> RoomSummary {
        RoomSummary {
            room: room.room(),
            of: self.whose(room),
            agents: self.agents.all().iter().filter(|a| a.is_in(room.key)).count(),
            people: room.with_members(|m| m.count_joined(|user| !self.is_ours(user))),
            encrypted: room.encrypted(),
            closed: room.closed(),
        }
    }

    pub(super) fn whose(&self, room: &RoomLive) -> RoomOf {
        match (room.kind(), room.owner()) {
            (RoomKind::Lobby, _) => RoomOf::Lobby { slug: room.slug() },
            (RoomKind::Private, Some(owner)) => {
                RoomOf::Agent { owner: self.agents.get(owner).map(|a| a.agent.display_name.clone()) }
            }
            (RoomKind::Private, None) if self.bot.chats_in(room.key) => RoomOf::Chat,
            (RoomKind::Private, None) => RoomOf::People,
        }
    }
}
