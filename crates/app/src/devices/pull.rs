use std::sync::{Arc, atomic::Ordering};

use futures_util::{StreamExt, stream};
use parlour_domain::ids::RoomKey;
use parlour_matrix::crypto::DeviceNews;

use super::{DeviceError, Slot};
use crate::{
    app::App,
    ingest::{Planner, Reception, Step},
    survive::survive,
};

/// A homeserver answers with a hundred messages at a time.
const PAGES: usize = 50;
/// How many devices are pulled for at once in the background.
const AT_ONCE: usize = 4;

impl App {
    /// Takes everything that waits for a device, until nothing is left.
    pub(crate) async fn pull_device(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        self.run_known().await?;
        let asked_ms = self.now();
        let _one = slot.pulling.lock().await;
        if slot.pulled_ms.load(Ordering::Relaxed) > asked_ms {
            // somebody else's pull began after we asked
            return Ok(());
        }
        slot.pulled_ms.fetch_max(self.now(), Ordering::Relaxed);
        metrics::counter!("parlour_key_pulls_total").increment(1);
        for _ in 0..PAGES {
            if !self.pull_page(slot).await? {
                break;
            }
        }
        self.settle_device(slot).await
    }

    /// Whether there may be more.
    async fn pull_page(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<bool, DeviceError> {
        let device = slot.device().ok_or(DeviceError::NoDevice)?;
        let pulled = self.client.pull(device.who(&slot.user), device.since.as_deref()).await;
        if let Err(error) = &pulled {
            self.device_refused(slot, error).await;
        }
        let pulled = pulled?;
        let more = !pulled.news.to_device.is_empty() || device.since.is_none();
        let (news, since) = (pulled.news, pulled.next_batch);
        let pulled = || Step::Pulled { account: device.account, since: since.clone() };
        if !self.take_pulled(slot, news.clone(), Some(pulled())).await? {
            self.take_in_pieces(slot, news).await?;
            self.take_pulled(slot, DeviceNews::default(), Some(pulled())).await?;
        }
        slot.alter(|now| {
            if now.account == device.account {
                now.since = Some(since);
            }
        });
        Ok(more)
    }

    /// What the crypto code fails over is left out: the homeserver would bring it again and again, before all that comes
    /// after it.
    async fn take_in_pieces(self: &Arc<Self>, slot: &Arc<Slot>, news: DeviceNews) -> Result<(), DeviceError> {
        for piece in news.pieces() {
            if !self.take_pulled(slot, piece, None).await? {
                metrics::counter!("parlour_poison_events_total").increment(1);
                tracing::error!(user = %slot.user, "skipped a message for a device that cannot be taken; please report this");
            }
        }
        Ok(())
    }

    /// `false`: the crypto code fails over it, and nothing of it was taken.
    async fn take_pulled(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        news: DeviceNews,
        pulled: Option<Step>,
    ) -> Result<bool, DeviceError> {
        let mut planner = Planner::new(self, self.now());
        match survive("keys", planner.receive(slot, news)).await {
            Reception::Taken => {}
            Reception::Refused => {
                // one whose keys are lost is given up by that
                self.carry_out(&mut planner.finish(), None).await?;
                return Err(DeviceError::NoDevice);
            }
            Reception::Poison => {
                planner.spoil(&slot.user);
                return Ok(false);
            }
        }
        planner.use_keys().await;
        pulled.into_iter().for_each(|step| planner.step(step));
        self.carry_out(&mut planner.finish(), None).await?;
        Ok(true)
    }

    /// Keys are missing in a room: asks for what waits for our devices in it, in the background.
    pub(crate) fn pull_for_room(self: &Arc<Self>, room: RoomKey) {
        let app = self.clone();
        self.tasks.spawn(async move {
            let Some(room) = app.rooms.get(room) else { return };
            let mut slots: Vec<_> = app
                .agents_in(&room)
                .into_iter()
                .filter_map(|a| app.keyring.with_device(a.user_id()))
                .collect();
            if app.bot_is_in(&room) {
                slots.extend(app.keyring.with_device(&app.settings.bot));
            }
            app.pull_all(slots).await;
        });
    }

    /// The same for one device.
    pub(crate) fn pull_later(self: &Arc<Self>, slot: Arc<Slot>) {
        let app = self.clone();
        self.beside(async move { app.pull_all(vec![slot]).await });
    }

    /// At start and after an outage: pushes may have been lost.
    pub(crate) fn pull_for_all(self: &Arc<Self>) {
        let app = self.clone();
        self.keyring.doubts.fetch_add(1, Ordering::Relaxed);
        self.tasks.spawn(async move { app.pull_all(app.keyring.all()).await });
    }

    pub(crate) async fn pull_all(self: &Arc<Self>, slots: Vec<Arc<Slot>>) {
        let pull = |slot: Arc<Slot>| async move {
            if self.tasks.stopping() {
                return;
            }
            let Err(error) = self.pull_device(&slot).await else { return };
            tracing::info!(%error, user = %slot.user, "cannot pull keys yet");
        };
        // the homeserver does not know of one that is still made
        let live = slots.into_iter().filter(|slot| slot.is_live());
        stream::iter(live).for_each_concurrent(AT_ONCE, pull).await;
    }
}
