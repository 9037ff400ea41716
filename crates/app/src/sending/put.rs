use std::time::Duration;

use parlour_matrix::HsError;
use ruma::{OwnedEventId, UserId};
use serde_json::value::RawValue;

use crate::{app::App, live::RoomLive};

/// How long the homeserver may take over one send.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) const MESSAGE: &str = "m.room.message";
pub(crate) const ENCRYPTED: &str = "m.room.encrypted";

/// An event on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) event_type: &'a str,
    pub(crate) content: &'a str,
    pub(crate) send_txn_id: &'a str,
}

impl App {
    /// Sends an event as a user of ours; encrypted, in the name of their device. One that the homeserver does not know
    /// any more is made anew.
    pub(crate) async fn put_event(
        &self,
        user: &UserId,
        room: &RoomLive,
        event: Outgoing<'_>,
    ) -> Result<OwnedEventId, HsError> {
        let content: &RawValue =
            serde_json::from_str(event.content).map_err(|e| HsError::NotSent(e.to_string()))?;
        let slot = (event.event_type == ENCRYPTED).then(|| self.keyring.with_device(user)).flatten();
        let device = slot.as_ref().and_then(|slot| slot.device());
        let device_id = device.as_ref().map(|device| &*device.device_id);
        let (event_type, id) = (event.event_type, event.send_txn_id);
        let sent = self.client.send(user, device_id, &room.room_id, event_type, id, content, TIMEOUT).await;
        if let (Err(error), Some(slot)) = (&sent, &slot) {
            self.device_refused(slot, error).await;
        }
        sent
    }
}
