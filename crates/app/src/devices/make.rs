use std::{collections::BTreeSet, fmt::Write, sync::Arc};

use parlour_domain::fault::Fault;
use parlour_matrix::{
    HsError,
    crypto::{CryptoError, DeviceAccount, Machine},
};
use parlour_store::{DeviceRow, DeviceState};
use ruma::{OwnedDeviceId, UserId};
use secrecy::ExposeSecret;

use super::{DeviceError, Held, Slot, keyring::token_place};
use crate::{app::App, ingest::Planner, view::DeviceWay};

/// What people see in the list of a puppet's devices.
const NAME: &str = "Parlour";

impl App {
    /// Makes sure that a puppet has a device that is ready, signed by its identity. Can be repeated after an end in the
    /// middle.
    pub(crate) async fn ensure_device(&self, user: &UserId) -> Result<Arc<Slot>, DeviceError> {
        let slot = self.keyring.slot(user);
        if slot.is_live() {
            return Ok(slot);
        }
        {
            let _one = slot.making.lock().await;
            if !slot.is_live() {
                // boxed: it is deep, and everything that sends or lets in holds it
                Box::pin(self.make_device(&slot)).await?;
                metrics::counter!("parlour_devices_made_total").increment(1);
            }
        }
        Ok(slot)
    }

    /// The same before a puppet comes into an encrypted room. On a homeserver that offers no devices in any way it comes
    /// in all the same: it cannot speak there then, and hears what is not encrypted.
    pub(crate) async fn device_for_room(&self, user: &UserId) -> Result<(), Fault> {
        match self.ensure_device(user).await {
            Err(DeviceError::Homeserver(error @ HsError::Refused { status: 404 | 405, .. })) => {
                tracing::warn!(%error, %user, "the homeserver offers puppets no devices: no encrypted rooms");
                Ok(())
            }
            made => made.map(drop).map_err(|error| self.device_fault(error)),
        }
    }

    async fn make_device(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        self.run_known().await?;
        let _conversation = slot.conversation.lock().await;
        let user = slot.user.clone();
        let seeds = self.store.read(move |r| r.seeds(&user)).await?;
        let mut held = self.begun_device(slot).await?;
        let own_identity = seeds.is_none() || held.sealed_seeds().await.is_ok();
        if own_identity {
            let mut requests = self.set_up(&mut held, slot).await?;
            drop(held);
            self.announce(slot).await?;
            let signatures = requests.pop();
            self.carry_at_once(slot, requests).await?;
            self.carry_requests(slot, signatures.into_iter().collect()).await?;
            self.settle_in_conversation(slot).await?;
        } else {
            drop(held);
            self.announce(slot).await?;
            self.take_over_identity(slot, seeds.as_deref().unwrap_or_default()).await?;
        }
        if slot.is_bereft() || self.run.after_old_database() {
            self.delete_other_devices(slot).await?;
        }
        let had_others = !self.devices_before(&slot.user).await?.is_empty();
        self.now_live(slot).await?;
        if had_others {
            self.read_with_handed_down(slot).await?;
        }
        Ok(())
    }

    /// What came while the puppet had no device.
    async fn read_with_handed_down(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let held = self.hold(slot).await?;
        let keys = held.room_keys(self.keyring.rows.clone()).await?;
        drop(held);
        let mut planner = Planner::new(self, self.now());
        planner.keys_came(slot, keys).await;
        self.carry_out(&mut planner.finish(), None).await?;
        Ok(())
    }

    /// The device that was begun before, or a new one: its keys are on disk.
    async fn begun_device(&self, slot: &Arc<Slot>) -> Result<Held, DeviceError> {
        if slot.device().is_none() {
            // something failed between its row and its keys
            let user = slot.user.clone();
            let row = self.store.read(move |r| r.device_of(&user)).await?;
            row.into_iter().for_each(|row| slot.put(self.keyring.device(&row)));
        }
        if slot.device().is_some() {
            match self.hold(slot).await {
                Err(DeviceError::Crypto(CryptoError::Lost)) => self.give_up_device(slot).await,
                held => return held,
            }
        }
        let (user, device_id) = (slot.user.clone(), self.new_device_id());
        let (of, id, now) = (user.clone(), device_id.clone(), self.now());
        let account = self.store.write(move |tx| tx.add_device(&of, &id, now)).await?;
        let account = DeviceAccount { account, user_id: user.clone(), device_id };
        let mut machine =
            Machine::create(account, self.keyring.rows.clone(), self.keyring.sealing.clone(), now).await?;
        self.hand_down(&user, &mut machine).await?;
        let row = self.store.read(move |r| r.device_of(&user)).await?.ok_or(DeviceError::NoDevice)?;
        slot.put(self.keyring.device(&row));
        let mut held = slot.hold_new(machine).await?;
        self.commit_device(&mut held).await?;
        Ok(held)
    }

    /// What the devices before it could read, it can read as well.
    async fn hand_down(&self, user: &UserId, machine: &mut Machine) -> Result<(), DeviceError> {
        for before in self.devices_before(user).await? {
            machine.inherit(self.keyring.rows.clone(), before.account).await?;
        }
        Ok(())
    }

    async fn devices_before(&self, user: &UserId) -> Result<Vec<DeviceRow>, DeviceError> {
        let user = user.to_owned();
        Ok(self.store.read(move |r| r.devices_before(&user)).await?)
    }

