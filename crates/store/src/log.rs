//! Reading the room log.

use parlour_domain::{
    ids::{Pos, RoomKey, Seq},
    message::Message,
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    edits::edits_in,
    value::{from_json, id, message_id, text},
};

/// A stretch that the bridge never had; see contract section 5, rule 11.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub before: Seq,
    pub after_event_id: Option<OwnedEventId>,
    pub reason: String,
}

impl Tx<'_> {
    pub fn add_gap(&self, gap: &Gap) -> Result<(), StoreError> {
        let add = "INSERT INTO gaps (before_seq, after_event_id, reason) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let after = gap.after_event_id.as_ref().map(|e| e.as_str());
        self.0.prepare_cached(add)?.execute((gap.before.0, after, &gap.reason))?;
        Ok(())
    }

    /// A gap hangs on the message after it; where that one goes, on the next, if that has none of its own.
    pub(crate) fn hand_gap_on(&self, seq: Seq) -> Result<(), StoreError> {
        let next = "UPDATE OR IGNORE gaps SET before_seq = (
                SELECT later.seq FROM log AS later JOIN log AS gone ON gone.seq = ?1
                WHERE later.room_key = gone.room_key AND later.pos > gone.pos ORDER BY later.pos LIMIT 1)
            WHERE before_seq = ?1 AND EXISTS (
                SELECT 1 FROM log AS later JOIN log AS gone ON gone.seq = ?1
                WHERE later.room_key = gone.room_key AND later.pos > gone.pos)";
        self.0.prepare_cached(next)?.execute([seq.0])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// A room's kept messages, by arrival.
    pub fn room_log(&self, room: RoomKey) -> Result<Vec<Message>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT * FROM log WHERE room_key = ?1 ORDER BY seq")?;
        let mut messages = query.query_and_then([room.0], message)?.collect::<Result<Vec<_>, _>>()?;
        for (seq, edit) in edits_in(self.0, room)? {
            if let Ok(at) = messages.binary_search_by_key(&seq, |m| m.seq) {
                messages[at].edits.push(edit);
            }
        }
        Ok(messages)
    }

    pub fn room_gaps(&self, room: RoomKey) -> Result<Vec<Gap>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT before_seq, after_event_id, reason FROM gaps JOIN log ON seq = before_seq WHERE room_key = ?1",
        )?;
        query.query_and_then([room.0], gap)?.collect()
    }

    /// The highest arrival that has left a room's log, so that nobody counts what they missed where nothing was.
    pub fn evicted_through(&self, room: RoomKey) -> Result<Seq, StoreError> {
        evicted_through(self.0, room)
    }

    /// The highest arrival number that was ever given.
    pub fn newest_arrival(&self) -> Result<Seq, StoreError> {
        let mut query = self.0.prepare_cached("SELECT max(seq) FROM sqlite_sequence WHERE name = 'log'")?;
        Ok(Seq(query.query_row([], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0)))
    }

    /// Whether the event is in the log, was, was redacted, waits for its key, was meant for the bot, or was decrypted and is
    /// no message.
    pub fn had(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM log WHERE event_id = ?1)
                 OR EXISTS (SELECT 1 FROM evicted WHERE event_digest = ?2)
                 OR EXISTS (SELECT 1 FROM redacted WHERE event_digest = ?2)
                 OR EXISTS (SELECT 1 FROM edits WHERE event_id = ?1)
                 OR EXISTS (SELECT 1 FROM waiting WHERE event_id = ?1)
                 OR EXISTS (SELECT 1 FROM bot_heard WHERE event_digest = ?2)
                 OR EXISTS (SELECT 1 FROM places_read WHERE event = ?2)",
        )?;
        let row = (event_id.as_str(), crate::value::event_digest(event_id.as_str()));
        Ok(query.query_row(row, |row| row.get(0))?)
    }

    /// Place and id of the oldest or newest kept message of a room.
    pub fn edge(&self, room: RoomKey, newest: bool) -> Result<Option<(Pos, OwnedEventId)>, StoreError> {
        let order = if newest { "DESC" } else { "ASC" };
        let query = format!("SELECT pos, event_id FROM log WHERE room_key = ?1 ORDER BY pos {order} LIMIT 1");
        let mut query = self.0.prepare_cached(&query)?;
        let found = query.query_row([room.0], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
        let Some((pos, event_id)) = found.optional()? else { return Ok(None) };
        Ok(Some((Pos(pos), id(&event_id, "log.event_id")?)))
    }
}

pub(crate) fn evicted_through(connection: &Connection, room: RoomKey) -> Result<Seq, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT ifnull(max(seq), 0) FROM evicted WHERE room_key = ?1")?;
    Ok(Seq(query.query_row([room.0], |row| row.get(0))?))
}

fn message(row: &Row<'_>) -> Result<Message, StoreError> {
    let replied: Option<String> = row.get("replied")?;
    Ok(Message {
        seq: Seq(row.get("seq")?),
        pos: Pos(row.get("pos")?),
        room: RoomKey(row.get("room_key")?),
        event_id: id(&text(row, "event_id")?, "log.event_id")?,
        message_id: message_id(row, "message_id")?,
        sender: id(&text(row, "sender")?, "log.sender")?,
        author: from_json(&text(row, "author")?, "log.author")?,
        sent_at_ms: row.get("sent_at_ms")?,
        received_at_ms: row.get("received_at_ms")?,
        visibility: Visibility::parse(&text(row, "visibility")?),
        encrypted: row.get("encrypted")?,
        hops: row.get("hops")?,
        body: from_json(&text(row, "body")?, "log.body")?,
        replied: replied.map(|r| from_json(&r, "log.replied")).transpose()?,
        edits: vec![],
    })
}

fn gap(row: &Row<'_>) -> Result<Gap, StoreError> {
    let after: Option<String> = row.get("after_event_id")?;
    Ok(Gap {
        before: Seq(row.get("before_seq")?),
        after_event_id: after.map(|a| id(&a, "gaps.after_event_id")).transpose()?,
        reason: row.get("reason")?,
    })
}
