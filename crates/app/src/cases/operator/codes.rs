use parlour_domain::{fault::Fault, room::RoomKind};
use parlour_store::Who;

use crate::{app::App, view::CodeSummary};

impl App {
    /// Open private rooms, oldest first, and whether a code opens them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn all_codes(&self) -> Result<Vec<CodeSummary>, Fault> {
        let mut rooms = self.rooms.all();
        rooms.retain(|room| room.kind() == RoomKind::Private && !room.closed());
        rooms.retain(|room| !self.bot.chats_in(room.key));
        rooms.sort_by_key(|room| room.key);
        let keys: Vec<_> = rooms.iter().map(|room| room.key).collect();
        let read = move |r: &parlour_store::Reader<'_>| {
            keys.iter().map(|key| Ok(r.room_code(*key)?.is_some())).collect()
        };
        let on: Vec<bool> = self.store.read(read).await?;
        Ok(rooms.iter().zip(on).map(|(room, on)| CodeSummary { room: room.room(), on }).collect())
    }

    /// No code opens the room any more. None did: nothing changes.
    ///
    /// # Errors
    /// `invalid_request`: no such room, or a lobby.
    pub async fn code_off(&self, named: &str) -> Result<CodeSummary, Fault> {
        let room = self.room_named(named)?;
        if room.kind() == RoomKind::Lobby {
            return Err(Fault::invalid(
                "room",
                "this is a lobby: it has no Agent code, parlour codes lists those that may",
            ));
        }
        tracing::info!(room = %room.room_id, "the operator switches an Agent code off");
        self.take_code_away(&room, Who::Operator).await?;
        Ok(CodeSummary { room: room.room(), on: false })
    }
}
