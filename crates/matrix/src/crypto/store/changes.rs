//! One set of changes of the SDK as rows.

use matrix_sdk_crypto::store::types::Changes;

use super::{
    PuppetStore,
    table::{Kind, Outcome, erase, key},
};
use crate::crypto::rows::RowWrite;

impl PuppetStore {
    pub(super) async fn write_changes(&self, changes: &Changes) -> Outcome<Vec<RowWrite>> {
        let mut rows = self.write_own(changes).await?;
        for session in &changes.sessions {
            rows.push(self.write_olm_session(session).await?);
        }
        for session in &changes.inbound_group_sessions {
            rows.extend(self.write_inbound(session).await?);
        }
        for session in &changes.outbound_group_sessions {
            rows.push(self.write_outbound(session).await?);
        }
        rows.extend(self.write_devices(&changes.devices)?);
        rows.extend(self.write_identities(&changes.identities)?);
        rows.extend(self.write_requests(&changes.key_requests)?);
        rows.extend(self.write_secrets(&changes.secrets).await?);
        rows.extend(self.write_of_rooms(changes)?);
        for hash in &changes.message_hashes {
            rows.push(self.table.write(Kind::MessageHash, key(&[&hash.sender_key], &hash.hash), &())?);
        }
        Ok(rows)
    }

    /// What there is once per account.
    async fn write_own(&self, changes: &Changes) -> Outcome<Vec<RowWrite>> {
        let mut rows = vec![];
        if let Some(identity) = &changes.private_identity {
            rows.push(self.table.write(Kind::Identity, vec![], &identity.pickle().await)?);
        }
        if let Some(key) = &changes.backup_decryption_key {
            rows.push(self.table.write(Kind::BackupKey, vec![], key)?);
        }
        if let Some(version) = &changes.backup_version {
            rows.push(self.table.write(Kind::BackupVersion, vec![], version)?);
        }
        if let Some(key) = &changes.dehydrated_device_pickle_key {
            rows.push(self.table.write(Kind::DehydratedKey, vec![], key)?);
        }
        if let Some(token) = &changes.next_batch_token {
            rows.push(self.table.write(Kind::NextBatch, vec![], token)?);
        }
        Ok(rows)
    }

    fn write_of_rooms(&self, changes: &Changes) -> Outcome<Vec<RowWrite>> {
        let mut rows = vec![];
        for (room, sessions) in &changes.withheld_session_info {
            for (id, entry) in sessions {
                rows.push(self.table.write(Kind::Withheld, key(&[room.as_str()], id), entry)?);
            }
        }
        for (room, settings) in &changes.room_settings {
            rows.push(self.table.write(Kind::RoomSettings, room.as_bytes().to_vec(), settings)?);
        }
        for bundle in &changes.received_room_key_bundles {
            let row = key(&[bundle.bundle_data.room_id.as_str()], bundle.sender_user.as_str());
            rows.push(self.table.write(Kind::Bundle, row, bundle)?);
        }
        for (room, pending) in &changes.rooms_pending_key_bundle {
            let row = room.as_bytes().to_vec();
            rows.push(match pending {
                Some(details) => self.table.write(Kind::BundlePending, row, details)?,
                None => erase(Kind::BundlePending, row),
            });
        }
        for room in &changes.room_key_backups_fully_downloaded {
            rows.push(self.table.write(Kind::HistoryComplete, room.as_bytes().to_vec(), &())?);
        }
        Ok(rows)
    }
}
