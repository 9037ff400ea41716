//! After a start and after each outage: is the newest message of each room one that we have?

use std::sync::Arc;

use futures_util::FutureExt;
use parlour_matrix::{Incoming, events::NewMessage};
use ruma::{OwnedEventId, UserId};

use super::backfill::{BackfillError, Until};
use crate::{app::App, live::RoomLive};

/// The homeserver delivers what piled up in its own time: an unknown message counts as lost only once nothing has come
/// for this long.
const PATIENCE_MS: i64 = 15_000;
/// On a server where something always comes it counts as lost after this long all the same.
const PATIENCE_AT_MOST_MS: i64 = 5 * 60_000;
const LOOK_MS: i64 = 500;
/// Agents may have had the last word for as long as anything is kept.
const PAGES: usize = 5;
const RETRY_MS: i64 = 2_000;
const LONGEST_PAUSE_MS: i64 = 60_000;

impl App {
    /// Reconciles once now, and again whenever the homeserver comes back.
    pub(crate) async fn watch_for_outages(self: &Arc<Self>) {
        loop {
            // pushes may have been lost
            self.pull_for_all();
            self.keyring.census.notify_one();
            self.probe_later();
            self.until_reconciled().await;
            tokio::select! {
                () = self.look_for_left_behind() => {}
                () = self.outage.notified() => {}
                () = self.tasks.stopped() => return,
            }
            if !self.until_reachable().await {
                return;
            }
            // told meanwhile, it was this one
            let _ = self.outage.notified().now_or_never();
            self.rests.news_of_all();
        }
    }

    /// A homeserver that is only just back may fail the first looks.
    async fn until_reconciled(&self) {
        let mut pause_ms = RETRY_MS;
        while !self.reconcile_all().await {
            if !self.let_pass(pause_ms).await {
                return;
            }
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
    }

    /// `false`: shutting down.
    async fn until_reachable(&self) -> bool {
        while self.client.versions().await.is_err() {
            if !self.let_pass(RETRY_MS).await {
                return false;
            }
        }
        if let Err(reason) = self.ping().await {
            tracing::warn!(reason, "the homeserver is back, but its ping failed");
        }
        !self.tasks.stopping()
    }

    /// Whether all rooms could be compared.
    async fn reconcile_all(&self) -> bool {
        let mut all = true;
        for room in self.rooms.all() {
            if self.tasks.stopping() {
                break;
            }
            if let Err(error) = self.reconcile(&room).await {
                tracing::warn!(%error, room = %room.room_id, "cannot compare a room with the homeserver yet");
                all = false;
            }
        }
        all
    }

    async fn reconcile(&self, room: &Arc<RoomLive>) -> Result<(), BackfillError> {
        let Some(reader) = self.reader(room) else { return Ok(()) };
        let Some(newest) = self.newest(room, &reader).await? else { return Ok(()) };
        if self.arrives(&newest).await? {
            return Ok(());
        }
        tracing::warn!(room = %room.room_id, "the homeserver has messages that it did not bring; fetching them");
        let back = self.look_back(room, &reader, Until::Known).await?;
        self.fill_in(room, back, None, true).await
    }

    /// The newest message as the homeserver has it. Not one of ours: those are known from the answers to their sends,
    /// also where nothing else came.
    async fn newest(&self, room: &RoomLive, reader: &UserId) -> Result<Option<OwnedEventId>, BackfillError> {
        let mut from = None::<String>;
        for _ in 0..PAGES {
            let page = self.client.messages(reader, &room.room_id, from.as_deref(), true, 100).await?;
            let said = page.chunk.iter().find_map(|raw| match Incoming::parse(raw, Some(&room.room_id)) {
                Incoming::Message(NewMessage { head, .. }) | Incoming::Encrypted { head, .. }
                    if !self.is_ours(&head.sender) =>
                {
                    Some(head.event_id)
                }
                _ => None,
            });
            from = page.end;
            if said.is_some() || from.is_none() {
                return Ok(said);
            }
        }
        Ok(None)
    }

    /// Whether a message is known, or comes while transactions still do.
    async fn arrives(&self, event_id: &OwnedEventId) -> Result<bool, BackfillError> {
        let began = self.now();
        let mut quiet_since = began;
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
            let quiet = self.now() - quiet_since >= PATIENCE_MS;
            if quiet || self.now() - began >= PATIENCE_AT_MOST_MS || self.tasks.stopping() {
                return Ok(self.tasks.stopping());
            }
            self.let_pass(LOOK_MS).await;
        }
    }
}
