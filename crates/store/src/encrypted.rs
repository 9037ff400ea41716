//! Encrypted events that one agent cannot read, or could late; echoes of our own, and replays.

use std::collections::{BTreeMap, BTreeSet};

use parlour_domain::{
    ids::{AgentKey, Pos, RoomKey, Seq},
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    value::{event_digest, id, text},
};

/// An event that one agent cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    pub agent: AgentKey,
    pub event_id: OwnedEventId,
    /// Arrival number of the message or the edit.
    pub seq: Seq,
    pub room: RoomKey,
    pub session_id: String,
    /// The whole event as it came.
    pub event: String,
}

/// What one agent reads in a room otherwise than its periods of membership say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// Messages and edits that it cannot decrypt.
    pub withheld: BTreeSet<Seq>,
    /// Messages and edits from before it came that it can.
    pub shown: BTreeSet<Seq>,
    /// Messages that it could decrypt late, with their arrival numbers for it.
    pub late: BTreeMap<Seq, Seq>,
}

/// The echo of a message that was sent encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEcho {
    pub event_id: OwnedEventId,
    pub sent_at_ms: i64,
    pub visibility: Visibility,
}

impl Tx<'_> {
    /// Notes by which event a place of a room key was read; `false`: by another one before, so this one is a replay.
    pub fn place_read(&self, place: [u8; 16], event_id: &EventId) -> Result<bool, StoreError> {
        let event = event_digest(event_id.as_str());
        let add = "INSERT INTO places_read (place, event) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.0.prepare_cached(add)?.execute((place, event))? > 0 {
            return Ok(true);
        }
        let mut query = self.0.prepare_cached("SELECT event = ?2 FROM places_read WHERE place = ?1")?;
        Ok(query.query_row((place, event), |row| row.get(0))?)
    }

    /// The agents that were in a room at a place of its order, but for some.
    pub fn seated_at(
        &self,
        room: RoomKey,
        pos: Pos,
        but: &BTreeSet<AgentKey>,
    ) -> Result<Vec<AgentKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT agent_key FROM seats WHERE room_key = ?1")?;
        let seated = query.query_map([room.0], |row| row.get(0).map(AgentKey))?;
        let seated = seated.collect::<Result<Vec<_>, _>>()?;
        drop(query);
        let mut there = vec![];
        for agent in seated.into_iter().filter(|agent| !but.contains(agent)) {
            if self.seat(agent, room)?.is_some_and(|row| row.seat.was_in(pos)) {
                there.push(agent);
            }
        }
        Ok(there)
    }

    /// Whether an agent has or had a place in a room.
    pub fn is_seated(&self, agent: AgentKey, room: RoomKey) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM seats WHERE agent_key = ?1 AND room_key = ?2)";
        Ok(self.0.prepare_cached(query)?.query_row((agent.0, room.0), |row| row.get(0))?)
    }

    /// Keeps a message or an edit from an agent.
    pub fn withhold(&self, exception: &Exception) -> Result<(), StoreError> {
        let put = "INSERT INTO exceptions (agent_key, event_id, seq, room_key, session_id, event)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(put)?.execute((
            exception.agent.0,
            exception.event_id.as_str(),
            exception.seq.0,
            exception.room.0,
            &exception.session_id,
            &exception.event,
        ))?;
        Ok(())
    }

    /// The key of an event has come for an agent from which it was withheld. A message is a new arrival for this agent,
    /// with a number of its own, so that acknowledging what came before does not take it along. An edit wakes nobody.
    pub fn readable_now(&self, agent: AgentKey, event_id: &EventId) -> Result<Option<Seq>, StoreError> {
        if self.known(event_id)?.is_none() {
            let gone = "DELETE FROM exceptions WHERE agent_key = ?1 AND event_id = ?2";
            self.0.prepare_cached(gone)?.execute((agent.0, event_id.as_str()))?;
            return Ok(None);
        }
        let arrival = self.next_arrival()?;
        let set =
            "UPDATE exceptions SET late_at = ?3 WHERE agent_key = ?1 AND event_id = ?2 AND late_at IS NULL";
        let set = self.0.prepare_cached(set)?.execute((agent.0, event_id.as_str(), arrival.0))?;
        Ok((set > 0).then_some(arrival))
    }

    /// The message or the edit with this arrival number has gone.
    pub(crate) fn forget_exceptions(&self, seq: Seq) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM exceptions WHERE seq = ?1")?.execute([seq.0])?;
        self.0.prepare_cached("DELETE FROM shown WHERE seq = ?1")?.execute([seq.0])?;
        Ok(())
    }

    /// What is withheld from an agent in a room, and what it was given late.
    pub fn exceptions(&self, agent: AgentKey, room: RoomKey) -> Result<Exceptions, StoreError> {
        exceptions(self.0, agent, room)
    }

    /// Arrival number and place of a message or an edit.
    pub fn told_of(&self, event_id: &EventId) -> Result<Option<(Seq, Pos)>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT seq, pos FROM log WHERE event_id = ?1 UNION ALL SELECT seq, pos FROM edits WHERE event_id = ?1",
        )?;
        let told = |row: &Row<'_>| Ok((Seq(row.get(0)?), Pos(row.get(1)?)));
        Ok(query.query_row([event_id.as_str()], told).optional()?)
    }

    /// An echo gives an own encrypted message, known from the answer to its send, its time and its place.
    pub fn confirm_sealed(&self, room: RoomKey, echo: &SealedEcho) -> Result<Option<(Seq, Pos)>, StoreError> {
        let Some((seq, pos, false)) = self.known(&echo.event_id)? else { return Ok(None) };
        let pos = self.settle_place(room, pos)?;
        let set = "UPDATE log SET echoed = 1, pos = ?2, sent_at_ms = ?3, visibility = ?4 WHERE seq = ?1";
        let row = (seq.0, pos.0, echo.sent_at_ms, echo.visibility.as_str());
        self.0.prepare_cached(set)?.execute(row)?;
        Ok(Some((seq, pos)))
    }

    /// What was handed out late and acknowledged now.
    pub(crate) fn acknowledge_late(
        &self,
        agent: AgentKey,
        up_to: Seq,
        room: Option<RoomKey>,
    ) -> Result<(), StoreError> {
        let forget = "DELETE FROM exceptions WHERE agent_key = ?1 AND late_at <= ?2 AND room_key = ifnull(?3, room_key)";
        let row = (agent.0, up_to.0, room.map(|r| r.0));
        self.0.prepare_cached(forget)?.execute(row)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// What is withheld from an agent for want of one of these room keys, in the order it arrived.
    pub fn withheld(
        &self,
        agent: AgentKey,
        keys: &[(RoomKey, String)],
    ) -> Result<Vec<Exception>, StoreError> {
        let query = "SELECT * FROM exceptions
            WHERE agent_key = ?1 AND room_key = ?2 AND session_id = ?3 AND late_at IS NULL";
        let mut query = self.0.prepare_cached(query)?;
        let mut all = vec![];
        for (room, session_id) in keys {
            let rows = query.query_and_then((agent.0, room.0, session_id), exception)?;
            all.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        all.sort_by_key(|exception| exception.seq);
        Ok(all)
    }

    /// Where an event stands in its room's order: a message, an edit, or what waits for its key.
    pub fn place_of(&self, event_id: &EventId) -> Result<Option<Pos>, StoreError> {
        crate::append::place_of(self.0, event_id)
    }
}

pub(crate) fn exceptions(
    db: &rusqlite::Connection,
    agent: AgentKey,
    room: RoomKey,
) -> Result<Exceptions, StoreError> {
    let query = "SELECT seq, late_at FROM exceptions WHERE agent_key = ?1 AND room_key = ?2";
    let mut query = db.prepare_cached(query)?;
    let mut rows = query.query((agent.0, room.0))?;
    let mut exceptions = Exceptions::default();
    while let Some(row) = rows.next()? {
        let seq = Seq(row.get(0)?);
        match row.get::<_, Option<i64>>(1)? {
            Some(at) => drop(exceptions.late.insert(seq, Seq(at))),
            None => drop(exceptions.withheld.insert(seq)),
        }
    }
    let mut query = db.prepare_cached("SELECT seq FROM shown WHERE agent_key = ?1 AND room_key = ?2")?;
    let shown = query.query_map((agent.0, room.0), |row| row.get(0).map(Seq))?;
    exceptions.shown = shown.collect::<Result<_, _>>()?;
    Ok(exceptions)
}

fn exception(row: &Row<'_>) -> Result<Exception, StoreError> {
    Ok(Exception {
        agent: AgentKey(row.get("agent_key")?),
        event_id: id(&text(row, "event_id")?, "exceptions.event_id")?,
        seq: Seq(row.get("seq")?),
        room: RoomKey(row.get("room_key")?),
        session_id: row.get("session_id")?,
        event: row.get("event")?,
    })
}
