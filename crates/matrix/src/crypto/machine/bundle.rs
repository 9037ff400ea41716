//! A room's history, shared with a puppet that was invited (MSC4268).

use std::io::{Cursor, Read};

use matrix_sdk_crypto::{AttachmentDecryptor, types::room_history::RoomKeyBundle};
use ruma::{OwnedMxcUri, RoomId, UserId};

use super::{Machine, guarded};
use crate::crypto::CryptoError;

/// Where the keys of a room's history lie, encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    pub url: OwnedMxcUri,
}

impl Machine {
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
