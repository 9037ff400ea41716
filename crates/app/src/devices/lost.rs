//! Devices that the homeserver does not have any more: their puppets hear nothing until they have others.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use futures_util::{StreamExt, stream};
use ruma::OwnedUserId;

use super::{DeviceError, Slot};
use crate::app::App;

/// Puppets asked for in one query.
const AT_A_TIME: usize = 100;
/// How many devices are made anew at once.
const AT_ONCE: usize = 4;

impl App {
    /// Looks, in the background, whether the homeserver still has a puppet's device, after it said that the puppet's
    /// devices have changed. It says so of what we do ourselves, too.
    pub(crate) fn look_after(self: &Arc<Self>, slot: Arc<Slot>) {
        if slot.looked_after.swap(true, Ordering::AcqRel) {
            return;
        }
        let app = self.clone();
        self.beside(async move {
            if let Err(error) = app.give_up_if_deleted(&slot).await {
                tracing::info!(%error, user = %slot.user, "cannot look after a device yet");
                app.keyring.census.notify_one();
            }
        });
    }

    async fn give_up_if_deleted(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        // one that is being made is not there yet
        let _making = slot.making.lock().await;
        slot.looked_after.store(false, Ordering::Release);
        let Some(device) = slot.device().filter(|device| device.live) else { return Ok(()) };
        if self.client.device(&slot.user, &device.device_id).await?.is_none() {
            self.give_up_device(slot).await;
        }
        Ok(())
    }

    /// Asks for all devices at once; those that the homeserver has no keys of are given up.
    ///
    /// # Errors
    /// The homeserver cannot be asked; some may have been given up before.
    pub(crate) async fn census(&self) -> Result<(), DeviceError> {
        let began = self.now();
        let looked = self.look_after_all().await;
        self.keyring.had_census(began, self.now() - began);
        looked
    }

    async fn look_after_all(&self) -> Result<(), DeviceError> {
        let slots: BTreeMap<OwnedUserId, Arc<Slot>> =
            self.keyring.all().into_iter().map(|s| (s.user.clone(), s)).collect();
        for users in slots.keys().collect::<Vec<_>>().chunks(AT_A_TIME) {
            let found = self.client.devices_with_keys(&self.settings.bot, users.iter().copied()).await?;
            for (user, devices) in found {
                let Some(slot) = slots.get(&user) else { continue };
                if slot.device().is_some_and(|d| d.live && !devices.contains(&d.device_id)) {
                    self.give_up_if_without_keys(slot).await?;
                }
            }
        }
        Ok(())
    }

    /// Asked for once more, so that one that was being made meanwhile is not taken for lost.
    async fn give_up_if_without_keys(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let _making = slot.making.lock().await;
        let Some(device) = slot.device().filter(|device| device.live) else { return Ok(()) };
        let mut found = self.client.devices_with_keys(&self.settings.bot, [&slot.user]).await?;
        if found.remove(&slot.user).is_some_and(|devices| !devices.contains(&device.device_id)) {
            self.give_up_device(slot).await;
        }
        Ok(())
    }

    /// All devices were given up on disk.
    pub(crate) async fn forget_devices(&self) {
        for slot in self.keyring.all() {
            slot.forget().await;
        }
        self.keyring.lost.notify_one();
    }

    /// Makes devices for all that have lost theirs. Whether all of them have one now.
    pub(crate) async fn remake_lost(&self) -> bool {
        let lives = |slot: &Arc<Slot>| {
            slot.user == self.settings.bot || self.agents.by_user(&slot.user).is_some_and(|a| !a.ended())
        };
        let bereft: Vec<_> = self.keyring.bereft().into_iter().filter(lives).collect();
        let remake = async |slot: Arc<Slot>| match self.ensure_device(&slot.user).await {
            Ok(_) => true,
            Err(error) => {
                tracing::info!(%error, user = %slot.user, "a lost device cannot be made anew yet");
                false
            }
        };
        let made = stream::iter(bereft).map(remake).buffer_unordered(AT_ONCE).collect::<Vec<bool>>();
        made.await.into_iter().all(|made| made)
    }
}
