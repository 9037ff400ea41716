//! Carries out steps in one write, then follows it in memory.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    gaps::Unread,
    ids::{Pos, RoomKey},
};
use parlour_matrix::events::hops;
use parlour_store::{By, NewEntry, StoreError, Tx, Who};
use ruma::OwnedEventId;

use super::{
    Effect, Plan, Step,
    unseal::{unsealed, waits_no_more},
};
use crate::{
    app::App,
    crypto_rows::CryptoBatch,
    live::LogChange,
    sending::{append, cut_back},
};

impl App {
    /// All steps in one commit, with the number of their transaction. Where one step alone fails, it is the step that is
    /// at fault: the others are carried out without it.
    pub(crate) async fn carry_out(&self, plan: &mut Plan, journal_id: Option<i64>) -> Result<(), StoreError> {
        let (all, batches) = (plan.steps.clone(), plan.batches.clone());
        let write = move |tx: &Tx<'_>| {
            let effects = carry_out_all(tx, all)?;
            done(tx, &batches, journal_id)?;
            Ok(effects)
        };
        let written = match journal_id {
            // after a power cut the journal still has it
            Some(_) => self.rewrite_and_follow(write, Self::take_effects).await,
            None => self.write_and_follow(write, Self::take_effects).await,
        };
        match written {
            Ok(()) => {}
            Err(error) if is_of_one_step(&error) => self.one_by_one(plan, journal_id).await?,
            Err(error) => return Err(error),
        }
        plan.committed(self);
        Ok(())
    }

    async fn one_by_one(&self, plan: &Plan, journal_id: Option<i64>) -> Result<(), StoreError> {
        for step in plan.steps.iter().cloned() {
            match self.write_and_follow(move |tx| carry_out_all(tx, vec![step]), Self::take_effects).await {
                Ok(()) => {}
                Err(error) if is_of_one_step(&error) => {
                    metrics::counter!("parlour_poison_events_total").increment(1);
                    tracing::error!(%error, "left out an event that cannot be stored");
                }
                Err(error) => return Err(error),
            }
        }
        let batches = plan.batches.clone();
        self.store.write(move |tx| done(tx, &batches, journal_id)).await
    }

    pub(crate) fn take_effects(self: &Arc<Self>, effects: Vec<Effect>) {
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
            Effect::Exceptions { agent, room, now, arrival } => {
                if let Some(agent) = self.agents.get(agent) {
                    agent.put_exceptions(room, now);
                    arrival.into_iter().for_each(|seq| self.has_arrived(seq));
                    self.hub.nudge(agent.key());
                }
            }
            Effect::Invited(room) => {
                self.rests.news(&room);
                self.invited.notify_one();
            }
            Effect::Upgraded => self.upgraded.notify_one(),
            Effect::Errand => self.bot.to_do.notify_one(),
            Effect::BotOut(room) => self.bot_is_out(room),
            Effect::PersonKnocks(knock) => {
                let owner = self.rooms.get(knock.room).and_then(|room| room.owner());
                self.visitors.put(knock);
                owner.into_iter().for_each(|owner| self.hub.nudge(owner));
            }
            Effect::PersonGone { room, user } => self.visitors.leave(room, &user),
            Effect::TurnedAway { agent, room } => {
                self.doors.leave(room, agent);
                self.bot.at_door.notify_one();
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

/// What machines remember goes with the number of the transaction that it was made of.
fn done(tx: &Tx<'_>, batches: &[CryptoBatch], journal_id: Option<i64>) -> Result<(), StoreError> {
    batches.iter().try_for_each(|batch| batch.put(tx))?;
    journal_id.map_or(Ok(()), |id| tx.journal_done(id))
}

/// Logs are cut back once, after all that is new: each cut costs as much as a message.
pub(super) fn carry_out_all(tx: &Tx<'_>, steps: Vec<Step>) -> Result<Vec<Effect>, StoreError> {
    let mut grown = BTreeSet::new();
    let mut effects = vec![];
    for step in steps {
        let came = carry_out_at(tx, step, None)?;
        grown.extend(came.iter().filter_map(Effect::grew));
        effects.extend(came);
    }
    for room in grown {
        effects.push(Effect::Log { room, changes: cut_back(tx, room)? });
    }
    Ok(effects)
}

/// `at`: the place of the room's order that is kept for what it says; else the end.
pub(crate) fn carry_out_at(tx: &Tx<'_>, step: Step, at: Option<Pos>) -> Result<Vec<Effect>, StoreError> {
    match step {
        Step::Append { entry, settles } => {
            let (room, event_id) = (entry.room, entry.event_id.clone());
            let mut effects = vec![Effect::Log { room, changes: append(tx, entry, at)? }];
            if let Some((agent, submission)) = settles {
                tx.sent(agent, submission, &event_id)?;
                effects.push(Effect::Landed { agent, submission, event_id });
            }
            return Ok(effects);
        }
        Step::Redact { room, event_id, .. } if is_elsewhere(tx, room, &event_id)? => {}
        Step::Edit(edit) => {
            let edited = tx.edit(&edit, at)?;
            return Ok(changed(edit.room, edited.map(|(seq, edits)| LogChange::Edited { seq, edits })));
        }
        Step::Redact { room, event_id, by, any } => match tx.author_of(&event_id)? {
            author if any || author.as_deref() == Some(by.as_str()) => return redact(tx, room, &event_id),
            // it may come later than its redaction
            None => tx.retract(room, &event_id, &by)?,
            Some(_) => {}
        },
        Step::Member { room, member } => tx.put_member(room, &member)?,
        Step::Joined { agent, room } => {
            // in a private room only whoever was let in has a place: not one that was removed meanwhile, nor one that
            // follows an invitation before the room was read
            let seat = tx.may_sit(agent, room)?.then(|| tx.seat_confirmed(agent, room)).transpose()?;
            return Ok(seat.map(Effect::Seat).into_iter().collect());
        }
        Step::PutOut { agent, room, banned, by } => {
            let left = tx.put_out(agent, room, banned, &by)?;
            return Ok(left.map(Effect::Seat).into_iter().collect());
        }
        Step::Left { agent, room } => {
            return Ok(tx.seat_left(agent, room, false)?.map(Effect::Seat).into_iter().collect());
        }
        Step::Invited(invitation) => {
            tx.put_invitation(&invitation)?;
            return Ok(vec![Effect::Invited(invitation.room_id)]);
        }
        Step::PersonKnocks(knock) => {
            tx.put_person_knock(&knock)?;
            return Ok(vec![Effect::PersonKnocks(knock)]);
        }
        Step::PersonGone { room, user, answer, by } => {
            tx.answer_person_knock(room, &user, answer, &by)?;
            return Ok(vec![Effect::PersonGone { room, user }]);
        }
        Step::TurnedAway { agent, room, by, at_ms } => {
            tx.door_decided(room, agent, &by)?;
            tx.turn_away(agent, room, &By { who: Who::User(by), at_ms })?;
            return Ok(vec![Effect::TurnedAway { agent, room }]);
        }
        Step::BotInvited { event_id, invitation } => {
            // each once: the bot may have come and gone since
            if tx.heard(&event_id)? {
                tx.put_bot_invitation(&invitation)?;
            }
            return Ok(vec![Effect::Invited(invitation.room_id)]);
        }
        Step::BotOut { room, by } => {
            tx.drop_bot_room(room, &by)?;
            return Ok(vec![Effect::BotOut(room)]);
        }
        Step::Errand(errand) => {
            let new = tx.put_errand(&errand)?;
            return Ok(if new { vec![Effect::Errand] } else { vec![] });
        }
        Step::Heard { event_id } => {
            tx.heard(&event_id)?;
        }
        Step::BanNotOurs(ban) => tx.drop_listed_ban(&ban, None)?,
        Step::Successor { room, to } => {
            tx.set_successor(room, Some(&to))?;
            return Ok(vec![Effect::Upgraded]);
        }
        Step::Name { room, name, by } => tx.set_room_name(room, name.as_deref(), by.as_ref())?,
        Step::Visibility { room, visibility } => tx.set_room_visibility(room, visibility)?,
        Step::Power { room, power } => tx.set_room_power(room, &power)?,
        Step::Encrypted { room } => tx.set_room_encrypted(room)?,
        Step::Open { room, open } => tx.set_room_open(room, open)?,
        Step::Unsealed(event) => return unsealed(tx, event, at),
        Step::Wait(waiting) => {
            let unread = tx.put_waiting(&waiting, at)?;
            let unread = unread.map(|pos| Unread { pos, received_at_ms: waiting.received_at_ms });
            return Ok(changed(waiting.room, unread.map(|u| LogChange::Unread(waiting.event_id, u))));
        }
        Step::GiveUp { event_id } => return Ok(waits_no_more(tx, &event_id)?.1),
        Step::Readable { agent, room, event_id } => {
            let arrival = tx.readable_now(agent, &event_id)?;
            let now = tx.exceptions(agent, room)?;
            return Ok(vec![Effect::Exceptions { agent, room, now, arrival }]);
        }
        Step::HasKey { agent, room, key } => {
            if tx.show_all(agent, room, &key)? > 0 {
                let now = tx.exceptions(agent, room)?;
                return Ok(vec![Effect::Exceptions { agent, room, now, arrival: None }]);
            }
        }
        Step::OwnEcho { ref echo, ref session, .. } => {
            let (event_id, session) = (echo.event_id.clone(), session.clone());
            let effects = own_echo(tx, step)?;
            session.map_or(Ok(()), |(id, index)| tx.note_session(&event_id, &id, index))?;
            return Ok(effects);
        }
        Step::Pulled { account, since } => tx.set_device_since(account, &since)?,
        Step::Counts { account, counts } => {
            tx.set_device_counts(account, Some(counts.one_time_keys), counts.fallback_unused)?;
        }
    }
    Ok(vec![])
}

/// Power and authorship are judged by room: an event of another one is out of reach.
fn is_elsewhere(tx: &Tx<'_>, room: RoomKey, event_id: &OwnedEventId) -> Result<bool, StoreError> {
    Ok(tx.room_of(event_id)?.is_some_and(|of| of != room))
}

/// An own message that went out encrypted: settled by its echo, or given its time and place by it.
fn own_echo(tx: &Tx<'_>, step: Step) -> Result<Vec<Effect>, StoreError> {
    let Step::OwnEcho { agent, author, sender, room, digest, echo, received_at_ms, .. } = step else {
        return Ok(vec![]);
    };
    let Some(submission) = tx.submission_of_sealed(agent, digest)? else { return Ok(vec![]) };
    let (None, Some(content), Some(body)) = (&submission.event_id, submission.content, submission.body)
    else {
        let confirmed = tx.confirm_sealed(room, &echo)?;
        let change =
            confirmed.map(|(seq, pos)| LogChange::Confirmed { seq, pos, sent_at_ms: echo.sent_at_ms });
        return Ok(changed(room, change));
    };
    let entry = NewEntry {
        room,
        event_id: echo.event_id.clone(),
        message_id: submission.id,
        sender,
        author,
        event_type: "m.room.message".to_owned(),
        hops: serde_json::from_str(&content).map_or(0, hops),
        content,
        body,
        sent_at_ms: echo.sent_at_ms,
        received_at_ms,
        visibility: echo.visibility,
        echoed: true,
        encrypted: true,
    };
    carry_out_at(tx, Step::Append { entry, settles: Some((agent, submission.id)) }, None)
}

/// A message goes; an edit's going brings the words before it back.
fn redact(tx: &Tx<'_>, room: RoomKey, event_id: &OwnedEventId) -> Result<Vec<Effect>, StoreError> {
    let (_, waited) = waits_no_more(tx, event_id)?;
    let restored = tx.redact_edit(event_id)?.map(|(seq, edits)| LogChange::Edited { seq, edits });
    let removed = tx.redact(event_id)?.map(LogChange::Removed);
    Ok([waited, changed(room, restored), changed(room, removed)].into_iter().flatten().collect())
}

pub(super) fn changed(room: RoomKey, change: Option<LogChange>) -> Vec<Effect> {
    change.map(|change| Effect::Log { room, changes: vec![change] }).into_iter().collect()
}
