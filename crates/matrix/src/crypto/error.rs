use matrix_sdk_crypto::{CryptoStoreError, MegolmError, OlmError};

/// What can go wrong with a machine. Names users and devices at the most, no key and no text.
#[derive(Debug, thiserror::Error)]
pub enum CryptoError {
    /// The database has no keys for this device: it was restored from before the device was made, or lost. The device
    /// id is burnt; the puppet needs a new one, with the seeds it had.
    #[error("the keys of this device are not in the database; the puppet needs a new device")]
    Lost,
    /// The seeds are not those of the identity that the homeserver shows for this user.
    #[error("the kept cross-signing seeds are not those of the identity on the homeserver")]
    OtherIdentity,
    /// There is no shared room key, or it has expired, or the room's devices changed meanwhile: prepare the room again.
    #[error("the room's key is not shared with everybody yet")]
    NotPrepared,
    /// The room asks for an algorithm that Parlour does not speak.
    #[error("the room is encrypted in a way that is not supported")]
    Algorithm,
    /// A success whose body is not as the specification says, or signatures that were not taken.
    #[error("the homeserver's answer to a key request is not as expected")]
    Answer,
    /// State could not be read or written. What the machine holds in memory is in doubt: drop it and open it anew.
    #[error("crypto state: {0}")]
    Store(String),
    /// The SDK refused, for a reason of its own.
    #[error("encryption: {0}")]
    Sdk(String),
    /// The SDK panicked. As with [`Self::Store`], drop the machine and open it anew.
    #[error("the encryption library failed inside")]
    Panicked,
}

impl CryptoError {
    /// Whether the machine must be dropped and opened anew from disk.
    #[must_use]
    pub fn spoils_the_machine(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Panicked)
    }

    /// Whether it comes of what the SDK was given: the same again would fail again.
    #[must_use]
    pub fn is_poison(&self) -> bool {
        matches!(self, Self::Sdk(_) | Self::Panicked)
    }
}

impl From<CryptoStoreError> for CryptoError {
    fn from(error: CryptoStoreError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<super::CryptoRowError> for CryptoError {
    fn from(error: super::CryptoRowError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<OlmError> for CryptoError {
    fn from(error: OlmError) -> Self {
        match error {
            OlmError::Store(error) => error.into(),
            error => Self::Sdk(error.to_string()),
        }
    }
}

impl From<MegolmError> for CryptoError {
    fn from(error: MegolmError) -> Self {
        match error {
            MegolmError::Store(error) => error.into(),
            error => Self::Sdk(error.to_string()),
        }
    }
}
