//! Making a device, opening it again, and giving a new one the identity of the one before.

use std::sync::Arc;

use matrix_sdk_crypto::{
    Account, CrossSigningKeyExport, DeviceData, LocalTrust,
    olm::PickledAccount,
    store::{
        CryptoStore,
        types::{Changes, DeviceChanges, PendingChanges},
    },
    vodozemac,
};
use ruma::{MilliSecondsSinceUnixEpoch, OwnedUserId, TransactionId, UInt};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    DeviceAccount, Machine, Parts,
    receive::{ONE_TIME_KEYS, told},
};
use crate::crypto::{CryptoError, KeyCounts, Rows, SealingKey, request::Call, request::Outgoing};

/// Cross-signing seeds as they are sealed: unpadded base64 each.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
struct Seeds {
    master: String,
    self_signing: String,
    user_signing: String,
}

impl Machine {
    /// Opens a device that was made before. `counts` is what the homeserver said last, where that was kept.
    ///
    /// # Errors
    /// [`CryptoError::Lost`] where the database has no keys for it: the id must not be used again.
    pub async fn open(
        device: DeviceAccount,
        rows: Arc<dyn Rows>,
        sealing: SealingKey,
        counts: Option<KeyCounts>,
    ) -> Result<Self, CryptoError> {
        let parts = Parts::new(&device, rows, &sealing);
        if parts.store.load_account().await?.is_none() {
            return Err(CryptoError::Lost);
        }
        let machine = Self::assemble(device, parts, sealing).await?;
        Ok(Self { counts, ..machine })
    }

    /// Makes the keys of a device whose id was never used before. Commit them, then either carry [`Self::setup`] or,
    /// for a puppet that had a device, [`Self::query`] for itself and [`Self::adopt`].
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn create(
        device: DeviceAccount,
        rows: Arc<dyn Rows>,
        sealing: SealingKey,
        now_ms: i64,
    ) -> Result<Self, CryptoError> {
        let parts = Parts::new(&device, rows, &sealing);
        let account = new_account(&device, now_ms)?;
        let own = vec![DeviceData::from_account(&account)];
        let devices = DeviceChanges { new: own, ..DeviceChanges::default() };
        parts.store.save_pending_changes(PendingChanges { account: Some(account) }).await?;
        parts.store.save_changes(Changes { devices, ..Changes::default() }).await?;
        let machine = Self::assemble(device, parts, sealing).await?;
        if let Some(own) = machine.olm.get_device(machine.user_id(), machine.device_id(), None).await? {
            own.set_local_trust(LocalTrust::Verified).await?;
        }
        Ok(machine)
    }

    /// The three requests of a puppet's first device: its keys and its cross-signing keys, which need nothing of each other,
    /// and last the signatures, for which the homeserver has to have both. Makes the cross-signing identity the first time, and gives the same one again after a start in between.
    ///
    /// # Errors
    /// See [`CryptoError`].
    pub async fn setup(&mut self) -> Result<Vec<Outgoing>, CryptoError> {
        let requests = self.olm.bootstrap_cross_signing(false).await?;
        let mut all = vec![];
        if let Some(upload) = requests.upload_keys_req
            && let Some(call) = Call::from_sdk(upload.request())?
        {
            all.push(Outgoing { id: upload.request_id().to_owned(), call });
        }
        let signing = Call::signing_keys(&requests.upload_signing_keys_req)?;
        let signatures = Call::signatures(&requests.upload_signatures_req)?;
        all.extend([signing, signatures].map(|call| Outgoing { id: TransactionId::new(), call }));
        Ok(all)
    }

