//! Other people: their devices, identities and Olm sessions, and whom we keep track of.

use std::collections::HashMap;

use matrix_sdk_crypto::{
    DeviceData, Session, TrackedUser, UserIdentityData,
    olm::PickledSession,
    store::types::{DeviceChanges, IdentityChanges},
};
use ruma::{DeviceId, OwnedDeviceId, UserId};

use super::{
    PuppetStore,
    table::{CryptoRowError, Kind, Outcome, erase, key, prefix},
};
use crate::crypto::rows::RowWrite;

impl PuppetStore {
    pub(super) async fn device(&self, user: &UserId, device: &DeviceId) -> Outcome<Option<DeviceData>> {
        self.table.get(Kind::Device, &key(&[user.as_str()], device.as_str())).await
    }

    pub(super) async fn devices(&self, user: &UserId) -> Outcome<HashMap<OwnedDeviceId, DeviceData>> {
        let devices: Vec<DeviceData> = self.table.all(Kind::Device, &prefix(&[user.as_str()])).await?;
        Ok(devices.into_iter().map(|device| (device.device_id().to_owned(), device)).collect())
    }

    pub(super) async fn own_device(&self) -> Outcome<DeviceData> {
        let account = self.static_account()?;
        self.device(&account.user_id, &account.device_id).await?.ok_or(CryptoRowError::NoAccount)
    }

    pub(super) fn write_devices(&self, changes: &DeviceChanges) -> Outcome<Vec<RowWrite>> {
        let place = |device: &DeviceData| key(&[device.user_id().as_str()], device.device_id().as_str());
        let kept = changes.new.iter().chain(&changes.changed);
        let mut rows: Vec<_> = kept
            .map(|device| self.table.write(Kind::Device, place(device), device))
            .collect::<Outcome<_>>()?;
        rows.extend(changes.deleted.iter().map(|device| erase(Kind::Device, place(device))));
        Ok(rows)
    }

    pub(super) async fn user_identity(&self, user: &UserId) -> Outcome<Option<UserIdentityData>> {
        self.table.get(Kind::UserIdentity, user.as_bytes()).await
    }

    pub(super) fn write_identities(&self, changes: &IdentityChanges) -> Outcome<Vec<RowWrite>> {
        let kept = changes.changed.iter().chain(&changes.new);
        kept.map(|i| self.table.write(Kind::UserIdentity, i.user_id().as_bytes().to_vec(), i)).collect()
    }

    pub(super) async fn tracked_users(&self) -> Outcome<Vec<TrackedUser>> {
        self.table.all(Kind::TrackedUser, b"").await
    }

    pub(super) fn put_tracked_users(&self, users: &[(&UserId, bool)]) -> Outcome<()> {
        let row = |(user, dirty): &(&UserId, bool)| {
            let tracked = TrackedUser { user_id: (*user).to_owned(), dirty: *dirty };
            self.table.write(Kind::TrackedUser, user.as_bytes().to_vec(), &tracked)
        };
        self.table.buffer.put(users.iter().map(row).collect::<Outcome<Vec<_>>>()?);
        Ok(())
    }

    /// `None` where there is not one session.
    pub(super) async fn olm_sessions(&self, sender_key: &str) -> Outcome<Option<Vec<Session>>> {
        let pickles: Vec<PickledSession> = self.table.all(Kind::Session, &prefix(&[sender_key])).await?;
        if pickles.is_empty() {
            return Ok(None);
        }
        let own = self.own_device().await?.as_device_keys().clone();
        let unpickle = |pickle| {
            Session::from_pickle(own.clone(), pickle).map_err(|_| CryptoRowError::Unreadable("Olm session"))
        };
        pickles.into_iter().map(unpickle).collect::<Outcome<Vec<_>>>().map(Some)
    }

    pub(super) async fn write_olm_session(&self, session: &Session) -> Outcome<RowWrite> {
        let row = key(&[&session.sender_key().to_base64()], session.session_id());
        self.table.write(Kind::Session, row, &session.pickle().await)
    }
}
