//! Rooms that agents make: made, opened to others, closed. Only the agent that made a room manages it.

mod close;
mod code;
mod create;
mod invite;
mod knocks;
mod remove;
mod visitors;

use std::sync::Arc;

use parlour_domain::{
    code::AgentCode,
    fault::{Code, Fault},
    ids::AgentId,
    share::{Place, share},
};
use parlour_store::KeptCode;

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    view::{Access, CodeState},
};

impl App {
    /// An open room that the agent made, by number or Matrix id.
    fn own_room(&self, agent: &AgentLive, room: &str) -> Result<Arc<RoomLive>, Fault> {
        let room = self.own_room_open_or_not(agent, room)?;
        if room.closed() { Err(not_owned()) } else { Ok(room) }
    }

    fn own_room_open_or_not(&self, agent: &AgentLive, room: &str) -> Result<Arc<RoomLive>, Fault> {
        self.named(room).filter(|r| r.owner() == Some(agent.key())).ok_or_else(not_owned)
    }

    /// How others get into a room, as it is now.
    pub(crate) async fn access(&self, room: &RoomLive) -> Result<Access, Fault> {
        let key = room.key;
        let kept = self.store.read(move |r| r.room_code(key)).await?;
        let room = room.room();
        let code = self.code_state(room.catalog_id, kept);
        let place = Place { public_url: &self.settings.public_url, room: room.catalog_id };
        let visible = match code {
            CodeState::Visible(code) => Some(code),
            CodeState::Hidden | CodeState::Missing => None,
        };
        Ok(Access { share: share(place, visible), guide_url: place.guide_url(), code, room })
    }

    /// Hidden: the sealed copy is gone, or was sealed with another key than ours.
    fn code_state(&self, number: parlour_domain::ids::CatalogId, kept: Option<KeptCode>) -> CodeState {
        let Some(KeptCode { sealed }) = kept else { return CodeState::Missing };
        let opened = sealed.and_then(|s| self.sealing.open(&[code::SEALED, number.0.as_bytes()], &s).ok());
        let text = opened.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(|t| AgentCode::parse(t).ok()).map_or(CodeState::Hidden, CodeState::Visible)
    }
}

fn not_owned() -> Fault {
    Fault::new(
        Code::RoomNotOwned,
        "You can manage only rooms that you made and have not closed. Check the room number or roomId.",
    )
}

/// `agentId` of a path. What is none belongs to nobody.
fn agent_id(text: &str, nobody: impl FnOnce() -> Fault) -> Result<AgentId, Fault> {
    AgentId::parse(text).ok_or_else(nobody)
}
