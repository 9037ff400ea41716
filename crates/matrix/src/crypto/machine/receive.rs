//! What the homeserver tells a device: to-device messages, changed devices of others, keys that are left.

use std::collections::HashSet;

use matrix_sdk_common::deserialized_responses::ProcessedToDeviceEvent;
use matrix_sdk_crypto::EncryptionSyncChanges;
use ruma::{
    OneTimeKeyAlgorithm, OwnedRoomId, OwnedUserId, api::client::sync::sync_events::DeviceLists, serde::Raw,
};

use super::{Machine, decryption_settings, guarded};
use crate::{
    crypto::{CryptoError, DeviceNews, KeyCounts, answer},
    json::Fields,
};

/// One-time keys that a device keeps on the homeserver.
pub(super) const ONE_TIME_KEYS: usize = 5;
/// With so many left or fewer, new ones are uploaded.
const FEW: u64 = 2;
/// As many as the SDK wants to have up there.
const SDK_WANTS: u64 = 50;

/// A room key that came in: events encrypted with it can be read now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoomKey {
    pub room_id: OwnedRoomId,
    pub session_id: String,
}

/// What came of what a device was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// New room keys, and better versions of known ones.
    pub room_keys: Vec<RoomKey>,
    /// Word of a room's history, by room and who shared it; see [`Machine::bundle`].
    pub bundles: Vec<(OwnedRoomId, OwnedUserId)>,
    /// Messages that could not be decrypted, and those that were had before (pushed and pulled, for instance). Where a
    /// session is broken, the SDK starts a new one by itself.
    pub unreadable: usize,
    /// Nothing was new, nothing has changed, nothing is to be committed or sent.
    pub nothing_new: bool,
}

/// What the SDK is told about keys that are left: it always wants fifty, so that many are feigned but for those that we
/// want ourselves.
pub(super) fn told(left: u64) -> u64 {
    if left > FEW { SDK_WANTS } else { SDK_WANTS - ONE_TIME_KEYS as u64 + left }
}

impl Machine {
    /// Takes news in. Commit what [`Self::take_writes`] gives before telling the homeserver or agents anything that
    /// follows from it; then carry [`Self::outgoing`].
    ///
    /// # Errors
    /// See [`CryptoError`]; the news has not been taken then.
    pub async fn receive(&mut self, news: DeviceNews) -> Result<Received, CryptoError> {
        let changed = self.tracked(news.changed).await?;
        let counts = news.counts.filter(|counts| self.counts != Some(*counts));
        if news.to_device.is_empty() && changed.is_empty() && counts.is_none() {
            return Ok(Received { nothing_new: true, ..Received::default() });
        }
        if !changed.is_empty() {
            self.generation += 1;
        }
        let to_device = news.to_device.into_iter().map(Raw::from_json).collect();
        let received = self.sync(to_device, changed, counts).await?;
        self.counts = news.counts.or(self.counts);
        Ok(received)
    }

    /// People we share rooms with; changes of others are no matter of ours.
    async fn tracked(&self, users: Vec<OwnedUserId>) -> Result<Vec<OwnedUserId>, CryptoError> {
        if users.is_empty() {
            return Ok(users);
        }
        let tracked: HashSet<_> = self.olm.tracked_users().await?;
        Ok(users.into_iter().filter(|user| tracked.contains(user)).collect())
    }

    async fn sync(
        &mut self,
        to_device_events: Vec<Raw<ruma::events::AnyToDeviceEvent>>,
        changed: Vec<OwnedUserId>,
        counts: Option<KeyCounts>,
    ) -> Result<Received, CryptoError> {
        let mut lists = DeviceLists::new();
        lists.changed = changed;
        let one_time_keys = counts.map(|c| answer::counts(told(c.one_time_keys))).unwrap_or_default();
        let unused = [OneTimeKeyAlgorithm::SignedCurve25519];
        let unused =
            counts.and_then(|c| c.fallback_unused).map(|unused_one| &unused[..usize::from(unused_one)]);
        let changes = EncryptionSyncChanges {
            to_device_events,
            changed_devices: &lists,
            one_time_keys_counts: &one_time_keys,
            unused_fallback_keys: unused,
            next_batch_token: None,
        };
        let settings = decryption_settings();
        let (events, keys) = guarded(self.olm.receive_sync_changes(changes, &settings)).await?;
        let mut received = Received::default();
        received
            .room_keys
            .extend(keys.into_iter().map(|key| RoomKey { room_id: key.room_id, session_id: key.session_id }));
        events.iter().for_each(|event| received.note(event));
        if received.unreadable > 0 {
            // the sender gets a new session, and with it the room key once more
            self.generation += 1;
        }
        Ok(received)
    }
}

impl Received {
    fn note(&mut self, event: &ProcessedToDeviceEvent) {
        match event {
            ProcessedToDeviceEvent::UnableToDecrypt { .. } => self.unreadable += 1,
            ProcessedToDeviceEvent::Decrypted { raw, .. } => self.bundles.extend(bundle_of(raw)),
            ProcessedToDeviceEvent::PlainText(_) | ProcessedToDeviceEvent::Invalid(_) => {}
        }
    }
}

/// Room and sender of word about a room's history (MSC4268, under both of its names).
fn bundle_of(event: &Raw<ruma::events::AnyToDeviceEvent>) -> Option<(OwnedRoomId, OwnedUserId)> {
    let fields = Fields::of(event.json())?;
    let kind = fields.str("type")?;
    if !matches!(kind.as_str(), "m.room_key_bundle" | "io.element.msc4268.room_key_bundle") {
        return None;
    }
    Some((fields.object("content")?.room_id("room_id")?, fields.user_id("sender")?))
}
