//! After a start and after each outage: is the newest message of each room one that we have?

use std::sync::Arc;

use parlour_matrix::Incoming;
use ruma::OwnedEventId;

use super::backfill::BackfillError;
use crate::{app::App, live::RoomLive};

/// The homeserver delivers what piled up in its own time: an unknown message counts as lost only once nothing has come
/// for this long.
const PATIENCE_MS: i64 = 15_000;
const RETRY_MS: i64 = 2_000;

impl App {
    /// Reconciles once now, and again whenever the homeserver comes back.
    pub(crate) async fn watch_for_outages(self: &Arc<Self>) {
        loop {
            self.reconcile_all().await;
            self.look_for_left_behind().await;
            tokio::select! {
                () = self.outage.notified() => {}
                () = self.tasks.stopped() => return,
            }
            if !self.until_reachable().await {
                return;
            }
        }
    }

    /// `false`: shutting down.
    async fn until_reachable(&self) -> bool {
        while self.client.versions().await.is_err() {
            tokio::select! {
                () = self.clock.sleep_until(self.now() + RETRY_MS) => {}
                () = self.tasks.stopped() => return false,
            }
        }
        if let Err(reason) = self.ping().await {
            tracing::warn!(reason, "the homeserver is back, but its ping failed");
        }
        !self.tasks.stopping()
    }

    async fn reconcile_all(&self) {
        for room in self.rooms.all() {
            if self.tasks.stopping() {
                return;
            }
            if let Err(error) = self.reconcile(&room).await {
                tracing::warn!(%error, room = %room.room_id, "cannot compare a room with the homeserver");
            }
        }
    }

    async fn reconcile(&self, room: &Arc<RoomLive>) -> Result<(), BackfillError> {
        let Some(newest) = self.newest(room).await? else { return Ok(()) };
        if self.arrives(&newest).await? {
            return Ok(());
        }
        tracing::warn!(room = %room.room_id, "the homeserver has messages that it did not bring; fetching them");
        let back = self.look_back(room).await?;
        self.fill_in(room, back, None, true).await
    }

    /// The newest message as the homeserver has it.
    async fn newest(&self, room: &RoomLive) -> Result<Option<OwnedEventId>, BackfillError> {
        let page = self.client.messages(&self.settings.bot, &room.room_id, None, true, 20).await?;
        let said = page.chunk.iter().find_map(|raw| match Incoming::parse(raw, Some(&room.room_id)) {
            Incoming::Message(message) if message.head.sender != self.settings.bot => {
                Some(message.head.event_id)
            }
            _ => None,
        });
        Ok(said)
    }

    /// Whether a message is known, or comes while transactions still do.
    async fn arrives(&self, event_id: &OwnedEventId) -> Result<bool, BackfillError> {
        let mut quiet_since = self.now();
        let mut seen = self.handover.newest();
        loop {
            let id = event_id.clone();
            if self.store.read(move |r| r.had(&id)).await? {
                return Ok(true);
            }
            let now_seen = self.handover.newest();
            if now_seen != seen {
                (seen, quiet_since) = (now_seen, self.now());
            }
            if self.now() - quiet_since >= PATIENCE_MS || self.tasks.stopping() {
                return Ok(self.tasks.stopping());
            }
            self.clock.sleep_until(self.now() + 500).await;
        }
    }
}