    /// Signs this device with the seeds of the puppet's device before it, so that people see the same puppet: requests to
    /// be carried in their order, the device's keys unless they are uploaded already, the signature, and a look at what
    /// has become of us. The keys bear the signature from the first, so that nobody sees the device without. Our own
    /// user's must have been queried before ([`Self::query`]).
    ///
    /// # Errors
    /// [`CryptoError::OtherIdentity`] where the homeserver shows another identity for this user, or none.
    pub async fn adopt(&mut self, sealed: &[u8]) -> Result<Vec<Outgoing>, CryptoError> {
        let mut seeds = self.open_seeds(sealed)?;
        let export = CrossSigningKeyExport {
            master_key: Some(std::mem::take(&mut seeds.master)),
            self_signing_key: Some(std::mem::take(&mut seeds.self_signing)),
            user_signing_key: Some(std::mem::take(&mut seeds.user_signing)),
        };
        let imported = self.olm.import_cross_signing_keys(export).await;
        if !imported.is_ok_and(|status| status.is_complete()) {
            return Err(CryptoError::OtherIdentity);
        }
        let own = self.olm.get_device(self.user_id(), self.device_id(), None).await?;
        let own = own.ok_or(CryptoError::Lost)?;
        let request = own.verify().await.map_err(|error| CryptoError::Sdk(error.to_string()))?;
        let signature = Call::signatures(&request)?;
        let signed = |upload: Outgoing| Some(Outgoing { call: upload.call.signed(&signature)?, ..upload });
        let mut all: Vec<_> = self.due().await?.into_iter().filter_map(signed).collect();
        all.push(Outgoing { id: TransactionId::new(), call: signature });
        all.push(self.query(self.user_id()));
        Ok(all)
    }

    /// The cross-signing seeds, sealed for this puppet. To be kept apart from the device's rows and with its first
    /// commit: without them a lost store shows people a changed identity.
    ///
    /// # Errors
    /// There is no identity yet, or the rows cannot be read.
    pub async fn sealed_seeds(&self) -> Result<Vec<u8>, CryptoError> {
        let mut export = self.olm.export_cross_signing_keys().await?.ok_or(CryptoError::OtherIdentity)?;
        let take = |seed: &mut Option<String>| seed.take().ok_or(CryptoError::OtherIdentity);
        let seeds = Seeds {
            master: take(&mut export.master_key)?,
            self_signing: take(&mut export.self_signing_key)?,
            user_signing: take(&mut export.user_signing_key)?,
        };
        let plain = serde_json::to_vec(&seeds).map(Zeroizing::new);
        let plain = plain.map_err(|_| CryptoError::Store("seeds cannot be written down".into()))?;
        Ok(self.sealing.seal(&seeds_place(&self.device.user_id), &plain))
    }

    fn open_seeds(&self, sealed: &[u8]) -> Result<Seeds, CryptoError> {
        let plain = self.sealing.open(&seeds_place(&self.device.user_id), sealed);
        let plain = plain.map_err(|error| CryptoError::Store(error.to_string()))?;
        serde_json::from_slice(&plain).map_err(|_| CryptoError::Store("the kept seeds cannot be read".into()))
    }

    /// Whether our own device is signed by our own identity, as far as this machine knows.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn is_cross_signed(&self) -> Result<bool, CryptoError> {
        let own = self.olm.get_device(self.user_id(), self.device_id(), None).await?;
        Ok(own.is_some_and(|device| device.is_cross_signed_by_owner()))
    }
}

fn seeds_place(user: &OwnedUserId) -> [&[u8]; 2] {
    [b"cross-signing seeds", user.as_bytes()]
}

/// An account with few one-time keys and a fallback key. The SDK's own has fifty: two hundred puppets in a room make
/// every transaction larger by the counts of all of them, and a puppet is asked for a key once per device of a person.
fn new_account(device: &DeviceAccount, now_ms: i64) -> Result<Account, CryptoError> {
    let mut olm = vodozemac::olm::Account::new();
    olm.generate_one_time_keys(ONE_TIME_KEYS);
    olm.generate_fallback_key();
    let now = MilliSecondsSinceUnixEpoch(UInt::new_saturating(u64::try_from(now_ms).unwrap_or(0)));
    let pickle = PickledAccount {
        user_id: device.user_id.clone(),
        device_id: device.device_id.clone(),
        pickle: olm.pickle(),
        shared: false,
        dehydrated: false,
        uploaded_signed_key_count: told(0),
        creation_local_time: now,
        fallback_key_creation_timestamp: Some(now),
    };
    Account::from_pickle(pickle).map_err(|_| CryptoError::Sdk("a new account cannot be made".into()))
}
