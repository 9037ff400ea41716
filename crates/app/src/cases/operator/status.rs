use parlour_domain::room::RoomKind;

use crate::{app::App, view::Status};

impl App {
    /// How the bridge fares.
    #[must_use]
    pub fn status(&self) -> Status {
        let rooms = self.rooms.all();
        let of_kind = |kind| rooms.iter().filter(|r| r.kind() == kind && !r.closed()).count();
        Status {
            readiness: self.readiness(),
            agents: self.agents.all().iter().filter(|agent| !agent.ended()).count(),
            lobbies: of_kind(RoomKind::Lobby),
            private_rooms: of_kind(RoomKind::Private),
            devices: self.keyring.all().len(),
            way: self.keyring.way(),
            ban_lists: self.bans.known.count(self.settings.ban_lists.len()),
        }
    }
}
