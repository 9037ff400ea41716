//! What a transaction or a pull brings for devices: taken in before the events that it unlocks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
};

use parlour_domain::ids::RoomKey;
use parlour_matrix::{
    Incoming, Transaction,
    crypto::{CryptoError, DeviceNews, Parcels, RoomKey as MegolmKey, tracking_row},
};
use parlour_store::KeyFrom;
use ruma::{OwnedUserId, RoomId, UserId};
use serde_json::value::RawValue;

use super::{
    Planner, Step,
    sealed::{Kept, SealedEvent},
};
use crate::{
    devices::{DeviceError, Held, Slot},
    survive::survive,
};

/// What became of a device's news.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reception {
    Taken,
    /// The device cannot be used now.
    Refused,
    /// The crypto code fails over it: it would again.
    #[default]
    Poison,
}

/// Rooms and the sessions in them whose keys have come.
type Sessions = Vec<(RoomKey, String)>;

impl Planner<'_> {
    /// Takes what a transaction holds for our devices. Nothing is done where it concerns none of them.
    pub(crate) async fn take_parcels(&mut self, transaction: &Transaction) {
        self.app.probe.look(transaction);
        if self.app.keyring.is_empty() || self.says_nothing_new(transaction) {
            return;
        }
        let mut parcels = Parcels::of(transaction);
        let mut concerned: BTreeSet<OwnedUserId> =
            parcels.receivers().map(|(user, _)| user.clone()).collect();
        for ((user, device), counts) in parcels.counts() {
            let known = self.app.keyring.with_device(user).and_then(|slot| slot.device());
            if known.is_some_and(|d| d.device_id == *device && !d.has_counts(counts)) {
                concerned.insert(user.clone());
            }
        }
        concerned.extend(self.who_tracks(&parcels.changed).await);
        self.afterwards
            .look_after
            .extend(parcels.changed.iter().filter(|user| self.app.is_ours(user)).cloned());
        for user in concerned {
            let Some(slot) = self.app.keyring.with_device(&user) else { continue };
            let Some(device) = slot.device() else { continue };
            let news = parcels.take(&(user, device.device_id));
            if survive("keys", self.receive(&slot, news)).await != Reception::Taken {
                // a panic leaves it in our hands
                self.spoil(&slot.user);
                // what was pushed still waits on the homeserver
                self.afterwards.pull.insert(slot.user.clone());
            }
        }
        self.use_keys().await;
    }

    /// A machine that could not take its news is not to be used on, nor what it has half written.
    pub(crate) fn spoil(&mut self, user: &UserId) {
        if let Some(held) = self.held.remove(user) {
            held.spoil();
        }
    }

    fn says_nothing_new(&self, transaction: &Transaction) -> bool {
        let [messages, counts] = &self.app.keyring.pushes;
        if !transaction.to_device.is_empty() {
            messages.store(true, Ordering::Relaxed);
        }
        if transaction.one_time_key_counts.is_some() {
            counts.store(true, Ordering::Relaxed);
        }
        let text = |raw: &Option<Box<RawValue>>| raw.as_ref().map_or("", |r| r.get()).to_owned();
        let counts = (text(&transaction.one_time_key_counts), text(&transaction.unused_fallback_key_types));
        let same = counts == std::mem::replace(&mut *self.app.keyring.last_counts.lock(), counts.clone());
        same && transaction.to_device.is_empty() && transaction.device_lists.is_none()
    }

    /// The puppets whose machines keep track of one of these people.
    async fn who_tracks(&self, people: &[OwnedUserId]) -> Vec<OwnedUserId> {
        let people: Vec<_> =
            people.iter().filter(|p| !self.app.is_ours(p)).map(|p| tracking_row(p)).collect();
        if people.is_empty() {
            return vec![];
        }
        let holders = self.app.store.read(move |r| {
            people.iter().map(|(kind, key)| r.crypto_holders(*kind, key)).collect::<Result<Vec<_>, _>>()
        });
        let holders: BTreeSet<i64> = holders.await.unwrap_or_default().into_iter().flatten().collect();
        let of = |slot: &Arc<Slot>| slot.device().is_some_and(|d| holders.contains(&d.account));
        self.app.keyring.all().into_iter().filter(of).map(|slot| slot.user.clone()).collect()
    }

    /// Gives a device its news, all of them or none.
    pub(crate) async fn receive(&mut self, slot: &Arc<Slot>, news: DeviceNews) -> Reception {
        let counts = news.counts;
        let Some(held) = self.hold(slot).await else { return Reception::Refused };
        let received = match held.receive(news).await {
            Ok(received) => received,
            Err(error) => {
                tracing::warn!(%error, user = %slot.user, "news for a device cannot be taken");
                self.spoil(&slot.user);
                return match error.is_poison() {
                    true => Reception::Poison,
                    false => Reception::Refused,
                };
            }
        };
        if let (Some(counts), Some(device)) = (counts, slot.device())
            && !device.has_counts(counts)
        {
            self.steps.push(Step::Counts { account: device.account, counts });
            slot.alter(|device| device.set_counts(counts));
        }
        if !received.nothing_new {
            self.afterwards.talk.insert(slot.user.clone());
        }
        if !received.bundles.is_empty() {
            self.afterwards.bundles.insert(slot.user.clone());
        }
        self.keys.extend(received.room_keys.into_iter().map(|key| (slot.clone(), key)));
        Reception::Taken
    }

    /// A device has these keys now, from wherever.
    pub(crate) async fn keys_came(&mut self, slot: &Arc<Slot>, keys: Vec<MegolmKey>) {
        self.keys.extend(keys.into_iter().map(|key| (slot.clone(), key)));
        self.use_keys().await;
    }

    /// Uses all keys of a room that a device has, as if they had come now: its history was shared.
    pub(crate) async fn all_keys_of(&mut self, slot: &Arc<Slot>, room: &RoomId) -> Result<(), DeviceError> {
        let held = self.hold(slot).await.ok_or(DeviceError::NoDevice)?;
        let keys = held.room_keys_of(room).await?;
        held.expect_no_bundle(room).await?;
        self.keys.extend(keys.into_iter().map(|key| (slot.clone(), key)));
        self.use_keys().await;
        Ok(())
    }

    /// Reads what waited for the keys that have come. Once all devices have their news, so that a message reaches all
    /// who can read it at once. What one of them fails over is no matter of the others.
    pub(crate) async fn use_keys(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        keys.iter().for_each(|(slot, key)| self.app.keyring.awaited.came(&slot.user, &key.session_id));
        let known = |key: &MegolmKey| self.app.rooms.by_id(&key.room_id).map(|room| room.key);
        let keys: Vec<_> =
            keys.into_iter().filter_map(|(slot, key)| Some((slot, known(&key)?, key))).collect();
        self.read_waiting(keys.iter().map(|(_, room, key)| (*room, key.session_id.clone())).collect()).await;
        let mut by_slot = BTreeMap::<_, (_, Sessions)>::new();
        for (slot, room, key) in keys {
            survive("a key", self.has_key(&slot, room, &key)).await;
            let of_slot = by_slot.entry(slot.user.clone()).or_insert_with(|| (slot, vec![]));
            of_slot.1.push((room, key.session_id));
        }
        for (slot, keys) in by_slot.into_values() {
            survive("what was withheld", self.read_withheld(&slot, keys)).await;
        }
    }

    async fn read_waiting(&mut self, keys: Sessions) {
        if keys.is_empty() {
            return;
        }
        let waiting = self.app.store.read(move |r| r.waiting(&keys)).await.unwrap_or_default();
        for event in waiting {
            let (Ok(raw), Some(room)) = (
                serde_json::from_str::<&RawValue>(&event.waiting.event),
                self.app.rooms.get(event.waiting.room),
            ) else {
                continue;
            };
            let kept = Some(Kept { pos: event.pos, visibility: event.waiting.visibility });
            if let Incoming::Encrypted { head, session_id, .. } = Incoming::parse(raw, Some(&room.room_id)) {
                survive("what waited", self.read_sealed(SealedEvent { raw, head, session_id, kept })).await;
            }
        }
    }

    /// What others have read before this agent came may be shared with it.
    async fn has_key(&mut self, slot: &Arc<Slot>, room: RoomKey, key: &MegolmKey) {
        let Some(agent) = self.app.agents.by_user(&slot.user).map(|agent| agent.key()) else { return };
        let Some(held) = self.hold(slot).await else { return };
        if let Ok(Some(first_index)) = held.first_index(key).await {
            let key = KeyFrom { session_id: key.session_id.clone(), first_index };
            self.steps.push(Step::HasKey { agent, room, key });
        }
    }

    /// Others have read it already; now this agent may.
    async fn read_withheld(&mut self, slot: &Arc<Slot>, keys: Sessions) {
        let Some(agent) = self.app.agents.by_user(&slot.user).map(|agent| agent.key()) else { return };
        let withheld = self.app.store.read(move |r| r.withheld(agent, &keys)).await;
        for exception in withheld.unwrap_or_default() {
            let room = exception.room;
            let (Ok(raw), Some(live)) =
                (serde_json::from_str::<&RawValue>(&exception.event), self.app.rooms.get(room))
            else {
                continue;
            };
            let Some(held) = self.hold(slot).await else { return };
            if held.can_read(raw, &live.room_id).await.unwrap_or(false) {
                self.steps.push(Step::Readable { agent, room, event_id: exception.event_id });
            }
        }
    }

    /// A device's machine, for the whole of this plan.
    pub(super) async fn hold(&mut self, slot: &Arc<Slot>) -> Option<&mut Held> {
        if !self.held.contains_key(&slot.user) {
            if self.many.is_none() {
                self.many = Some(self.app.keyring.many.clone().lock_owned().await);
            }
            match self.app.hold(slot).await {
                Ok(held) => drop(self.held.insert(slot.user.clone(), held)),
                Err(error) => {
                    if matches!(error, DeviceError::Crypto(CryptoError::Lost)) {
                        self.afterwards.lost.insert(slot.user.clone());
                    }
                    tracing::warn!(%error, user = %slot.user, "a device cannot be opened");
                    return None;
                }
            }
        }
        self.held.get_mut(&slot.user)
    }
}
