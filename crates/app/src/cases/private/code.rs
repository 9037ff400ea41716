use std::sync::Arc;

use parlour_domain::{code::AgentCode, fault::Fault, ids::CatalogId};
use parlour_store::{NewCode, Who};

use crate::{
    app::App,
    caller::Caller,
    live::RoomLive,
    view::{Access, CodeState},
};

/// What a sealed code is sealed for, besides its room.
pub(super) const SEALED: &[u8] = b"agent code";

impl App {
    /// The code as it is now, and what to pass on.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn show_code(self: &Arc<Self>, caller: &Caller, room: &str) -> Result<Access, Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        let access = self.access(&room).await?;
        if matches!(access.code, CodeState::Visible(_)) {
            self.note_code_shown(&room, Who::Agent(caller.0.key())).await?;
        }
        Ok(access)
    }

    /// Noted down before it is shown.
    pub(crate) async fn note_code_shown(&self, room: &RoomLive, who: Who) -> Result<(), Fault> {
        let (key, by) = (room.key, self.by(who));
        Ok(self.store.write(move |tx| tx.code_shown(key, &by)).await?)
    }

    /// The same, with a code made first where there is none.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn show_or_make_code(self: &Arc<Self>, caller: &Caller, room: &str) -> Result<Access, Fault> {
        let shown = self.show_code(caller, room).await?;
        match shown.code {
            CodeState::Missing => self.replace_code(caller, room).await,
            CodeState::Visible(_) | CodeState::Hidden => Ok(shown),
        }
    }

    /// A new code; the one before opens nothing from here on.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn replace_code(self: &Arc<Self>, caller: &Caller, room: &str) -> Result<Access, Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        self.give_new_code(&room, Who::Agent(caller.0.key())).await?;
        self.access(&room).await
    }

    /// Without a code, agents can only knock. Switched off already: nothing changes.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn disable_code(self: &Arc<Self>, caller: &Caller, room: &str) -> Result<(), Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        self.take_code_away(&room, Who::Agent(caller.0.key())).await
    }

    pub(crate) async fn take_code_away(&self, room: &RoomLive, who: Who) -> Result<(), Fault> {
        let (key, by) = (room.key, self.by(who));
        Ok(self.store.write(move |tx| tx.drop_code(key, &by)).await?)
    }

    /// There is one from here on; where there was one, it stays.
    pub(crate) async fn make_sure_of_code(&self, room: &RoomLive, who: Who) -> Result<(), Fault> {
        match self.access(room).await?.code {
            CodeState::Missing => self.give_new_code(room, who).await,
            CodeState::Visible(_) | CodeState::Hidden => Ok(()),
        }
    }

    pub(crate) async fn give_new_code(&self, room: &RoomLive, who: Who) -> Result<(), Fault> {
        let (key, code, by) = (room.key, self.new_code(room.room().catalog_id), self.by(who));
        Ok(self.store.write(move |tx| tx.put_code(key, &code, &by)).await?)
    }

    /// A new code for the room with this number, as it is kept.
    pub(crate) fn new_code(&self, number: CatalogId) -> NewCode {
        let code = AgentCode::new(self.chance.bytes());
        NewCode {
            digest: self.code_digest(code),
            sealed: self.sealing.seal(&[SEALED, number.0.as_bytes()], &code.canonical()),
        }
    }
}
