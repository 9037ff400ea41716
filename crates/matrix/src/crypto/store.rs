//! The SDK's store for one puppet, over rows of bytes.
//!
//! Nothing here writes to disk, see [`rows`](super::rows). What the SDK changes in one call is buffered in one step, so
//! that a batch taken between two calls holds whole changes only.

mod account;
mod changes;
mod people;
mod requests;
mod room_keys;
mod table;

use std::{collections::HashMap, fmt, sync::Arc};

use async_trait::async_trait;
use matrix_sdk_common::cross_process_lock::memory_store_helper::{Lease, try_take_leased_lock};
use matrix_sdk_crypto::{
    Account, DeviceData, GossipRequest, SecretInfo, Session, TrackedUser, UserIdentityData,
    olm::{
        Curve25519PublicKey, InboundGroupSession, OlmMessageHash, OutboundGroupSession,
        PrivateCrossSigningIdentity, SenderDataType, StaticAccountData,
    },
    store::{
        CryptoStore,
        types::{
            BackupKeys, Changes, DehydratedDeviceKey, PendingChanges, RoomKeyCounts, RoomKeyWithheldEntry,
            RoomPendingKeyBundleDetails, RoomSettings, StoredRoomKeyBundleData,
        },
    },
};
use parking_lot::{Mutex, RwLock};
use ruma::{
    DeviceId, OwnedDeviceId, OwnedRoomId, RoomId, TransactionId, UserId, events::secret::request::SecretName,
};
use zeroize::Zeroizing;

use self::{
    room_keys::Recent,
    table::{Kind, Outcome, Table, key, prefix},
};
use super::{
    rows::{Rows, WriteBuffer},
    sealing::SealingKey,
};

pub use table::CryptoRowError;

/// Kind and key of the row that a device has for a person whose devices it keeps track of: so the devices that have to
/// hear of a change are found without opening them.
#[must_use]
pub fn tracking_row(person: &UserId) -> (u8, Vec<u8>) {
    (Kind::TrackedUser as u8, person.as_bytes().to_vec())
}

/// Our own key of each room in use. Clones of a key share their state, so this is what the machine sees.
pub(super) type OwnRoomKeys = Arc<Mutex<HashMap<OwnedRoomId, OutboundGroupSession>>>;

/// Everything that the machine of one puppet's device keeps.
pub struct PuppetStore {
    table: Table,
    account: RwLock<Option<StaticAccountData>>,
    recent: Mutex<Recent>,
    outbound: OwnRoomKeys,
    /// One process has the database, so leases need not outlive it.
    leases: RwLock<HashMap<String, Lease>>,
}

impl PuppetStore {
    /// The store of this account (the device's number). Its writes go to `buffer`.
    #[must_use]
    pub fn new(account: i64, rows: Arc<dyn Rows>, buffer: Arc<WriteBuffer>, sealing: SealingKey) -> Self {
        Self {
            table: Table { rows, buffer, sealing, account },
            account: RwLock::default(),
            recent: Mutex::default(),
            outbound: OwnRoomKeys::default(),
            leases: RwLock::default(),
        }
    }

    pub(super) fn own_room_keys(&self) -> OwnRoomKeys {
        self.outbound.clone()
    }
}

impl fmt::Debug for PuppetStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PuppetStore({})", self.table.account)
    }
}

// A trait is implemented in one block: the work is in the files beside this one.
#[async_trait]
impl CryptoStore for PuppetStore {
    type Error = CryptoRowError;

    async fn load_account(&self) -> Outcome<Option<Account>> {
        self.account().await
    }

    async fn load_identity(&self) -> Outcome<Option<PrivateCrossSigningIdentity>> {
        self.identity().await
    }

    async fn save_changes(&self, changes: Changes) -> Outcome<()> {
        let rows = self.write_changes(&changes).await?;
        self.table.buffer.put(rows);
        Ok(())
    }

    async fn save_pending_changes(&self, changes: PendingChanges) -> Outcome<()> {
        changes.account.map_or(Ok(()), |account| self.put_account(&account))
    }

    async fn save_inbound_group_sessions(
        &self,
        sessions: Vec<InboundGroupSession>,
        _: Option<&str>,
    ) -> Outcome<()> {
        self.save_changes(Changes { inbound_group_sessions: sessions, ..Changes::default() }).await
    }

    async fn get_sessions(&self, sender_key: &str) -> Outcome<Option<Vec<Session>>> {
        self.olm_sessions(sender_key).await
    }

    async fn get_inbound_group_session(
        &self,
        room: &RoomId,
        session_id: &str,
    ) -> Outcome<Option<InboundGroupSession>> {
        self.inbound(room, session_id).await
    }

    async fn get_withheld_info(
        &self,
        room: &RoomId,
        session_id: &str,
    ) -> Outcome<Option<RoomKeyWithheldEntry>> {
        self.table.get(Kind::Withheld, &key(&[room.as_str()], session_id)).await
    }

    async fn get_withheld_sessions_by_room_id(&self, room: &RoomId) -> Outcome<Vec<RoomKeyWithheldEntry>> {
        self.table.all(Kind::Withheld, &prefix(&[room.as_str()])).await
    }

    async fn get_inbound_group_sessions(&self) -> Outcome<Vec<InboundGroupSession>> {
        self.inbound_all(b"").await
    }

    async fn inbound_group_session_counts(&self, _: Option<&str>) -> Outcome<RoomKeyCounts> {
        self.count_inbound().await
    }

    async fn get_inbound_group_sessions_by_room_id(
        &self,
        room: &RoomId,
    ) -> Outcome<Vec<InboundGroupSession>> {
        self.inbound_of_room(room).await
    }

