//! Messages that did not come by transaction: those from before the bridge knew a room, and those that were lost.

use std::sync::Arc;

use parlour_domain::{ids::Pos, limits::ROOM_HISTORY, message::Message};
use parlour_matrix::{
    HsError, Incoming,
    events::{Membership, NewMessage, StateChange, StateEvent},
};
use parlour_store::{Gap, NewEntry, StoreError, Tx};
use ruma::{OwnedEventId, RoomId, UserId};
use serde_json::value::RawValue;

use crate::{
    app::App,
    ingest::{Planner, Step, carry_out},
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
    /// The same, with what is known already in its place.
    Everything,
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
        let Some(reader) = self.reader(room) else { return Ok(()) };
        let mut back = self.look_back(room, &reader, Until::AllThatIsKept).await?;
        back.known = None;
        let before = self.oldest(room).await?;
        self.fill_in(room, back, before, false).await?;
        Ok(self.store.write(move |tx| tx.set_meta(&done, b"")).await?)
    }

    /// What was said in a room that `reader` has just come into, and where in its order that was: before all that is
    /// known, nothing may have been.
    pub(crate) async fn read_history_around_join(
        &self,
        room: &Arc<RoomLive>,
        reader: &UserId,
    ) -> Result<Pos, BackfillError> {
        let back = self.look_back(room, reader, Until::Everything).await?;
        let before = last_before_join(&back, &room.room_id, reader);
        self.fill_in(room, back, None, false).await?;
        let Some(before) = before else { return Ok(Pos(0)) };
        Ok(room.with_log(|log| log.event(&before).map_or(Pos(0), |m| m.pos)))
    }

    /// All that is kept of a room, in its order, whatever of it is known already.
    pub(crate) async fn read_all_history(
        &self,
        room: &Arc<RoomLive>,
        reader: &UserId,
    ) -> Result<(), BackfillError> {
        let back = self.look_back(room, reader, Until::Everything).await?;
        self.fill_in(room, back, None, false).await
    }

    /// Pages back from the newest message, as far as is kept at most.
    pub(crate) async fn look_back(
        &self,
        room: &RoomLive,
        reader: &UserId,
        until: Until,
    ) -> Result<LookBack, BackfillError> {
        let mut back = LookBack::default();
        let (mut from, mut messages) = (None::<String>, 0);
        let mut pages = 0;
        while messages < ROOM_HISTORY && pages < PAGES {
            pages += 1;
            let page = self.client.messages(reader, &room.room_id, from.as_deref(), true, PAGE).await?;
            for raw in page.chunk {
                let parsed = Incoming::parse(&raw, Some(&room.room_id));
                if let Incoming::Message(NewMessage { head, .. }) | Incoming::Encrypted { head, .. } = parsed
                {
                    messages += 1;
                    match (self.had(&head.event_id).await?, until) {
                        (false, _) => back.known = None,
                        // newer ones come, or came, by transaction
                        (true, Until::AllThatIsKept) => back.events.clear(),
                        (true, Until::Everything) => {}
                        // known from the answer to its send: what came before it may be lost all the same
                        (true, Until::Known) if self.settings.is_puppet(&head.sender) => {
                            back.known = Some(head.event_id);
                        }
                        (true, Until::Known) => {
                            back.known = Some(head.event_id);
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
        let mut plan = planner.finish();
        let batches = plan.batches.clone();
        let (entries, rest) = split(std::mem::take(&mut plan.steps), lost);
        let gap = lost && back.known.is_none() && !back.reached_the_start;
        let (room_key, after) = (room.key, self.newest_before(room, before).await?);
        let room = room.clone();
        let write = move |tx: &Tx<'_>| {
            let changes = write_filled(tx, room_key, entries, before, gap.then_some(after))?;
            batches.iter().try_for_each(|batch| batch.put(tx))?;
            let mut effects = vec![];
            for step in rest {
                effects.extend(carry_out(tx, step)?);
            }
            Ok((changes, effects))
        };
        let follow = move |app: &Arc<Self>, (changes, effects): (Vec<LogChange>, _)| {
            app.follow(&room, &changes);
            app.take_effects(effects);
        };
        self.write_and_follow(write, follow).await?;
        plan.committed(self);
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

/// The newest message that was said before `reader` came in.
fn last_before_join(back: &LookBack, room: &RoomId, reader: &UserId) -> Option<OwnedEventId> {
    let is_join = |event: &RawValue| match Incoming::parse(event, Some(room)) {
        Incoming::State(StateEvent { change: StateChange::Member(member), .. }) => {
            member.user == reader && member.membership == Membership::Join
        }
        _ => false,
    };
    let mut earlier = back.events.iter().skip_while(|event| !is_join(event));
    earlier.find_map(|event| match Incoming::parse(event, Some(room)) {
        Incoming::Message(message) => Some(message.head.event_id),
        _ => None,
    })
}

/// Messages, and what changes messages. Nothing else of the past counts today.
fn split(steps: Vec<Step>, lost: bool) -> (Vec<NewEntry>, Vec<Step>) {
    let mut entries = vec![];
    let mut rest = vec![];
    for step in steps {
        match step {
            Step::Append { entry, .. } => entries.push(entry),
            step @ (Step::Edit(_)
            | Step::Redact { .. }
            | Step::Unsealed(_)
            | Step::OwnEcho { .. }
            | Step::Heard { .. }) => {
                rest.push(step);
            }
            // from before an agent came, its key is not to be waited for
            step @ Step::Wait(_) if lost => rest.push(step),
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
