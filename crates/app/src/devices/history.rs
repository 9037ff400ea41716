//! A room's history, shared with a puppet by the person who invited it (MSC4268).

use std::sync::Arc;

use parlour_matrix::crypto::CryptoError;
use ruma::{RoomId, UserId};

use super::{DeviceError, Slot};
use crate::{app::App, ingest::Planner};

/// Keys of a room's history take some 300 bytes each.
const BUNDLE_LIMIT: usize = 16 << 20;

impl App {
    /// Whoever invited the puppet may share the room's history with it, now or a little later.
    pub(crate) async fn expect_history(
        &self,
        user: &UserId,
        room: &RoomId,
        inviter: &UserId,
    ) -> Result<(), DeviceError> {
        let Some(slot) = self.keyring.with_device(user) else { return Ok(()) };
        let mut held = self.hold(&slot).await?;
        let expected = held.expect_bundle(room, inviter).await;
        self.after_call(&mut held, expected).await
    }

    /// Takes in what has come for a room that the puppet is about to read.
    pub(crate) async fn fetch_history(self: &Arc<Self>, user: &UserId) -> Result<(), DeviceError> {
        let Some(slot) = self.keyring.with_device(user) else { return Ok(()) };
        self.pull_device(&slot).await?;
        self.import_histories(&slot).await
    }

    /// Word of a room's history has come.
    pub(crate) fn import_later(self: &Arc<Self>, slot: Arc<Slot>) {
        let app = self.clone();
        self.beside(async move {
            if let Err(error) = app.import_histories(&slot).await {
                tracing::info!(%error, user = %slot.user, "a room's shared history cannot be fetched yet");
            }
        });
    }

    async fn import_histories(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let _conversation = slot.conversation.lock().await;
        let expected = self.hold(slot).await?.expected_bundles().await?;
        for (room, inviter) in expected {
            self.import_history(slot, &room, &inviter).await?;
        }
        Ok(())
    }

    async fn import_history(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        room: &RoomId,
        inviter: &UserId,
    ) -> Result<(), DeviceError> {
        let (bundle, query) = {
            let held = self.hold(slot).await?;
            (held.bundle(room, inviter).await?, held.query(inviter))
        };
        let Some(bundle) = bundle else { return Ok(()) };
        // only a device that is known to be signed is believed
        self.carry_requests(slot, vec![query]).await?;
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        let file = self.client.download(device.who(&slot.user), &bundle.url, BUNDLE_LIMIT).await?;
        let imported = {
            let mut held = self.hold(slot).await?;
            let imported = held.import_bundle(room, inviter, file.to_vec()).await;
            self.after_call(&mut held, imported).await
        };
        match imported {
            Ok(keys) => {
                tracing::info!(%room, keys, user = %slot.user, "a room's history was shared with a puppet")
            }
            // another one may come
            Err(DeviceError::Crypto(error @ CryptoError::Answer)) => {
                tracing::warn!(%error, %room, user = %slot.user, "a room's shared history is no such thing");
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.read_history_again(slot, room).await
    }

    /// What waits for keys that are here now, and what others have read before. Only then nothing more is expected.
    async fn read_history_again(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        room: &RoomId,
    ) -> Result<(), DeviceError> {
        let mut planner = Planner::new(self, self.now());
        planner.all_keys_of(slot, room).await?;
        let mut plan = planner.finish();
        self.carry_out(&mut plan, None).await?;
        Ok(())
    }
}
