//! Carries out steps in one write, then follows it in memory.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::ids::{AgentKey, MessageId, RoomKey};
use parlour_store::{SeatRow, StoreError, Tx};
use ruma::OwnedEventId;

use super::Step;
use crate::{
    app::App,
    live::LogChange,
    sending::{append, cut_back},
};

/// What a step came to, once it is on disk.
#[derive(Debug)]
enum Effect {
    Log { room: RoomKey, changes: Vec<LogChange> },
    Landed { agent: AgentKey, submission: MessageId, event_id: OwnedEventId },
    Seat(SeatRow),
}

impl App {
    /// All steps in one commit, the journal's row with them. Where one step alone fails, it is the step that is at
    /// fault: the others are carried out without it.
    pub(crate) async fn carry_out(&self, steps: &[Step], journal_id: Option<i64>) -> Result<(), StoreError> {
        let all = steps.to_vec();
        let write = move |tx: &Tx<'_>| {
            let effects = carry_out_all(tx, all)?;
            done(tx, journal_id)?;
            Ok(effects)
        };
        let written = match journal_id {
            // after a power cut the journal still has it
            Some(_) => self.rewrite_and_follow(write, Self::take_effects).await,
            None => self.write_and_follow(write, Self::take_effects).await,
        };
        match written {
            Ok(()) => {}
            Err(error) if is_of_one_step(&error) => self.one_by_one(steps, journal_id).await?,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn one_by_one(&self, steps: &[Step], journal_id: Option<i64>) -> Result<(), StoreError> {
        for step in steps.iter().cloned() {
            match self.write_and_follow(move |tx| carry_out_all(tx, vec![step]), Self::take_effects).await {
                Ok(()) => {}
                Err(error) if is_of_one_step(&error) => {
                    metrics::counter!("parlour_poison_events_total").increment(1);
                    tracing::error!(%error, "left out an event that cannot be stored");
                }
                Err(error) => return Err(error),
            }
        }
        self.store.write(move |tx| done(tx, journal_id)).await
    }

    fn take_effects(self: &Arc<Self>, effects: Vec<Effect>) {
        effects.into_iter().for_each(|effect| self.take_effect(effect));
    }

    fn take_effect(&self, effect: Effect) {
        match effect {
            Effect::Log { room, changes } => {
                if let Some(room) = self.rooms.get(room) {
                    self.follow(&room, &changes);
                }
            }
            Effect::Landed { agent, submission, event_id } => {
                self.flights.land((agent, submission), Ok(event_id))
            }
            Effect::Seat(row) => {
                if let Some(agent) = self.agents.get(row.agent) {
                    agent.put_seat(row);
                    self.hub.nudge(agent.key());
                }
            }
        }
    }
}

fn is_of_one_step(error: &StoreError) -> bool {
    matches!(error, StoreError::Corrupt(_) | StoreError::Panicked)
}

fn done(tx: &Tx<'_>, journal_id: Option<i64>) -> Result<(), StoreError> {
    journal_id.map_or(Ok(()), |id| tx.journal_done(id))
}

/// Logs are cut back once, after all that is new: each cut costs as much as a message.
fn carry_out_all(tx: &Tx<'_>, steps: Vec<Step>) -> Result<Vec<Effect>, StoreError> {
    let mut grown = BTreeSet::new();
    let mut effects = vec![];
    for step in steps {
        if let Step::Append { entry, .. } = &step {
            grown.insert(entry.room);
        }
        effects.extend(carry_out(tx, step)?);
    }
    for room in grown {
        effects.push(Effect::Log { room, changes: cut_back(tx, room)? });
    }
    Ok(effects)
}

fn carry_out(tx: &Tx<'_>, step: Step) -> Result<Vec<Effect>, StoreError> {
    match step {
        Step::Append { entry, settles } => {
            let (room, event_id) = (entry.room, entry.event_id.clone());
            let mut effects = vec![Effect::Log { room, changes: append(tx, entry)? }];
            if let Some((agent, submission)) = settles {
                tx.sent(agent, submission, &event_id)?;
                effects.push(Effect::Landed { agent, submission, event_id });
            }
            return Ok(effects);
        }
        Step::Edit { room, edit } if is_elsewhere(tx, room, &edit.target)? => {}
        Step::Redact { room, event_id, .. } if is_elsewhere(tx, room, &event_id)? => {}
        Step::Edit { room, edit } => {
            let edited = tx.edit(&edit)?;
            return Ok(changed(room, edited.map(|(seq, body)| LogChange::Edited { seq, body })));
        }
        Step::Redact { room, event_id, by, any } => {
            let author = tx.author_of(&event_id)?;
            if any || author.as_deref() == Some(by.as_str()) {
                return redact(tx, room, &event_id);
            }
        }
        Step::Member { room, member } => tx.put_member(room, &member)?,
        Step::Joined { agent, room } => return Ok(vec![Effect::Seat(tx.seat_confirmed(agent, room)?)]),
        Step::Left { agent, room } => {
            return Ok(tx.seat_left(agent, room, false)?.map(Effect::Seat).into_iter().collect());
        }
        Step::Name { room, name } => tx.set_room_name(room, name.as_deref())?,
        Step::Visibility { room, visibility } => tx.set_room_visibility(room, visibility)?,
        Step::Power { room, power } => tx.set_room_power(room, &power)?,
        Step::Encrypted { room } => tx.set_room_encrypted(room)?,
    }
    Ok(vec![])
}

/// Power and authorship are judged by room: an event of another one is out of reach.
fn is_elsewhere(tx: &Tx<'_>, room: RoomKey, event_id: &OwnedEventId) -> Result<bool, StoreError> {
    Ok(tx.room_of(event_id)?.is_some_and(|of| of != room))
}

/// What a step that edits or redacts changes in its room's log.
pub(crate) fn log_changes(tx: &Tx<'_>, step: Step) -> Result<Vec<LogChange>, StoreError> {
    let effects = carry_out(tx, step)?.into_iter();
    Ok(effects.flat_map(|e| if let Effect::Log { changes, .. } = e { changes } else { vec![] }).collect())
}

/// A message goes; an edit's going brings the words before it back.
fn redact(tx: &Tx<'_>, room: RoomKey, event_id: &OwnedEventId) -> Result<Vec<Effect>, StoreError> {
    let restored = tx.redact_edit(event_id)?.map(|(seq, body)| LogChange::Edited { seq, body });
    let removed = tx.redact(event_id)?.map(LogChange::Removed);
    Ok([changed(room, restored), changed(room, removed)].into_iter().flatten().collect())
}

fn changed(room: RoomKey, change: Option<LogChange>) -> Vec<Effect> {
    change.map(|change| Effect::Log { room, changes: vec![change] }).into_iter().collect()
}
