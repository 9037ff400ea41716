use std::sync::Arc;

use parlour_domain::{fault::Fault, ids::AgentKey};
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
        if let RoomOf::Lobby { slug } = self.whose(&live) {
            return Err(lobby_stays(slug));
        }
        tracing::info!(room = %live.room_id, "the operator closes a room");
        match live.owner() {
            Some(owner) => self.close_for(owner, live.clone()).await?,
            None => {
                let (app, room) = (self.clone(), live.clone());
                let off = async move { app.switch_off(&room, Who::Operator).await };
                self.to_the_end(off, |_, ()| {}).await?;
            }
        }
        Ok(Shut { room: live.room(), closed: live.closed() })
    }

    async fn close_for(self: &Arc<Self>, owner: AgentKey, room: Arc<RoomLive>) -> Result<(), Fault> {
        match self.agents.get(owner) {
            Some(owner) => self.close_own(room, &owner, Who::Operator).await,
            // its end closed the room
            None => Ok(()),
        }
    }
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
