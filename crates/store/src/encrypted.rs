//! Encrypted events: those that wait for their key, those that one agent cannot read, and replays.

use std::collections::{BTreeMap, BTreeSet};

use parlour_domain::{
    ids::{AgentKey, Pos, RoomKey, Seq},
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Gap, Reader, StoreError, Tx,
    value::{event_digest, id, text},
};

/// An encrypted event that no puppet can read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub event_id: OwnedEventId,
    pub room: RoomKey,
    pub session_id: String,
    /// The whole event as it came.
    pub event: String,
    pub received_at_ms: i64,
}

/// An event that one agent cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    pub agent: AgentKey,
    pub event_id: OwnedEventId,
    /// The message; for an edit, that which it changes.
    pub seq: Seq,
    pub room: RoomKey,
    pub session_id: String,
    /// The whole event as it came.
    pub event: String,
}

/// What is withheld from one agent in a room, and what it was given late.
pub type Exceptions = (BTreeSet<Seq>, BTreeMap<Seq, Seq>);

/// The echo of a message that was sent encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEcho {
    pub event_id: OwnedEventId,
    pub sent_at_ms: i64,
    pub visibility: Visibility,
}

impl Tx<'_> {
    pub fn put_waiting(&self, waiting: &Waiting) -> Result<(), StoreError> {
        let put = "INSERT INTO waiting (event_id, room_key, session_id, event, received_at_ms)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(put)?.execute((
            waiting.event_id.as_str(),
            waiting.room.0,
            &waiting.session_id,
            &waiting.event,
            waiting.received_at_ms,
        ))?;
        Ok(())
    }

    pub fn drop_waiting(&self, event_id: &EventId) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM waiting WHERE event_id = ?1")?.execute([event_id.as_str()])?;
        Ok(())
    }

    /// What has waited since before `since_ms` without anybody being told is a gap before the message `before`.
    pub fn tell_unread(&self, room: RoomKey, before: Seq, since_ms: i64) -> Result<Option<Gap>, StoreError> {
        let tell = "UPDATE waiting SET told = 1 WHERE room_key = ?1 AND told = 0 AND received_at_ms < ?2";
        if self.0.prepare_cached(tell)?.execute((room.0, since_ms))? == 0 {
            return Ok(None);
        }
        let last = "SELECT event_id FROM log WHERE room_key = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1";
        let mut last = self.0.prepare_cached(last)?;
        let after: Option<String> = last.query_row((room.0, before.0), |row| row.get(0)).optional()?;
        let after_event_id = after.map(|a| id(&a, "log.event_id")).transpose()?;
        let gap = Gap { before, after_event_id, reason: "undecryptable".to_owned() };
        self.add_gap(&gap)?;
        Ok(Some(gap))
    }

    /// Forgets what has waited since before that: no key is to be hoped for any more.
    pub fn forget_waiting(&self, before_ms: i64) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM waiting WHERE received_at_ms < ?1")?.execute([before_ms])?;
        Ok(())
    }

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

    /// Keeps a message from an agent.
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

    /// The key of an event has come for an agent from which it was withheld: a new arrival for this agent, with a number
    /// of its own, so that acknowledging what came before does not take it along.
    pub fn readable_now(&self, agent: AgentKey, event_id: &EventId) -> Result<Seq, StoreError> {
        self.0.prepare_cached("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'log'")?.execute([])?;
        let mut query = self.0.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'log'")?;
        let arrival: i64 = query.query_row([], |row| row.get(0))?;
        let set =
            "UPDATE exceptions SET late_at = ?3 WHERE agent_key = ?1 AND event_id = ?2 AND late_at IS NULL";
        self.0.prepare_cached(set)?.execute((agent.0, event_id.as_str(), arrival))?;
        Ok(Seq(arrival))
    }

    /// What is withheld from an agent in a room, and what it was given late.
    pub fn exceptions(&self, agent: AgentKey, room: RoomKey) -> Result<Exceptions, StoreError> {
        exceptions(self.0, agent, room)
    }

    /// Where a message of this event is in the log.
    pub fn seq_of(&self, event_id: &EventId) -> Result<Option<Seq>, StoreError> {
        Ok(self.known(event_id)?.map(|(seq, ..)| seq))
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
        let forget = "DELETE FROM exceptions WHERE agent_key = ?1 AND late_at <= ?2 AND room_key = ifnull(?3, room_key)
            AND NOT EXISTS (SELECT 1 FROM exceptions AS other WHERE other.agent_key = ?1
                AND other.seq = exceptions.seq AND other.late_at IS NULL)";
        let row = (agent.0, up_to.0, room.map(|r| r.0));
        self.0.prepare_cached(forget)?.execute(row)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// What waits for one of these room keys, by arrival.
    pub fn waiting(&self, keys: &[(RoomKey, String)]) -> Result<Vec<Waiting>, StoreError> {
        let query = "SELECT * FROM waiting WHERE room_key = ?1 AND session_id = ?2";
        let mut query = self.0.prepare_cached(query)?;
        let mut all = vec![];
        for (room, session_id) in keys {
            let rows = query.query_and_then((room.0, session_id), |row| {
                Ok::<_, StoreError>((row.get::<_, i64>("arrival")?, waiting(row)?))
            })?;
            all.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        all.sort_by_key(|(arrival, _)| *arrival);
        all.dedup_by_key(|(arrival, _)| *arrival);
        Ok(all.into_iter().map(|(_, waiting)| waiting).collect())
    }

    /// The rooms in which something waits for a key.
    pub fn rooms_that_wait(&self) -> Result<Vec<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT DISTINCT room_key FROM waiting")?;
        let rooms = query.query_map([], |row| Ok(RoomKey(row.get(0)?)))?;
        Ok(rooms.collect::<Result<_, _>>()?)
    }

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

    /// Whether an event waits for its key.
    pub fn waits(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM waiting WHERE event_id = ?1)";
        Ok(self.0.prepare_cached(query)?.query_row([event_id.as_str()], |row| row.get(0))?)
    }
}

/// A message is withheld while one of its events is: its text is what the last edit made of it.
pub(crate) fn exceptions(
    db: &rusqlite::Connection,
    agent: AgentKey,
    room: RoomKey,
) -> Result<Exceptions, StoreError> {
    let query = "SELECT seq, min(late_at IS NOT NULL), max(late_at) FROM exceptions
        WHERE agent_key = ?1 AND room_key = ?2 GROUP BY seq";
    let mut query = db.prepare_cached(query)?;
    let mut rows = query.query((agent.0, room.0))?;
    let (mut withheld, mut late) = Exceptions::default();
    while let Some(row) = rows.next()? {
        let seq = Seq(row.get(0)?);
        match (row.get::<_, bool>(1)?, row.get::<_, Option<i64>>(2)?) {
            (true, Some(at)) => drop(late.insert(seq, Seq(at))),
            _ => drop(withheld.insert(seq)),
        }
    }
    Ok((withheld, late))
}

fn waiting(row: &Row<'_>) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        event_id: id(&text(row, "event_id")?, "waiting.event_id")?,
        room: RoomKey(row.get("room_key")?),
        session_id: row.get("session_id")?,
        event: row.get("event")?,
        received_at_ms: row.get("received_at_ms")?,
    })
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
