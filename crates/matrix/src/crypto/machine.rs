//! One puppet's device: an OlmMachine of the SDK, and what it takes to drive it.

mod bundle;
mod create;
mod decrypt;
mod encrypt;
mod exchange;
mod inherit;
mod prepare;
mod reach;
mod receive;

use std::{collections::HashMap, fmt, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use matrix_sdk_crypto::{DecryptionSettings, OlmMachine, TrustRequirement};
use ruma::{DeviceId, OwnedDeviceId, OwnedRoomId, OwnedUserId, UserId};

use self::prepare::Prepared;
use super::{
    CryptoError, KeyCounts, Rows, SealingKey, WriteBuffer, Writes,
    store::{OwnRoomKeys, PuppetStore},
};

pub use bundle::Bundle;
pub use decrypt::{Decrypted, SenderTrust, Undecryptable, session_place};
pub use prepare::{Preparation, Sharing, Trust};
pub use receive::{Received, RoomKey};

/// Which device, and where its rows are.
#[derive(Clone, Debug)]
pub struct DeviceAccount {
    /// The device's number in the database.
    pub account: i64,
    pub user_id: OwnedUserId,
    pub device_id: OwnedDeviceId,
}

/// A puppet's device at work. See the [module](super) for the order of calls.
pub struct Machine {
    device: DeviceAccount,
    olm: OlmMachine,
    buffer: Arc<WriteBuffer>,
    sealing: SealingKey,
    own_room_keys: OwnRoomKeys,
    /// Rooms whose key everybody has who should.
    prepared: HashMap<OwnedRoomId, Prepared>,
    /// Counts up whenever somebody's devices may have changed.
    generation: u64,
    /// What the homeserver said last.
    counts: Option<KeyCounts>,
}

/// The SDK's store and what is left in our hands of it.
struct Parts {
    store: PuppetStore,
    buffer: Arc<WriteBuffer>,
}

impl Parts {
    fn new(device: &DeviceAccount, rows: Arc<dyn Rows>, sealing: &SealingKey) -> Self {
        let buffer = Arc::<WriteBuffer>::default();
        Self { store: PuppetStore::new(device.account, rows, buffer.clone(), sealing.clone()), buffer }
    }
}

impl Machine {
    async fn assemble(device: DeviceAccount, parts: Parts, sealing: SealingKey) -> Result<Self, CryptoError> {
        let own_room_keys = parts.store.own_room_keys();
        let olm = OlmMachine::with_store(&device.user_id, &device.device_id, parts.store, None).await?;
        Ok(Self {
            device,
            olm,
            buffer: parts.buffer,
            sealing,
            own_room_keys,
            prepared: HashMap::new(),
            generation: 0,
            counts: None,
        })
    }

    #[must_use]
    pub fn user_id(&self) -> &UserId {
        &self.device.user_id
    }

    #[must_use]
    pub fn device_id(&self) -> &DeviceId {
        &self.device.device_id
    }

    /// The device's number in the database.
    #[must_use]
    pub fn account(&self) -> i64 {
        self.device.account
    }

    /// What the homeserver said last about the keys it has left.
    #[must_use]
    pub fn counts(&self) -> Option<KeyCounts> {
        self.counts
    }

    /// What has changed since the last call, to be committed before anything of it is acted upon: a request that was
    /// made, a ciphertext, a room key that was received.
    pub fn take_writes(&mut self) -> Writes {
        self.buffer.take(self.device.account)
    }

    /// These writes are on disk. Where they could not be written, drop the machine instead.
    pub fn committed(&mut self, ticket: u64) {
        self.buffer.committed(ticket);
    }

    /// Whether everything is on disk, so that the machine can be let go and opened again later.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.buffer.is_empty()
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machine({} {})", self.device.user_id, self.device.device_id)
    }
}

/// Nobody verifies anybody by hand here: what we make of a sender's trust is told along with the message.
fn decryption_settings() -> DecryptionSettings {
    DecryptionSettings { sender_device_trust_requirement: TrustRequirement::Untrusted }
}

/// Turns a panic of the SDK into an error: one odd event must not take the bridge along. The SDK asserts some things
/// that depend on the clock, which no check beforehand can rule out.
async fn guarded<T, E: Into<CryptoError>>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, CryptoError> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(CryptoError::Panicked),
    }
}

#[cfg(test)]
mod tests;
