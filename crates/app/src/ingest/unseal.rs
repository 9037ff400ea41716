//! What was decrypted goes into the log, for those who can decrypt it themselves.

use std::collections::BTreeSet;

use parlour_domain::ids::{AgentKey, Pos, RoomKey, Seq};
use parlour_store::{Exception, StoreError, Tx};
use ruma::OwnedEventId;

use super::{
    Effect, Step,
    apply::{carry_out_at, changed},
    sealed::Unsealed,
};
use crate::live::LogChange;

/// What was decrypted, unless the same was read before under another event id. Who cannot read it is noted in the same
/// breath, and memory is told of it first.
pub(super) fn unsealed(
    tx: &Tx<'_>,
    mut unsealed: Unsealed,
    at: Option<Pos>,
) -> Result<Vec<Effect>, StoreError> {
    let (kept, mut effects) = waits_no_more(tx, &unsealed.event_id)?;
    if unsealed.waited && kept.is_none() {
        // redacted meanwhile, or read by somebody else's plan
        return Ok(vec![]);
    }
    if !tx.place_read(unsealed.place, &unsealed.event_id)? {
        metrics::counter!("parlour_replays_total").increment(1);
        return Ok(effects);
    }
    let Some(then) = unsealed.then.take() else { return Ok(effects) };
    let room = match &*then {
        Step::Append { entry, .. } => entry.room,
        Step::Edit(edit) => edit.room,
        Step::Errand(_) | Step::Heard { .. } => {
            effects.extend(carry_out_at(tx, *then, None)?);
            return Ok(effects);
        }
        _ => return Ok(effects),
    };
    let at = kept.or(at);
    let told = carry_out_at(tx, *then, at)?;
    if let Some((seq, pos)) = tx.told_of(&unsealed.event_id)? {
        tx.note_session(&unsealed.event_id, &unsealed.session_id, unsealed.message_index)?;
        effects.extend(withhold(tx, room, &unsealed, (seq, pos))?);
        if at.is_some() {
            effects.extend(show(tx, room, &unsealed, (seq, pos))?);
        }
    }
    effects.extend(told);
    Ok(effects)
}

/// From whoever was in then and is not known to have the key: also from one that came in or left since this was planned,
/// and from one whose seat is still to come.
fn withhold(
    tx: &Tx<'_>,
    room: RoomKey,
    unsealed: &Unsealed,
    (seq, pos): (Seq, Pos),
) -> Result<Vec<Effect>, StoreError> {
    let mut without: BTreeSet<AgentKey> = tx.seated_at(room, pos, &unsealed.readers)?.into_iter().collect();
    for agent in &unsealed.withheld {
        if !tx.is_seated(*agent, room)? {
            without.insert(*agent);
        }
    }
    let withhold = |agent| {
        tx.withhold(&Exception {
            agent,
            event_id: unsealed.event_id.clone(),
            seq,
            room,
            session_id: unsealed.session_id.clone(),
            event: unsealed.event.clone(),
        })?;
        Ok(Effect::Exceptions { agent, room, now: tx.exceptions(agent, room)?, arrival: None })
    };
    without.into_iter().map(withhold).collect()
}

/// To those who were not in and have the key, since somebody shared the room's history with them.
fn show(
    tx: &Tx<'_>,
    room: RoomKey,
    unsealed: &Unsealed,
    (seq, pos): (Seq, Pos),
) -> Result<Vec<Effect>, StoreError> {
    let there = tx.seated_at(room, pos, &BTreeSet::new())?;
    let mut effects = vec![];
    for &agent in unsealed.readers.iter().filter(|agent| !there.contains(agent)) {
        tx.show(agent, room, seq)?;
        effects.push(Effect::Exceptions { agent, room, now: tx.exceptions(agent, room)?, arrival: None });
    }
    Ok(effects)
}

/// The place that was kept for an event, and the news that it does not wait any more.
pub(super) fn waits_no_more(
    tx: &Tx<'_>,
    event_id: &OwnedEventId,
) -> Result<(Option<Pos>, Vec<Effect>), StoreError> {
    let Some((room, pos)) = tx.drop_waiting(event_id)? else { return Ok((None, vec![])) };
    Ok((Some(pos), changed(room, Some(LogChange::NotUnread(event_id.clone())))))
}
