//! Ciphertext in, plain text out, and what is known of whom it is from.

use matrix_sdk_common::deserialized_responses::{
    DeviceLinkProblem, EncryptionInfo, VerificationLevel, VerificationState,
};
use matrix_sdk_crypto::{
    MegolmError,
    types::events::room::encrypted::{EncryptedEvent, RoomEventEncryptionScheme},
    vodozemac::megolm::DecryptionError,
};
use ruma::{OwnedDeviceId, OwnedUserId, RoomId, serde::Raw};
use serde_json::value::RawValue;

use super::{Machine, decryption_settings, guarded};
use crate::crypto::CryptoError;

/// A decrypted event.
#[derive(Clone)]
pub struct Decrypted {
    /// The whole event with its inner type and content, and the outer event id, sender and time.
    pub event: Box<RawValue>,
    pub sender_device: Option<OwnedDeviceId>,
    pub trust: SenderTrust,
    pub session_id: String,
    /// Place in the session. The same place twice under two event ids is a replay.
    pub message_index: u32,
    /// Who passed the key on, where it came with a room's history (MSC4268).
    pub forwarder: Option<OwnedUserId>,
}

impl std::fmt::Debug for Decrypted {
    // without the text
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decrypted({} #{}, {:?})", self.session_id, self.message_index, self.trust)
    }
}

/// What is known of the device that an event comes from, as clients show it by a shield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderTrust {
    /// Signed by its owner: no shield in ordinary clients. We verify nobody by hand, so there is no more than this.
    CrossSigned,
    /// Signed by its owner, whose identity changed after it had been verified.
    IdentityChanged,
    /// Not signed by its owner.
    UnsignedDevice,
    /// Deleted since, or not seen yet.
    UnknownDevice,
    /// The key came by a way that does not prove whose it is.
    UnprovenKey,
}

/// Why an event cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Undecryptable {
    /// The key has not come, or only a later stretch of it. It may still come. `withheld` is the code with which the
    /// sender refused it (`m.unverified`, for instance).
    #[error("the room key is missing")]
    MissingKey { withheld: Option<String> },
    /// The event says another sender than the key: forged.
    #[error("the event's sender is not the owner of its key")]
    Forged,
    /// No key will help.
    #[error("the event is malformed or damaged")]
    Broken,
    /// Not the event's fault.
    #[error(transparent)]
    Machine(#[from] CryptoError),
}

impl Machine {
    /// Decrypts an `m.room.encrypted` event of a room.
    ///
    /// # Errors
    /// See [`Undecryptable`].
    pub async fn decrypt(&self, event: &RawValue, room: &RoomId) -> Result<Decrypted, Undecryptable> {
        let raw = Raw::<EncryptedEvent>::from_json(event.to_owned());
        let message_index = message_index(&raw).ok_or(Undecryptable::Broken)?;
        let settings = decryption_settings();
        let work = async {
            // nested, so that the SDK's reasons and its panics stay apart
            Ok::<_, CryptoError>(self.olm.decrypt_room_event(&raw, room, &settings).await)
        };
        let decrypted = guarded(work).await?.map_err(Undecryptable::from)?;
        metrics::counter!("parlour_decryptions_total").increment(1);
        let info = &decrypted.encryption_info;
        Ok(Decrypted {
            event: decrypted.event.into_json(),
            sender_device: info.sender_device.clone(),
            trust: trust(info).ok_or(Undecryptable::Forged)?,
            session_id: info.session_id().unwrap_or_default().to_owned(),
            message_index,
            forwarder: info.forwarder.as_ref().map(|forwarder| forwarder.user_id.clone()),
        })
    }

    /// Whether this machine holds the key of an event, without decrypting it: whether this puppet may be given what
    /// another one has read.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn can_read(&self, event: &RawValue, room: &RoomId) -> Result<bool, CryptoError> {
        let raw = Raw::<EncryptedEvent>::from_json(event.to_owned());
        if message_index(&raw).is_none() {
            return Ok(false);
        }
        guarded(self.olm.is_room_key_available(&raw, room)).await
    }
}

/// The session with which an `m.room.encrypted` event of a room was encrypted, and its place in that.
#[must_use]
pub fn session_place(event: &RawValue) -> Option<(String, u32)> {
    let raw = Raw::<EncryptedEvent>::from_json(event.to_owned());
    match raw.deserialize().ok()?.content.scheme {
        RoomEventEncryptionScheme::MegolmV1AesSha2(content) => {
            Some((content.session_id, content.ciphertext.message_index()))
        }
        _ => None,
    }
}

/// `None`: not one of ours to read.
fn message_index(event: &Raw<EncryptedEvent>) -> Option<u32> {
    match event.deserialize().ok()?.content.scheme {
        RoomEventEncryptionScheme::MegolmV1AesSha2(content) => Some(content.ciphertext.message_index()),
        _ => None,
    }
}

/// `None`: forged.
fn trust(info: &EncryptionInfo) -> Option<SenderTrust> {
    let level = match &info.verification_state {
        VerificationState::Verified => return Some(SenderTrust::CrossSigned),
        VerificationState::Unverified(level) => level,
    };
    Some(match level {
        VerificationLevel::UnverifiedIdentity => SenderTrust::CrossSigned,
        VerificationLevel::VerificationViolation => SenderTrust::IdentityChanged,
        VerificationLevel::UnsignedDevice => SenderTrust::UnsignedDevice,
        VerificationLevel::None(DeviceLinkProblem::MissingDevice) => SenderTrust::UnknownDevice,
        VerificationLevel::None(DeviceLinkProblem::InsecureSource) => SenderTrust::UnprovenKey,
        VerificationLevel::MismatchedSender => return None,
    })
}

impl From<MegolmError> for Undecryptable {
    fn from(error: MegolmError) -> Self {
        match error {
            MegolmError::MissingRoomKey(code) => {
                Self::MissingKey { withheld: code.map(|code| code.to_string()) }
            }
            MegolmError::Decryption(DecryptionError::UnknownMessageIndex(..)) => {
                Self::MissingKey { withheld: None }
            }
            MegolmError::Store(error) => Self::Machine(error.into()),
            _ => Self::Broken,
        }
    }
}
