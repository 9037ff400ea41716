//! Into the room log: exactly once, in the room's order.

use std::collections::HashSet;

use parlour_domain::{
    agent::Author,
    ids::{MessageId, Pos, RoomKey, Seq},
    message::{Body, Message, Replied},
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId, OwnedUserId};
use rusqlite::{Connection, OptionalExtension};

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
    /// Came encrypted, or was sent so.
    pub encrypted: bool,
    /// 0 for what people say.
    pub hops: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a new message is what it nearly always is")]
pub enum Appended {
    New(Message),
    /// Was there from the answer to the send; its echo gave it its time and its place.
    Confirmed {
        seq: Seq,
        pos: Pos,
        sent_at_ms: i64,
    },
    /// Had it before, or it was redacted.
    Known,
}

impl Tx<'_> {
    /// Adds a message at the end of its room's order.
    pub fn append(&self, entry: NewEntry) -> Result<Appended, StoreError> {
        self.append_at(entry, None)
    }

    /// The same `at` a place that was kept for it.
    pub fn append_at(&self, entry: NewEntry, at: Option<Pos>) -> Result<Appended, StoreError> {
        if let Some((seq, pos, echoed)) = self.known(&entry.event_id)? {
            return if entry.echoed && !echoed {
                self.confirm(&entry, seq, pos)
            } else {
                Ok(Appended::Known)
            };
        }
        if self.is_past(&entry.event_id)? || self.was_retracted(&entry.event_id, &entry.sender, entry.room)? {
            return Ok(Appended::Known);
        }
        let pos = at.map_or_else(|| self.next_place(entry.room, entry.echoed), Ok)?;
        self.insert(entry, pos).map(Appended::New)
    }

    /// Adds messages of one room that were missed, oldest first, between two places of the order: before `before`
    /// (`None`: at the end), after what precedes it. What is known already is left out, and what stood before it goes
    /// before it. Returns what was added.
    pub fn fill_in(&self, entries: Vec<NewEntry>, before: Option<Pos>) -> Result<Vec<Message>, StoreError> {
        let Some(room) = entries.first().map(|e| e.room) else { return Ok(vec![]) };
        let events: Vec<OwnedEventId> = entries.iter().map(|e| e.event_id.clone()).collect();
        let places = self.reserve(room, &events, before)?;
        let new = entries.into_iter().zip(places).filter_map(|(entry, pos)| Some((entry, pos?)));
        new.map(|(entry, pos)| self.insert(entry, pos)).collect()
    }

    /// Places for events of one room that were missed, oldest first, as in [`Tx::fill_in`], and in the same order.
    /// `None`: known already, or to stay out.
    pub fn reserve(
        &self,
        room: RoomKey,
        events: &[OwnedEventId],
        before: Option<Pos>,
    ) -> Result<Vec<Option<Pos>>, StoreError> {
        // what goes to the end was lost; what goes before something is history
        let lost = before.is_none();
        let (mut given, mut run, mut seen) = (vec![None; events.len()], vec![], HashSet::new());
        for (at, event) in events.iter().enumerate() {
            match place_of(self.0, event)? {
                Some(pos) if before.is_none_or(|b| pos < b) => {
                    self.reserve_run(room, std::mem::take(&mut run), Some(pos), lost, &mut given)?;
                }
                Some(_) => {}
                None if self.is_past(event)? || !seen.insert(event) => {}
                None => run.push(at),
            }
        }
        self.reserve_run(room, run, before, lost, &mut given)?;
        Ok(given)
    }

    fn reserve_run(
        &self,
        room: RoomKey,
        run: Vec<usize>,
        before: Option<Pos>,
        lost: bool,
        given: &mut [Option<Pos>],
    ) -> Result<(), StoreError> {
        if run.is_empty() {
            return Ok(());
        }
        let (places, moved) = self.places(room, before, run.len(), (lost, given))?;
        if let Some(moved) = moved {
            given.iter_mut().flatten().for_each(|pos| moved.apply(pos));
        }
        if let Some(last) = places.iter().max() {
            self.settled_through(room, *last)?;
        }
        for (at, pos) in run.into_iter().zip(places) {
            given[at] = Some(pos);
        }
        Ok(())
    }

    fn insert(&self, entry: NewEntry, pos: Pos) -> Result<Message, StoreError> {
        let replied =
            entry.body.reply_to.as_ref().map(|to| self.replied(entry.room, to)).transpose()?.flatten();
        let add =
            "INSERT INTO log (room_key, pos, event_id, message_id, sender, author, event_type, content, body,
            replied, sent_at_ms, received_at_ms, visibility, echoed, encrypted, hops)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
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
            entry.encrypted,
            entry.hops,
        ])?;
        let seq = Seq(self.0.last_insert_rowid());
        let edits = self.edits_of(entry.room, &entry.event_id)?;
        Ok(Message { edits, ..message(entry, seq, pos, replied) })
    }

    /// The echo tells an own message's time; and its place, if others have come in between.
    fn confirm(&self, entry: &NewEntry, seq: Seq, pos: Pos) -> Result<Appended, StoreError> {
        let pos = self.settle_place(entry.room, pos)?;
        let set = "UPDATE log SET echoed = 1, pos = ?2, sent_at_ms = ?3, content = ?4, visibility = ?5 WHERE seq = ?1";
        let row = (seq.0, pos.0, entry.sent_at_ms, &entry.content, entry.visibility.as_str());
        self.0.prepare_cached(set)?.execute(row)?;
        Ok(Appended::Confirmed { seq, pos, sent_at_ms: entry.sent_at_ms })
    }

    pub(crate) fn known(&self, event_id: &EventId) -> Result<Option<(Seq, Pos, bool)>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT seq, pos, echoed FROM log WHERE event_id = ?1")?;
        let found = query.query_row([event_id.as_str()], |row| {
            Ok((Seq(row.get(0)?), Pos(row.get(1)?), row.get::<_, bool>(2)?))
        });
        Ok(found.optional()?)
    }

    /// The next arrival number, for something that is no row of the log.
    pub(crate) fn next_arrival(&self) -> Result<Seq, StoreError> {
        let next = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'log' RETURNING seq";
        let mut next = self.0.prepare_cached(next)?;
        let arrival = next.query_row([], |row| row.get(0).map(Seq)).optional()?;
        drop(next);
        arrival.map_or_else(|| self.first_arrival(), Ok)
    }

    fn first_arrival(&self) -> Result<Seq, StoreError> {
        self.0.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('log', 1)", [])?;
        Ok(Seq(1))
    }

    /// Was in the log once, or must not get in.
    pub(crate) fn is_past(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM evicted WHERE event_digest = ?1)
                 OR EXISTS (SELECT 1 FROM redacted WHERE event_digest = ?1)",
        )?;
        Ok(query.query_row([event_digest(event_id.as_str())], |row| row.get(0))?)
    }

    /// A reply across rooms is none: it must not tell this room's agents of what was said in another.
    fn replied(&self, room: RoomKey, to: &EventId) -> Result<Option<Replied>, StoreError> {
        let find = "SELECT message_id, sender FROM log WHERE event_id = ?1 AND room_key = ?2";
        let mut query = self.0.prepare_cached(find)?;
        let replied = |row: &rusqlite::Row<'_>| {
            Ok(Replied {
                message_id: message_id(row, "message_id")?,
                sender: id(&text(row, "sender")?, "log.sender")?,
            })
        };
        query.query_and_then((to.as_str(), room.0), replied)?.next().transpose()
    }
}

/// Where something stands in its room's order: a message, an edit, or what waits for its key.
pub(crate) fn place_of(db: &Connection, event_id: &EventId) -> Result<Option<Pos>, StoreError> {
    let mut query = db.prepare_cached(
        "SELECT pos FROM log WHERE event_id = ?1
         UNION ALL SELECT pos FROM edits WHERE event_id = ?1
         UNION ALL SELECT pos FROM waiting WHERE event_id = ?1",
    )?;
    Ok(query.query_row([event_id.as_str()], |row| row.get(0).map(Pos)).optional()?)
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
        encrypted: entry.encrypted,
        hops: entry.hops,
        body: entry.body,
        replied,
        edits: vec![],
    }
}
