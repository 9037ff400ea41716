//! Into the room log: exactly once, in the room's order, newest 500 kept.

use parlour_domain::{
    agent::Author,
    ids::{AgentKey, MessageId, Pos, RoomKey, Seq},
    limits::ROOM_HISTORY,
    message::{Body, Message, Replied},
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId, OwnedUserId};
use rusqlite::OptionalExtension;

use crate::{
    StoreError, Tx,
    value::{event_digest, id, json, message_id, text},
};

/// A message on its way into the log.
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub room: RoomKey,
    pub event_id: OwnedEventId,
    pub message_id: MessageId,
    pub sender: OwnedUserId,
    pub author: Author,
    pub event_type: String,
    /// The whole content as it came.
    pub content: String,
    pub body: Body,
    pub sent_at_ms: i64,
    pub received_at_ms: i64,
    pub visibility: Visibility,
    /// Came from the homeserver; `false`: known from its answer to a send, the time is a guess of ours.
    pub echoed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    New(Message),
    /// Was there from the answer to the send; its echo gave it its time and its place.
    Confirmed { seq: Seq, pos: Pos, sent_at_ms: i64 },
    /// Had it before, or it was redacted.
    Known,
}

impl Tx<'_> {
    /// Adds a message at the end of its room's order.
    pub fn append(&self, entry: NewEntry) -> Result<Appended, StoreError> {
        if let Some((seq, pos, echoed)) = self.known(&entry.event_id)? {
            return if entry.echoed && !echoed { self.confirm(&entry, seq, pos) } else { Ok(Appended::Known) };
        }
        if self.is_past(&entry.event_id)? {
            return Ok(Appended::Known);
        }
        let pos = Pos(self.head(entry.room)?.0 + Pos::STEP);
        self.set_head(entry.room, pos)?;
        self.insert(entry, pos).map(Appended::New)
    }

    /// Adds messages that were missed, oldest first, between two places of the order: before `before`, after what
    /// precedes it. What is known already is left out. Returns what was added.
    pub fn fill_in(&self, entries: Vec<NewEntry>, before: Option<Pos>) -> Result<Vec<Message>, StoreError> {
        let Some(room) = entries.first().map(|e| e.room) else { return Ok(vec![]) };
        let mut fresh = vec![];
        for entry in entries {
            if self.known(&entry.event_id)?.is_none() && !self.is_past(&entry.event_id)? {
                fresh.push(entry);
            }
        }
        let places = self.places(room, before, fresh.len())?;
        fresh.into_iter().zip(places).map(|(entry, pos)| self.insert(entry, pos)).collect()
    }

    /// Cuts a room's log back to its newest messages. Returns those that left.
    pub fn evict(&self, room: RoomKey) -> Result<Vec<Seq>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT seq, pos, event_id, author FROM log WHERE room_key = ?1 ORDER BY pos DESC LIMIT -1 OFFSET ?2",
        )?;
        let rows = query.query_map((room.0, ROOM_HISTORY), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
        })?;
        let old = rows.collect::<Result<Vec<_>, _>>()?;
        for (seq, pos, event_id, author) in &old {
            let agent: Option<AgentKey> = match serde_json::from_str(author) {
                Ok(Author::Agent { key, .. }) => Some(key),
                _ => None,
            };
            self.0
                .prepare_cached(
                    "INSERT INTO evicted (event_digest, room_key, seq, pos, agent_key) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT DO NOTHING",
                )?
                .execute((event_digest(event_id), room.0, seq, pos, agent.map(|a| a.0)))?;
            self.0.prepare_cached("DELETE FROM log WHERE seq = ?1")?.execute([seq])?;
        }
        Ok(old.into_iter().map(|(seq, ..)| Seq(seq)).collect())
    }

    /// Takes a redacted event out of the log, and keeps it out. Returns the message that went, if it was one.
    pub fn redact(&self, event_id: &EventId) -> Result<Option<Seq>, StoreError> {
        let digest = event_digest(event_id.as_str());
        self.0.prepare_cached("INSERT INTO redacted VALUES (?1) ON CONFLICT DO NOTHING")?.execute([digest])?;
        self.0.prepare_cached("DELETE FROM evicted WHERE event_digest = ?1")?.execute([digest])?;
        let seq = self.known(event_id)?.map(|(seq, ..)| seq);
        if let Some(seq) = seq {
            self.hand_gap_on(seq)?;
            self.0.prepare_cached("DELETE FROM log WHERE seq = ?1")?.execute([seq.0])?;
        }
        Ok(seq)
    }

    fn insert(&self, entry: NewEntry, pos: Pos) -> Result<Message, StoreError> {
        let replied = entry.body.reply_to.as_ref().map(|to| self.replied(to)).transpose()?.flatten();
        let add = "INSERT INTO log (room_key, pos, event_id, message_id, sender, author, event_type, content, body,
            replied, sent_at_ms, received_at_ms, visibility, echoed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        self.0.prepare_cached(add)?.execute(rusqlite::params![
            entry.room.0,
            pos.0,
            entry.event_id.as_str(),
            entry.message_id.0.as_bytes(),
            entry.sender.as_str(),
            json(&entry.author)?,
            entry.event_type,
            entry.content,
            json(&entry.body)?,
            replied.as_ref().map(json).transpose()?,
            entry.sent_at_ms,
            entry.received_at_ms,
            entry.visibility.as_str(),
            entry.echoed,
        ])?;
        Ok(message(entry, Seq(self.0.last_insert_rowid()), pos, replied))
    }

    /// The echo tells an own message's time; and its place, if others have come in between.
    fn confirm(&self, entry: &NewEntry, seq: Seq, pos: Pos) -> Result<Appended, StoreError> {
        let head = self.head(entry.room)?;
        let pos = if pos == head { pos } else { Pos(head.0 + Pos::STEP) };
        self.set_head(entry.room, pos)?;
        self.0
            .prepare_cached("UPDATE log SET echoed = 1, pos = ?2, sent_at_ms = ?3, content = ?4 WHERE seq = ?1")?
            .execute((seq.0, pos.0, entry.sent_at_ms, &entry.content))?;
        Ok(Appended::Confirmed { seq, pos, sent_at_ms: entry.sent_at_ms })
    }

    fn known(&self, event_id: &EventId) -> Result<Option<(Seq, Pos, bool)>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT seq, pos, echoed FROM log WHERE event_id = ?1")?;
        let found = query.query_row([event_id.as_str()], |row| {
            Ok((Seq(row.get(0)?), Pos(row.get(1)?), row.get::<_, bool>(2)?))
        });
        Ok(found.optional()?)
    }

    /// Was in the log once, or must not get in.
    fn is_past(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM evicted WHERE event_digest = ?1)
                 OR EXISTS (SELECT 1 FROM redacted WHERE event_digest = ?1)",
        )?;
        Ok(query.query_row([event_digest(event_id.as_str())], |row| row.get(0))?)
    }

    fn replied(&self, to: &EventId) -> Result<Option<Replied>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT message_id, sender FROM log WHERE event_id = ?1")?;
        let replied = |row: &rusqlite::Row<'_>| {
            Ok(Replied {
                message_id: message_id(row, "message_id")?,
                sender: id(&text(row, "sender")?, "log.sender")?,
            })
        };
        query.query_and_then([to.as_str()], replied)?.next().transpose()
    }

    /// `count` places before `before` (before everything, or after everything, where there is nothing to stand
    /// before), evenly spread so that more still fits between them.
    fn places(&self, room: RoomKey, before: Option<Pos>, count: usize) -> Result<Vec<Pos>, StoreError> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let Some(before) = before else {
            let head = self.head(room)?.0;
            self.set_head(room, Pos(head + count * Pos::STEP))?;
            return Ok((1..=count).map(|n| Pos(head + n * Pos::STEP)).collect());
        };
        let mut query = self.0.prepare_cached("SELECT max(pos) FROM log WHERE room_key = ?1 AND pos < ?2")?;
        let after: Option<i64> = query.query_row((room.0, before.0), |row| row.get(0))?;
        let after = after.unwrap_or(before.0 - (count + 1) * Pos::STEP);
        let step = (before.0 - after) / (count + 1);
        Ok((1..=count).map(|n| Pos(after + n * step.max(1))).collect())
    }

    fn set_head(&self, room: RoomKey, pos: Pos) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET head_pos = max(head_pos, ?2) WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, pos.0))?;
        Ok(())
    }
}

fn message(entry: NewEntry, seq: Seq, pos: Pos, replied: Option<Replied>) -> Message {
    Message {
        seq,
        pos,
        room: entry.room,
        event_id: entry.event_id,
        message_id: entry.message_id,
        sender: entry.sender,
        author: entry.author,
        sent_at_ms: entry.sent_at_ms,
        received_at_ms: entry.received_at_ms,
        visibility: entry.visibility,
        body: entry.body,
        replied,
    }
}
