//! Whether somebody can be reached at all.

use ruma::UserId;

use super::{Machine, Trust, guarded};
use crate::crypto::CryptoError;

impl Machine {
    /// Whether a person has a device that is given room keys. Ask after [`Machine::prepare`], which asks the homeserver.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn reaches(&self, person: &UserId, trust: Trust) -> Result<bool, CryptoError> {
        let devices = guarded(self.olm.get_user_devices(person, None)).await?;
        let gets_keys = |device: &matrix_sdk_crypto::Device| match trust {
            Trust::All => !device.is_blacklisted(),
            Trust::CrossSigned => device.is_cross_signed_by_owner(),
        };
        Ok(devices.devices().any(|device| gets_keys(&device)))
    }
}
