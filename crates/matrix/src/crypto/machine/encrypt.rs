//! Plain text in, ciphertext out.

use ruma::{RoomId, events::AnyMessageLikeEventContent, serde::Raw};
use serde_json::value::RawValue;

use super::{Machine, guarded};
use crate::{crypto::CryptoError, json::owned_object};

impl Machine {
    /// Encrypts an event's content for a room that [`Self::prepare`] has made ready: the content of an
    /// `m.room.encrypted` event. Commit before it is sent: a ratchet that goes back encrypts twice with the same key.
    ///
    /// `m.relates_to` stays readable for the homeserver, as the specification has it.
    ///
    /// # Errors
    /// [`CryptoError::NotPrepared`] where the room is not ready, or is not any more. Nothing is ever sent in the clear
    /// instead.
    pub async fn encrypt(
        &mut self,
        room: &RoomId,
        event_type: &str,
        content: &RawValue,
    ) -> Result<Box<RawValue>, CryptoError> {
        if !self.is_prepared(room) {
            return Err(CryptoError::NotPrepared);
        }
        let content = owned_object(content).ok_or(CryptoError::Sdk("the content is no object".into()))?;
        let content = Raw::<AnyMessageLikeEventContent>::from_json(content);
        let result = guarded(self.olm.encrypt_room_event_raw(room, event_type, &content)).await?;
        Ok(result.content.into_json())
    }

    /// Throws the room's key away; the next message is sent with a new one. For a person who left or was removed the
    /// SDK does so by itself when the key is shared next.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn renew_room_key(&mut self, room: &RoomId) -> Result<(), CryptoError> {
        self.prepared.remove(room);
        guarded(self.olm.discard_room_key(room)).await.map(drop)
    }
}
