//! Whether anything can be said in an encrypted room: asked before anything else about a message is looked at.

use std::sync::Arc;

use parlour_domain::fault::Fault;
use ruma::UserId;

use crate::{app::App, devices::DeviceError, live::RoomLive};

impl App {
    /// Where the room may be encrypted: its state is read, the puppet has a device, and the room's way of encryption is
    /// one that we speak.
    ///
    /// # Errors
    /// `dependency_unavailable`: nothing falls back to plain text.
    pub(crate) async fn ready_to_encrypt(
        self: &Arc<Self>,
        user: &UserId,
        room: &Arc<RoomLive>,
    ) -> Result<(), Fault> {
        if !room.may_be_encrypted() || self.is_ready(user, room) {
            return Ok(());
        }
        let (app, user, room) = (self.clone(), user.to_owned(), room.clone());
        let readied = async move {
            let ready = app.get_ready(&user, &room).await;
            ready.map_err(|error| app.device_fault(error))
        };
        self.to_the_end(readied, |_, ()| {}).await
    }

    /// From memory.
    fn is_ready(&self, user: &UserId, room: &RoomLive) -> bool {
        let device = self.keyring.with_device(user).is_some_and(|slot| slot.is_live());
        device && room.state_read() && room.encryption().is_some_and(|way| self.speaks(&way, room).is_ok())
    }

    async fn get_ready(&self, user: &UserId, room: &Arc<RoomLive>) -> Result<(), DeviceError> {
        if !room.state_read()
            && let Err(error) = self.survey(room, user).await
        {
            tracing::info!(%error, room = %room.room_id, "cannot read a room's state yet");
            return Err(DeviceError::StateUnknown);
        }
        if !room.may_be_encrypted() {
            return Ok(());
        }
        let slot = self.ensure_device(user).await?;
        let way = self.encryption_of(&slot, room).await?;
        self.speaks(&way, room)
    }
}
