//! A room's history, shared with a puppet that was invited (MSC4268).

use std::io::{Cursor, Read};

use matrix_sdk_crypto::{AttachmentDecryptor, types::room_history::RoomKeyBundle};
use ruma::{OwnedMxcUri, OwnedRoomId, OwnedUserId, RoomId, UserId};

use super::{Machine, RoomKey, guarded};
use crate::crypto::CryptoError;

/// Where the keys of a room's history lie, encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    pub url: OwnedMxcUri,
}

impl Machine {
    /// The puppet has followed somebody's invitation: from now on, and over restarts, their word of the room's history
    /// is believed, and nobody else's, until [`Self::expect_no_bundle`].
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn expect_bundle(&mut self, room: &RoomId, inviter: &UserId) -> Result<(), CryptoError> {
        guarded(self.olm.store().store_room_pending_key_bundle(room, inviter)).await
    }

    /// The history was taken in, or is not wanted any more.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn expect_no_bundle(&mut self, room: &RoomId) -> Result<(), CryptoError> {
        guarded(self.olm.store().clear_room_pending_key_bundle(room)).await
    }

    /// Rooms whose history is expected, and who invited the puppet into each.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn expected_bundles(&self) -> Result<Vec<(OwnedRoomId, OwnedUserId)>, CryptoError> {
        let expected = self.olm.store().get_all_rooms_pending_key_bundles().await?;
        Ok(expected.into_iter().map(|details| (details.room_id, details.inviter)).collect())
    }

    /// All room keys of a room that the machine has.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn room_keys_of(&self, room: &RoomId) -> Result<Vec<RoomKey>, CryptoError> {
        let sessions = self.olm.store().get_inbound_group_sessions_by_room_id(room).await?;
        let key = |session_id: &str| RoomKey { room_id: room.to_owned(), session_id: session_id.to_owned() };
        Ok(sessions.iter().map(|session| key(session.session_id())).collect())
    }

    /// From which message on the machine can read a session.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn first_index(&self, key: &RoomKey) -> Result<Option<u32>, CryptoError> {
        let session = self.olm.store().get_inbound_group_session(&key.room_id, &key.session_id).await?;
        Ok(session.map(|session| session.first_known_index()))
    }

    /// What `inviter` last sent word of for this room. Accept it only from whoever invited the puppet.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn bundle(&self, room: &RoomId, inviter: &UserId) -> Result<Option<Bundle>, CryptoError> {
        let found = self.olm.store().get_received_room_key_bundle_data(room, inviter).await?;
        Ok(found.map(|data| Bundle { url: data.bundle_data.file.url }))
    }

    /// Imports a downloaded bundle; how many room keys of the room the machine has now that it had not before. Query
    /// the inviter first ([`Self::query`]): only a signed device is believed.
    ///
    /// # Errors
    /// [`CryptoError::Answer`] where the file is not what was announced.
    pub async fn import_bundle(
        &mut self,
        room: &RoomId,
        inviter: &UserId,
        file: Vec<u8>,
    ) -> Result<usize, CryptoError> {
        let data = self.olm.store().get_received_room_key_bundle_data(room, inviter).await?;
        let Some(data) = data else { return Ok(0) };
        let mut file = Cursor::new(file);
        let info = data.bundle_data.file.clone().into();
        let mut plain = zeroize::Zeroizing::new(vec![]);
        let mut decryptor = AttachmentDecryptor::new(&mut file, info).map_err(|_| CryptoError::Answer)?;
        decryptor.read_to_end(&mut plain).map_err(|_| CryptoError::Answer)?;
        let bundle: RoomKeyBundle = serde_json::from_slice(&plain).map_err(|_| CryptoError::Answer)?;
        let before = self.keys_of(room).await?;
        guarded(self.olm.store().receive_room_key_bundle(&data, bundle, |_, _| {})).await?;
        Ok(self.keys_of(room).await?.saturating_sub(before))
    }

    async fn keys_of(&self, room: &RoomId) -> Result<usize, CryptoError> {
        Ok(self.olm.store().get_inbound_group_sessions_by_room_id(room).await?.len())
    }
}
