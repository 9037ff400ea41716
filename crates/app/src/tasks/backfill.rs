//! Messages that did not come by transaction: those from before the bridge knew a room, and those that were lost.

use std::sync::Arc;

use parlour_domain::{ids::Pos, limits::ROOM_HISTORY, message::Message};
use parlour_matrix::{HsError, Incoming};
use parlour_store::{Gap, NewEntry, StoreError, Tx};
use ruma::OwnedEventId;
use serde_json::value::RawValue;

use crate::{
    app::App,
    ingest::{Planner, Step, log_changes},
    live::{LogChange, RoomLive},
};

const PAGE: u32 = 100;
/// A room of reactions and joins has no end of pages; what is not a message is kept in memory meanwhile.
const PAGES: usize = 50;

/// How far to look back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// To a message that is known.
    Known,
    AllThatIsKept,
}

/// What a look back brought up, newest first.
#[derive(Default)]
pub(crate) struct LookBack {
    events: Vec<Box<RawValue>>,
    /// The message at which it ended, where that is known.
    known: Option<OwnedEventId>,
    reached_the_start: bool,
}

impl LookBack {
    /// A page, newest first, with unknown messages between known ones.
    pub(crate) fn between_known(events: Vec<Box<RawValue>>) -> Self {
        Self { events, ..Self::default() }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackfillError {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// What was said in a room before the bridge came: as much as is kept, so that newcomers can read themselves in.
    /// Once it is done it is never done again.
    pub(crate) async fn read_history(&self, room: &Arc<RoomLive>) -> Result<(), BackfillError> {
        let done = format!("history_read:{}", room.key.0);
        let asked = done.clone();
        if self.store.read(move |r| r.meta(&asked)).await?.is_some() {
            return Ok(());
        }
        let mut back = self.look_back(room, Until::AllThatIsKept).await?;
        back.known = None;
        let before = self.oldest(room).await?;
        self.fill_in(room, back, before, false).await?;
        Ok(self.store.write(move |tx| tx.set_meta(&done, b"")).await?)
    }

    /// Pages back from the newest message, as far as is kept at most.
    pub(crate) async fn look_back(&self, room: &RoomLive, until: Until) -> Result<LookBack, BackfillError> {
        let bot = &self.settings.bot;
        let mut back = LookBack::default();
        let (mut from, mut messages) = (None::<String>, 0);
        let mut pages = 0;
        while messages < ROOM_HISTORY && pages < PAGES {
            pages += 1;
            let page = self.client.messages(bot, &room.room_id, from.as_deref(), true, PAGE).await?;
            for raw in page.chunk {
                if let Incoming::Message(message) = Incoming::parse(&raw, Some(&room.room_id)) {
                    messages += 1;
                    match (self.had(&message.head.event_id).await?, until) {
                        (false, _) => back.known = None,
                        // newer ones come, or came, by transaction
                        (true, Until::AllThatIsKept) => back.events.clear(),
                        // known from the answer to its send: what came before it may be lost all the same
                        (true, Until::Known) if self.settings.is_puppet(&message.head.sender) => {
                            back.known = Some(message.head.event_id);
                        }
                        (true, Until::Known) => {
                            back.known = Some(message.head.event_id);
                            return Ok(back);
                        }
                    }
                }
                back.events.push(raw);
            }
            from = page.end;
            if from.is_none() {
                back.reached_the_start = true;
                break;
            }
        }
        Ok(back)
    }

    /// Takes in what a look back brought up. With `lost`, what came before it and is not kept is told as a gap.
    pub(crate) async fn fill_in(
        &self,
        room: &Arc<RoomLive>,
        back: LookBack,
        before: Option<Pos>,
        lost: bool,
    ) -> Result<(), BackfillError> {
        let mut planner = Planner::new(self, self.now());
        for raw in back.events.iter().rev() {
            planner.take_said(raw, &room.room_id).await;
        }
        let (entries, rest) = split(planner.finish());
        let gap = lost && back.known.is_none() && !back.reached_the_start;
        let (room_key, after) = (room.key, self.newest_before(room, before).await?);
        let room = room.clone();
        let write = move |tx: &Tx<'_>| {
            let mut changes = write_filled(tx, room_key, entries, before, gap.then_some(after))?;
            for step in rest {
                changes.extend(log_changes(tx, step)?);
            }
            Ok(changes)
        };
        self.write_and_follow(write, move |app, changes| app.follow(&room, &changes)).await?;
        Ok(())
    }

    pub(super) async fn had(&self, event_id: &OwnedEventId) -> Result<bool, StoreError> {
        let event_id = event_id.clone();
        self.store.read(move |r| r.had(&event_id)).await
    }

    async fn oldest(&self, room: &RoomLive) -> Result<Option<Pos>, StoreError> {
        let key = room.key;
        Ok(self.store.read(move |r| r.edge(key, false)).await?.map(|(pos, _)| pos))
    }

    async fn newest_before(
        &self,
        room: &RoomLive,
        before: Option<Pos>,
    ) -> Result<Option<OwnedEventId>, StoreError> {
        room.load(&self.store, self.now()).await?;
        let earlier = |m: &Arc<Message>| before.is_none_or(|b| m.pos < b);
        Ok(room.with_log(|log| log.in_order().into_iter().rfind(earlier).map(|m| m.event_id.clone())))
    }
}

/// Messages, and what changes messages. Nothing else of the past counts today.
fn split(steps: Vec<Step>) -> (Vec<NewEntry>, Vec<Step>) {
    let mut entries = vec![];
    let mut rest = vec![];
    for step in steps {
        match step {
            Step::Append { entry, .. } => entries.push(entry),
            step @ (Step::Edit { .. } | Step::Redact { .. }) => rest.push(step),
            _ => {}
        }
    }
    (entries, rest)
}

fn write_filled(
    tx: &Tx<'_>,
    room: parlour_domain::ids::RoomKey,
    entries: Vec<NewEntry>,
    before: Option<Pos>,
    gap_after: Option<Option<OwnedEventId>>,
) -> Result<Vec<LogChange>, StoreError> {
    let added = tx.fill_in(entries, before)?;
    let first = added.first().map(|m| m.seq);
    let mut changes: Vec<LogChange> = added.into_iter().map(|m| LogChange::Added(Arc::new(m))).collect();
    if let (Some(after_event_id), Some(before)) = (gap_after, first) {
        let gap = Gap { before, after_event_id, reason: "too_many".to_owned() };
        tx.add_gap(&gap)?;
        changes.push(LogChange::Gap(gap));
    }
    changes.extend(tx.evict(room)?.into_iter().map(LogChange::Evicted));
    Ok(changes)
}
