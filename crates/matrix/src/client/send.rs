//! Sending into a room.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use ruma::{DeviceId, OwnedEventId, RoomId, UserId};
use serde_json::value::RawValue;

use super::{
    Client, HsError,
    request::{Request, V3},
    room::EventIdAnswer,
};

impl Client {
    /// Sends an event; the same `send_txn_id` again gives the same event, as long as the homeserver remembers it.
    ///
    /// Synapse keeps that memory by path and appservice, not by user, and loses it at a restart unless a device is
    /// named: so prefix the id with the puppet, and give its device where it has one.
    ///
    /// # Errors
    /// See [`HsError`]. Dropping the future after it began is an unknown outcome too.
    #[allow(clippy::too_many_arguments)]
    pub async fn send(
        &self,
        user: &UserId,
        device: Option<&DeviceId>,
        room: &RoomId,
        event_type: &str,
        send_txn_id: &str,
        content: &RawValue,
        timeout: Duration,
    ) -> Result<OwnedEventId, HsError> {
        let request = self.send_request(room, event_type, send_txn_id).by(user).on(device);
        let body = Bytes::copy_from_slice(content.get().as_bytes());
        let answer: EventIdAnswer = request.bytes(body).timeout(timeout).call().await?;
        Ok(answer.event_id)
    }

    fn send_request(&self, room: &RoomId, event_type: &str, send_txn_id: &str) -> Request<'_> {
        let path = ["rooms", room.as_str(), "send", event_type, send_txn_id];
        self.request("send", Method::PUT, V3, &path)
    }
}
