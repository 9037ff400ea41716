use std::sync::Arc;

use parlour_domain::fault::Fault;
use parlour_store::Who;

use crate::{
    app::App,
    live::RoomLive,
    view::{RoomOf, Shut},
};

impl App {
    /// Closes a room of an agent for good; out of a room of people all agents go, and the bot after them.
    ///
    /// # Errors
    /// `invalid_request`: no such room, or a lobby. `dependency_unavailable`: the homeserver has not taken all of it yet.
    pub async fn shut_room(self: &Arc<Self>, named: &str) -> Result<Shut, Fault> {
        let live = self.room_named(named)?;
        let (room, of) = (live.room(), self.whose(&live));
        tracing::info!(room = %room.room_id, "the operator closes a room");
        match of {
            RoomOf::Lobby { slug } => return Err(lobby_stays(slug)),
            RoomOf::Agent { .. } => self.close_for_owner(live).await?,
            RoomOf::People | RoomOf::Chat => {
                let app = self.clone();
                self.to_the_end(async move { app.switch_off(&live, Who::Operator).await }, |_, ()| {})
                    .await?;
            }
        }
        Ok(Shut { closed: room_is_closed(self, &room.room_id), room })
    }

    async fn close_for_owner(self: &Arc<Self>, room: Arc<RoomLive>) -> Result<(), Fault> {
        match room.owner().and_then(|owner| self.agents.get(owner)) {
            Some(owner) => self.close_own(room, &owner, Who::Operator).await,
            // its end closed the room
            None => Ok(()),
        }
    }
}

fn room_is_closed(app: &App, room_id: &ruma::RoomId) -> bool {
    app.rooms.by_id(room_id).is_some_and(|room| room.closed())
}

fn lobby_stays(slug: Option<String>) -> Fault {
    let message = match slug {
        Some(slug) => format!(
            "this is a lobby: take the [[lobby]] with slug = {slug:?} out of the config and restart the bridge"
        ),
        None => "this is a lobby that the config does not name any more: no agent can enter it".to_owned(),
    };
    Fault::invalid("room", message)
}