    async fn get_inbound_group_sessions_for_device_batch(
        &self,
        sender: Curve25519PublicKey,
        sender_data: SenderDataType,
        after: Option<String>,
        limit: usize,
    ) -> Outcome<Vec<InboundGroupSession>> {
        self.inbound_of_sender(sender, sender_data, after, limit).await
    }

    async fn inbound_group_sessions_for_backup(
        &self,
        _: &str,
        limit: usize,
    ) -> Outcome<Vec<InboundGroupSession>> {
        self.inbound_not_backed_up(limit).await
    }

    async fn mark_inbound_group_sessions_as_backed_up(
        &self,
        _: &str,
        sessions: &[(&RoomId, &str)],
    ) -> Outcome<()> {
        for (room, id) in sessions {
            self.set_backed_up(key(&[room.as_str()], id), true).await?;
        }
        Ok(())
    }

    async fn reset_backup_state(&self) -> Outcome<()> {
        self.reset_backed_up().await
    }

    async fn load_backup_keys(&self) -> Outcome<BackupKeys> {
        self.backup_keys().await
    }

    async fn load_dehydrated_device_pickle_key(&self) -> Outcome<Option<DehydratedDeviceKey>> {
        self.dehydrated_key().await
    }

    async fn delete_dehydrated_device_pickle_key(&self) -> Outcome<()> {
        self.table.delete(Kind::DehydratedKey, vec![]);
        Ok(())
    }

    async fn get_outbound_group_session(&self, room: &RoomId) -> Outcome<Option<OutboundGroupSession>> {
        self.outbound(room).await
    }

    async fn load_tracked_users(&self) -> Outcome<Vec<TrackedUser>> {
        self.tracked_users().await
    }

    async fn save_tracked_users(&self, users: &[(&UserId, bool)]) -> Outcome<()> {
        self.put_tracked_users(users)
    }

    async fn get_device(&self, user: &UserId, device: &DeviceId) -> Outcome<Option<DeviceData>> {
        self.device(user, device).await
    }

    async fn get_user_devices(&self, user: &UserId) -> Outcome<HashMap<OwnedDeviceId, DeviceData>> {
        self.devices(user).await
    }

    async fn get_own_device(&self) -> Outcome<DeviceData> {
        self.own_device().await
    }

    async fn get_user_identity(&self, user: &UserId) -> Outcome<Option<UserIdentityData>> {
        self.user_identity(user).await
    }

    async fn is_message_known(&self, hash: &OlmMessageHash) -> Outcome<bool> {
        self.table.has(Kind::MessageHash, &key(&[&hash.sender_key], &hash.hash)).await
    }

    async fn get_outgoing_secret_requests(&self, id: &TransactionId) -> Outcome<Option<GossipRequest>> {
        self.request(id).await
    }

    async fn get_secret_request_by_info(&self, info: &SecretInfo) -> Outcome<Option<GossipRequest>> {
        self.request_by_info(info).await
    }

    async fn get_unsent_secret_requests(&self) -> Outcome<Vec<GossipRequest>> {
        self.unsent_requests().await
    }

    async fn delete_outgoing_secret_requests(&self, id: &TransactionId) -> Outcome<()> {
        self.table.delete(Kind::Request, id.as_bytes().to_vec());
        Ok(())
    }

    async fn get_secrets_from_inbox(&self, name: &SecretName) -> Outcome<Vec<Zeroizing<String>>> {
        self.secrets(name).await
    }

    async fn delete_secrets_from_inbox(&self, name: &SecretName) -> Outcome<()> {
        self.delete_secrets(name).await
    }

    async fn get_room_settings(&self, room: &RoomId) -> Outcome<Option<RoomSettings>> {
        self.table.get(Kind::RoomSettings, room.as_bytes()).await
    }

    async fn get_received_room_key_bundle_data(
        &self,
        room: &RoomId,
        user: &UserId,
    ) -> Outcome<Option<StoredRoomKeyBundleData>> {
        self.table.get(Kind::Bundle, &key(&[room.as_str()], user.as_str())).await
    }

    async fn get_pending_key_bundle_details_for_room(
        &self,
        room: &RoomId,
    ) -> Outcome<Option<RoomPendingKeyBundleDetails>> {
        self.table.get(Kind::BundlePending, room.as_bytes()).await
    }

    async fn get_all_rooms_pending_key_bundles(&self) -> Outcome<Vec<RoomPendingKeyBundleDetails>> {
        self.table.all(Kind::BundlePending, b"").await
    }

    async fn has_downloaded_all_room_keys(&self, room: &RoomId) -> Outcome<bool> {
        self.table.has(Kind::HistoryComplete, room.as_bytes()).await
    }

    async fn get_custom_value(&self, name: &str) -> Outcome<Option<Vec<u8>>> {
        self.table.get(Kind::Custom, name.as_bytes()).await
    }

    async fn set_custom_value(&self, name: &str, value: Vec<u8>) -> Outcome<()> {
        self.table.put(Kind::Custom, name.as_bytes().to_vec(), &value)
    }

    async fn remove_custom_value(&self, name: &str) -> Outcome<()> {
        self.table.delete(Kind::Custom, name.as_bytes().to_vec());
        Ok(())
    }

    async fn try_take_leased_lock(&self, duration_ms: u32, name: &str, holder: &str) -> Outcome<Option<u64>> {
        Ok(try_take_leased_lock(&mut self.leases.write(), duration_ms, name, holder))
    }

    async fn next_batch_token(&self) -> Outcome<Option<String>> {
        self.table.get(Kind::NextBatch, b"").await
    }

    /// The rows are not ours to close.
    async fn close(&self) -> Outcome<()> {
        Ok(())
    }

    async fn reopen(&self) -> Outcome<()> {
        Ok(())
    }

    async fn get_size(&self) -> Outcome<Option<usize>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
