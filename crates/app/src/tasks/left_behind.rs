//! What the homeserver forgot to bring while it recovered from an outage of ours, or could not know when it brought what
//! came after it.

use std::sync::Arc;

use parlour_matrix::{Incoming, events::NewMessage};
use ruma::{OwnedEventId, UserId};
use serde_json::value::RawValue;

use super::backfill::{BackfillError, LookBack};
use crate::{app::App, live::RoomLive};

/// A transaction that is under way has come by then; and so has the one that Synapse is about to leave behind.
const SETTLED_MS: i64 = 15_000;
const UNDER_WAY_MS: i64 = 5_000;
const PAGE: u32 = 100;
/// As many messages as are kept.
const PAGES: usize = 5;

impl App {
    /// Synapse can leave a transaction behind for good when its recovery ends in the moment at which an event is sent:
    /// it writes the transaction down for a recovery that is just over (`appservice/scheduler.py` of 1.163; seen once in
    /// seventy kills under load, 2026-11-30). Later transactions come as if nothing were missing, so the newest message
    /// does not show it. Looks once, a while after an outage. Never ends, so that it is given up by the next outage.
    pub(crate) async fn look_for_left_behind(&self) {
        if self.let_pass(SETTLED_MS).await {
            self.fetch_all_left_behind().await;
        }
        std::future::pending().await
    }

    async fn fetch_all_left_behind(&self) {
        for room in self.rooms.all() {
            if let Err(error) = self.fetch_left_behind(&room).await {
                tracing::warn!(%error, room = %room.room_id, "cannot look for messages that were left behind");
            }
        }
    }

    /// Newer messages are known.
    pub(super) async fn fetch_left_behind(&self, room: &Arc<RoomLive>) -> Result<(), BackfillError> {
        let Some(reader) = self.reader(room) else { return Ok(()) };
        let events = self.newest_pages(room, &reader).await?;
        let holes = self.holes(room, &events).await?;
        if holes.is_empty() || !self.let_pass(UNDER_WAY_MS).await || !self.still_missing(&holes).await? {
            return Ok(());
        }
        tracing::warn!(room = %room.room_id, "the homeserver left messages behind; fetching them");
        self.fill_in(room, LookBack::between_known(events), None, false).await
    }

    /// A page, and those before it as long as they end in a hole. Newest first.
    async fn newest_pages(
        &self,
        room: &RoomLive,
        reader: &UserId,
    ) -> Result<Vec<Box<RawValue>>, BackfillError> {
        let (mut events, mut from) = (vec![], None::<String>);
        for _ in 0..PAGES {
            let page = self.client.messages(reader, &room.room_id, from.as_deref(), true, PAGE).await?;
            let known = self.ends_known(room, &page.chunk).await?;
            events.extend(page.chunk);
            from = page.end;
            if known || from.is_none() {
                break;
            }
        }
        Ok(events)
    }

    /// Whether the oldest message that somebody else said is known, if there is any.
    async fn ends_known(&self, room: &RoomLive, page: &[Box<RawValue>]) -> Result<bool, BackfillError> {
        let theirs = |raw: &RawValue| match Incoming::parse(raw, Some(&room.room_id)) {
            Incoming::Message(NewMessage { head, .. }) | Incoming::Encrypted { head, .. } => {
                (!self.is_ours(&head.sender)).then_some(head.event_id)
            }
            _ => None,
        };
        match page.iter().rev().find_map(|raw| theirs(raw)) {
            Some(oldest) => Ok(self.had(&oldest).await?),
            None => Ok(true),
        }
    }

    /// Messages that are unknown while newer ones are known. Newest first, as the page is.
    async fn holes(
        &self,
        room: &RoomLive,
        page: &[Box<RawValue>],
    ) -> Result<Vec<OwnedEventId>, BackfillError> {
        let (mut holes, mut newer_known) = (vec![], false);
        for raw in page {
            let head = match Incoming::parse(raw, Some(&room.room_id)) {
                Incoming::Message(NewMessage { head, .. }) => head,
                // ours are known from the answers to their sends
                Incoming::Encrypted { head, .. } if !self.is_ours(&head.sender) => head,
                _ => continue,
            };
            if head.sender == self.settings.bot {
                continue;
            }
            match self.had(&head.event_id).await? {
                true => newer_known = true,
                false if newer_known => holes.push(head.event_id),
                false => {}
            }
        }
        Ok(holes)
    }

    async fn still_missing(&self, holes: &[OwnedEventId]) -> Result<bool, BackfillError> {
        for event_id in holes {
            if !self.had(event_id).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
