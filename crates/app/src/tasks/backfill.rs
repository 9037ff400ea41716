//! Messages that did not come by transaction: those from before the bridge knew a room, and those that were lost.

use std::sync::Arc;

use parlour_domain::{
    ids::{Pos, RoomKey, Seq},
    limits::ROOM_HISTORY,
    message::Message,
    visibility::Visibility,
};
use parlour_matrix::{
    HsError, Incoming,
    events::{Membership, NewMessage, StateChange, StateEvent, visibility_before},
};
use parlour_store::{Gap, Reader, StoreError, Tx};
use ruma::{OwnedEventId, RoomId, UserId};
use serde_json::value::RawValue;

use crate::{
    app::App,
    ingest::{Effect, Planner, Step, carry_out_at},
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

    /// The history visibility at the oldest event: what it was before the first change of it among them. `None`: it has
    /// not changed since.
    fn visibility_at_its_start(&self, room: &RoomLive) -> Option<Visibility> {
        let set = |event: &&RawValue| visibility_set(event, &room.room_id).is_some();
        self.events.iter().map(AsRef::as_ref).rfind(set).map(visibility_before)
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
        let before = before_join(&back, &room.room_id, reader);
        self.fill_in(room, back, None, false).await?;
        let place = move |r: &Reader<'_>| {
            for event_id in &before {
                if let Some(pos) = r.place_of(event_id)? {
                    return Ok(pos);
                }
            }
            Ok(Pos(0))
        };
        Ok(self.store.read(place).await?)
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
        planner.then = back.visibility_at_its_start(room);
        for raw in back.events.iter().rev() {
            if let Some(visibility) = visibility_set(raw, &room.room_id) {
                planner.then = Some(visibility);
            }
            planner.take_said(raw, &room.room_id).await;
        }
        let mut plan = planner.finish();
        let batches = plan.batches.clone();
        let steps: Vec<Step> = std::mem::take(&mut plan.steps).into_iter().filter(counts).collect();
        let gap = lost && back.known.is_none() && !back.reached_the_start;
        let (key, after) = (room.key, self.newest_before(room, before).await?);
        let write = move |tx: &Tx<'_>| {
            let effects = write_filled(tx, key, steps, before, gap.then_some(after))?;
            batches.iter().try_for_each(|batch| batch.put(tx))?;
            Ok(effects)
        };
        self.write_and_follow(write, Self::take_effects).await?;
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

/// What was said before `reader` came in, newest first.
fn before_join(back: &LookBack, room: &RoomId, reader: &UserId) -> Vec<OwnedEventId> {
    let is_join = |event: &RawValue| match Incoming::parse(event, Some(room)) {
        Incoming::State(StateEvent { change: StateChange::Member(member), .. }) => {
            member.user == reader && member.membership == Membership::Join
        }
        _ => false,
    };
    let earlier = back.events.iter().skip_while(|event| !is_join(event));
    let said = earlier.filter_map(|event| match Incoming::parse(event, Some(room)) {
        Incoming::Message(NewMessage { head, .. }) | Incoming::Encrypted { head, .. } => Some(head.event_id),
        _ => None,
    });
    said.collect()
}

fn visibility_set(event: &RawValue, room: &RoomId) -> Option<Visibility> {
    match Incoming::parse(event, Some(room)) {
        Incoming::State(StateEvent { change: StateChange::HistoryVisibility(visibility), .. }) => {
            Some(visibility)
        }
        _ => None,
    }
}

/// Messages, and what changes messages. Nothing else of the past counts today.
fn counts(step: &Step) -> bool {
    step.event().is_some() || matches!(step, Step::Redact { .. } | Step::OwnEcho { .. } | Step::Heard { .. })
}

/// Everything at the place where it stood.
fn write_filled(
    tx: &Tx<'_>,
    room: RoomKey,
    steps: Vec<Step>,
    before: Option<Pos>,
    gap_after: Option<Option<OwnedEventId>>,
) -> Result<Vec<Effect>, StoreError> {
    let events: Vec<OwnedEventId> = steps.iter().filter_map(|step| step.event().cloned()).collect();
    let mut places = tx.reserve(room, &events, before)?.into_iter();
    let mut effects = vec![];
    for step in steps {
        match (step.event().is_some(), step.event().and_then(|_| places.next()).flatten()) {
            // known already, or to stay out
            (true, None) => {}
            (_, at) => effects.extend(carry_out_at(tx, step, at)?),
        }
    }
    let mut changes = vec![];
    if let (Some(after_event_id), Some(before)) = (gap_after, first_added(&effects)) {
        let gap = Gap { before, after_event_id, reason: "too_many".to_owned() };
        tx.add_gap(&gap)?;
        changes.push(LogChange::Gap(gap));
    }
    changes.extend(tx.evict(room)?.into_iter().map(LogChange::Evicted));
    effects.push(Effect::Log { room, changes });
    Ok(effects)
}

fn first_added(effects: &[Effect]) -> Option<Seq> {
    let changes = effects.iter().flat_map(|effect| match effect {
        Effect::Log { changes, .. } => changes.as_slice(),
        _ => &[],
    });
    let mut added = changes.filter_map(|change| match change {
        LogChange::Added(message) => Some(message.seq),
        _ => None,
    });
    added.next()
}
