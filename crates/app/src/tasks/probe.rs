//! Which way leads to puppets' devices on this homeserver: probed, since no homeserver says so. After each start and
//! each outage, with a user of its own that is in no room, and a device that is deleted again.

use std::sync::Arc;

use parking_lot::Mutex;
use parlour_matrix::{AsDevice, HsError, Transaction};
use parlour_store::StoreError;
use ruma::{DeviceId, OwnedDeviceId, OwnedUserId, UserId};
use secrecy::SecretString;
use serde_json::{json, value::to_raw_value};
use tokio::sync::Notify;

use crate::{
    app::App,
    view::{DeviceWay, Probed},
};

/// A message to the probe's own device.
const TYPE: &str = "parlour.probe";
const NAME: &str = "Parlour, probing";
/// A push comes within a second, but where much has piled up before it. Taken for missing, it costs some fetching until
/// the next probe.
const PATIENCE_MS: i64 = 6_000;

/// What the probe waits for.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    awaited: Mutex<Option<String>>,
    /// Whether news of devices came along with it.
    came: Mutex<Option<bool>>,
    news: Notify,
}

#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The device that is probed with.
struct Subject {
    user: OwnedUserId,
    device: OwnedDeviceId,
    token: Option<SecretString>,
}

impl Subject {
    fn who(&self) -> AsDevice<'_> {
        AsDevice { user: &self.user, device: &self.device, token: self.token.as_ref() }
    }
}

impl Probe {
    /// Looks whether a transaction brings what is awaited.
    pub(crate) fn look(&self, transaction: &Transaction) {
        let awaited = self.awaited.lock().clone();
        let Some(nonce) = awaited else { return };
        let is_it = |raw: &str| raw.contains(&nonce) && raw.contains(TYPE);
        if transaction.to_device.iter().any(|message| is_it(message.get())) {
            *self.came.lock() = Some(transaction.one_time_key_counts.is_some());
            self.news.notify_one();
        }
    }
}

impl App {
    /// The user that probes: one of ours, in no room.
    fn prober(&self) -> Option<OwnedUserId> {
        UserId::parse(format!("@{}probe:{}", self.settings.puppet_prefix, self.settings.server_name)).ok()
    }

    /// In the background: nothing waits for it but speed.
    pub(crate) fn probe_later(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Err(error) = app.probe().await {
                tracing::info!(%error, "cannot find out how puppets' devices are reached; asked again after the next outage");
            }
        });
    }

    async fn probe(&self) -> Result<(), ProbeError> {
        let _one = self.probing.lock().await;
        let Some(user) = self.prober() else { return Ok(()) };
        let way = match self.subject(user).await? {
            Some(subject) => {
                let way = self.way_to(&subject).await;
                if let Err(error) = self.client.delete_device(&subject.user, &subject.device).await {
                    tracing::debug!(%error, "the probe's device cannot be deleted");
                }
                way?
            }
            None => DeviceWay::None,
        };
        self.found(way).await?;
        Ok(())
    }

    /// `None`: no device can be made in any way.
    async fn subject(&self, user: OwnedUserId) -> Result<Option<Subject>, HsError> {
        let mut made = self.make_subject(&user).await;
        if matches!(made, Err(HsError::Refused { status: 401 | 403, .. })) {
            // for want of the user
            self.client.register(user.localpart()).await?;
            made = self.make_subject(&user).await;
        }
        match made {
            Ok(subject) => Ok(Some(subject)),
            Err(error) if error.is_final() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn make_subject(&self, user: &UserId) -> Result<Subject, HsError> {
        let device = OwnedDeviceId::from(format!("PROBE{}", hex(&self.chance.bytes::<4>())));
        match self.client.put_device(user, &device, NAME).await {
            Ok(()) if self.can_act_as(user, &device).await? => {
                return Ok(Subject { user: user.to_owned(), device, token: None });
            }
            Err(error @ HsError::Refused { status: 401 | 403, .. }) => return Err(error),
            Err(error) if !error.is_final() => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // whoever is not there cannot log in, or gets a token that is good for nothing
        self.client.register(user.localpart()).await?;
        let login = self.client.login_appservice(user, &device, NAME).await?;
        Ok(Subject { user: user.to_owned(), device: login.device_id, token: Some(login.token) })
    }

    /// Some homeservers take a device's name and leave it alone.
    async fn can_act_as(&self, user: &UserId, device: &DeviceId) -> Result<bool, HsError> {
        match self.client.whoami_device(AsDevice { user, device, token: None }).await {
            Ok(taken_for) => Ok(taken_for.as_deref() == Some(device)),
            Err(error) if error.is_final() => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn way_to(&self, subject: &Subject) -> Result<DeviceWay, HsError> {
        let nonce = hex(&self.chance.bytes::<16>());
        *self.probe.came.lock() = None;
        *self.probe.awaited.lock() = Some(nonce.clone());
        let way = self.send_and_see(subject, &nonce).await;
        *self.probe.awaited.lock() = None;
        way
    }

    async fn send_and_see(&self, subject: &Subject, nonce: &str) -> Result<DeviceWay, HsError> {
        let messages =
            json!({"messages": {subject.user.as_str(): {subject.device.as_str(): {"nonce": nonce}}}});
        let messages = to_raw_value(&messages).map_err(|e| HsError::NotSent(e.to_string()))?;
        self.client.send_to_device(subject.who(), TYPE, nonce, &messages).await?;
        if subject.token.is_none() {
            match self.pushed().await {
                Some(true) => return Ok(DeviceWay::Pushed),
                Some(false) => return Ok(DeviceWay::PushedInPart),
                None => {}
            }
        }
        let waits = self.client.pull(subject.who(), None).await;
        let there = waits.is_ok_and(|pulled| pulled.news.to_device.iter().any(|m| m.get().contains(nonce)));
        Ok(match (there, &subject.token) {
            (true, None) => DeviceWay::Pulled,
            (true, Some(_)) => DeviceWay::OwnToken,
            (false, _) => DeviceWay::None,
        })
    }

    /// Whether it came, and news of devices with it.
    async fn pushed(&self) -> Option<bool> {
        let end = self.now() + PATIENCE_MS;
        loop {
            let came = *self.probe.came.lock();
            if came.is_some() || self.now() >= end || self.tasks.stopping() {
                return came;
            }
            self.until_told(&self.probe.news, Some(end)).await;
        }
    }

    async fn found(&self, way: DeviceWay) -> Result<(), StoreError> {
        if self.tasks.stopping() {
            return Ok(());
        }
        let before = self.keyring.found_way(way);
        if before != Some(way) {
            tracing::info!(?way, "how puppets' devices are reached");
        }
        let probed = Probed { way, at_ms: self.now() };
        self.store.write(move |tx| tx.set_meta(Probed::META, probed.to_json().as_bytes())).await
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
