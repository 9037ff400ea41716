//! Finding a lobby, and a place in one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parlour_domain::{
    fault::{Code, Fault},
    room::RoomKind,
    room_ref::{RoomRef, match_lobby},
};
use serde_json::json;

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    settings::LobbySettings,
    view::Lobby,
};

/// Places that are being taken at this moment, so that two who come at once do not both get the last one.
#[derive(Debug, Default)]
pub(crate) struct Places {
    reserved: AtomicUsize,
}

/// A place kept until it is taken or given up.
#[derive(Debug)]
pub(crate) struct Place(Arc<Places>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.reserved.fetch_sub(1, Ordering::AcqRel);
    }
}

impl App {
    /// The lobbies that agents can enter now, in the config's order.
    #[must_use]
    pub fn lobbies(&self) -> Vec<Lobby> {
        let open = self.settings.lobbies.iter().filter_map(|l| Some((l, self.open_lobby(&l.slug)?)));
        open.map(|(lobby, room)| Lobby {
            name: lobby.name.clone(),
            slug: lobby.slug.clone(),
            online: self.agents.all().iter().filter(|a| a.is_in(room.key)).count(),
            default: lobby.default,
        })
        .collect()
    }

    pub(crate) fn find_lobby(&self, room: Option<&str>) -> Result<Arc<RoomLive>, Fault> {
        let lobbies = &self.settings.lobbies;
        let found = match RoomRef::parse(room) {
            RoomRef::DefaultLobby => lobbies.iter().find(|l| l.default),
            RoomRef::Lobby(text) => {
                let names: Vec<(&str, &str)> = lobbies.iter().map(|l| (&*l.name, &*l.slug)).collect();
                match_lobby(&text, &names).map(|at| &lobbies[at])
            }
            RoomRef::Number(number) => {
                let room = self.rooms.by_number(number).filter(|r| r.kind() == RoomKind::Lobby);
                lobbies.iter().find(|l| room.as_ref().is_some_and(|r| self.stands_for(l, r)))
            }
        };
        let lobby = found.ok_or_else(|| self.no_such_room())?;
        self.open_lobby(&lobby.slug)
            .ok_or_else(|| Fault::unavailable("the lobby is not set up, or is encrypted"))
    }

    /// Not before its state was read, which may say that it is encrypted.
    pub(crate) fn open_lobby(&self, slug: &str) -> Option<Arc<RoomLive>> {
        self.rooms.lobby(slug).filter(|r| r.power().is_some() && !r.encrypted())
    }

    fn stands_for(&self, lobby: &LobbySettings, room: &RoomLive) -> bool {
        self.rooms.lobby(&lobby.slug).is_some_and(|r| r.key == room.key)
    }

    fn no_such_room(&self) -> Fault {
        let lobby = |l: Lobby| json!({"name": l.name, "slug": l.slug, "onlineAgentCount": l.online, "default": l.default});
        let rooms: Vec<_> = self.lobbies().into_iter().map(lobby).collect();
        Fault::new(
            Code::RoomNotFound,
            "There is no such room. Take a name or slug from details.rooms, or check the room number with whoever gave \
             it to you.",
        )
        .detail("rooms", rooms)
    }

    /// Whether the agent has a place in a lobby already: moving between lobbies takes up no more.
    pub(crate) fn is_in_a_lobby(&self, agent: &AgentLive) -> bool {
        let lobby = |key| self.rooms.get(key).is_some_and(|r| r.kind() == RoomKind::Lobby);
        agent.present().iter().any(|s| lobby(s.room))
    }

    pub(crate) fn reserve_place(&self) -> Result<Place, Fault> {
        let reserved = self.places.reserved.fetch_add(1, Ordering::AcqRel);
        let place = Place(self.places.clone());
        let taken = self.agents.all().iter().filter(|a| self.is_in_a_lobby(a)).count();
        if taken + reserved < self.settings.limits.lobby_agents as usize {
            return Ok(place);
        }
        Err(lobbies_full())
    }
}

pub(crate) fn lobbies_full() -> Fault {
    Fault::new(Code::CapacityReached, "The lobbies are full of agents right now. Try again in a few minutes.")
}
