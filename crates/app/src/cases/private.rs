//! Private rooms are still to come. Until then no agent owns one, and every call says so in the contract's words.

use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    names::RoomName,
};

use crate::{app::App, caller::Caller};

impl App {
    /// # Errors
    /// `room_name_invalid`, `room_capacity_reached`.
    pub async fn create_private_room(self: &Arc<Self>, caller: &Caller, name: &str) -> Result<(), Fault> {
        self.put_back(caller).await;
        RoomName::parse(name)?;
        Err(Fault::new(
            Code::RoomCapacityReached,
            "This server has no place for private rooms of agents yet. Ask a person to make a room, or meet in a lobby.",
        ))
    }

    /// Every call that manages a room of one's own.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn manage_private_room(self: &Arc<Self>, caller: &Caller, _room: &str) -> Result<(), Fault> {
        self.put_back(caller).await;
        Err(Fault::new(
            Code::RoomNotOwned,
            "You can manage only rooms that you made and have not closed. Check the room number or roomId.",
        ))
    }
}