    /// The first device's requests; its seeds are on disk with what they belong to.
    async fn set_up(
        &self,
        held: &mut Held,
        slot: &Arc<Slot>,
    ) -> Result<Vec<parlour_matrix::crypto::Outgoing>, DeviceError> {
        let requests = held.setup().await?;
        let (seeds, user, batch) = (held.sealed_seeds().await?, slot.user.clone(), held.take());
        let write = self.store.write(move |tx| {
            batch.iter().try_for_each(|batch| batch.put(tx))?;
            tx.set_seeds(&user, &seeds)
        });
        write.await?;
        held.committed();
        Ok(requests)
    }

    /// Makes the device on the homeserver: named by the appservice, or by a login of its own where that is not offered.
    async fn announce(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        if device.token.is_some() {
            return Ok(());
        }
        if self.keyring.way() != Some(DeviceWay::OwnToken) {
            match self.client.put_device(&slot.user, &device.device_id, NAME).await {
                Ok(()) => return Ok(()),
                Err(HsError::Refused { status: 404 | 405, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let login = self.client.login_appservice(&slot.user, &device.device_id, NAME).await?;
        let place = token_place(&slot.user, device.device_id.as_str());
        let sealed = self.sealing.seal(&place, login.token.expose_secret().as_bytes());
        self.store.write(move |tx| tx.set_device_token(device.account, Some(&sealed))).await?;
        slot.alter(|device| device.token = Some(login.token));
        Ok(())
    }

    /// Signs a new device with the identity that the puppet had; without it, the puppet gets a new one.
    async fn take_over_identity(&self, slot: &Arc<Slot>, seeds: &[u8]) -> Result<(), DeviceError> {
        self.upload_one_time_keys(slot).await?;
        let who_we_are = self.hold(slot).await?.query(&slot.user);
        self.carry_requests(slot, vec![who_we_are]).await?;
        let adopted = {
            let mut held = self.hold(slot).await?;
            let adopted = held.adopt(seeds).await;
            self.after_call(&mut held, adopted).await
        };
        let requests = match adopted {
            Ok(requests) => requests,
            Err(DeviceError::Crypto(CryptoError::OtherIdentity)) => {
                tracing::warn!(user = %slot.user, "a puppet's identity cannot be taken over; it gets a new one");
                let mut held = self.hold(slot).await?;
                self.set_up(&mut held, slot).await?
            }
            Err(error) => return Err(error),
        };
        self.carry_requests(slot, requests).await?;
        self.settle_in_conversation(slot).await
    }

    /// Before the device's own keys: people are told of those at once, and a client that finds no one-time key then gives
    /// the device no room keys for a while. A homeserver takes the two apart, also where they come in one request.
    async fn upload_one_time_keys(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        let requests = {
            let mut held = self.hold(slot).await?;
            let requests = held.outgoing().await;
            self.after_call(&mut held, requests).await?
        };
        for call in requests.iter().filter_map(|request| request.call.one_time_keys_alone()) {
            self.client.carry(device.who(&slot.user), &call).await?;
        }
        Ok(())
    }

    /// All others that the homeserver has of this puppet, also those that an old database does not know.
    async fn delete_other_devices(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        let listed = self.client.devices(&slot.user).await.unwrap_or_else(|error| {
            tracing::info!(%error, user = %slot.user, "cannot list a puppet's devices");
            vec![]
        });
        let known = self.devices_before(&slot.user).await?.into_iter().map(|before| before.device_id);
        let old: BTreeSet<_> = listed.into_iter().chain(known).filter(|id| *id != device.device_id).collect();
        for id in old {
            if let Err(error) = self.client.delete_device(&slot.user, &id).await {
                tracing::info!(%error, user = %slot.user, "an old device cannot be deleted");
            }
        }
        Ok(())
    }

    async fn now_live(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let account = slot.device().ok_or(DeviceError::NoDevice)?.account;
        let before = self.devices_before(&slot.user).await?;
        let write = self.store.write(move |tx| {
            before.iter().try_for_each(|before| tx.crypto_forget(before.account))?;
            tx.set_device_state(account, DeviceState::Live)
        });
        write.await?;
        slot.alter(|device| device.live = true);
        Ok(())
    }

    /// The device cannot be used any more; another one is made, under another id. What this one could read is kept until
    /// then.
    pub(super) async fn give_up_device(&self, slot: &Arc<Slot>) {
        let Some(device) = slot.device() else { return };
        tracing::warn!(user = %slot.user, device = %device.device_id, "a device is given up");
        let gone = move |tx: &parlour_store::Tx<'_>| tx.set_device_state(device.account, DeviceState::Gone);
        match self.store.write(gone).await {
            Ok(()) => {
                slot.forget().await;
                self.keyring.lost.notify_one();
            }
            Err(error) => tracing::error!(%error, "cannot note that a device is given up"),
        }
    }

    /// Its store was lost: a new one in the background.
    pub(crate) fn renew_later(self: &Arc<Self>, slot: Arc<Slot>) {
        let app = self.clone();
        self.tasks.spawn(async move { app.give_up_device(&slot).await });
    }

    fn new_device_id(&self) -> OwnedDeviceId {
        let mut id = String::from("PARLOUR");
        for byte in self.chance.bytes::<8>() {
            // writing to a string cannot fail
            let _ = write!(id, "{byte:02X}");
        }
        id.into()
    }
}
