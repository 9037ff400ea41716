//! Out of the room log: newest 500 kept, redacted ones gone.

use parlour_domain::{
    agent::Author,
    ids::{RoomKey, Seq},
    limits::ROOM_HISTORY,
};
use ruma::{EventId, UserId};
use rusqlite::OptionalExtension;

use crate::{StoreError, Tx, edits::EARLY, value::event_digest};

/// A message that is old enough to leave.
struct Old {
    seq: i64,
    pos: i64,
    event_id: String,
    author: String,
    encrypted: bool,
}

impl Tx<'_> {
    /// Cuts a room's log back to its newest messages. Returns those that left.
    pub fn evict(&self, room: RoomKey) -> Result<Vec<Seq>, StoreError> {
        // the index alone answers this, so that a log with nothing to evict costs little
        let last = "SELECT pos FROM log WHERE room_key = ?1 ORDER BY pos DESC LIMIT 1 OFFSET ?2";
        let mut last = self.0.prepare_cached(last)?;
        let last: Option<i64> = last.query_row((room.0, ROOM_HISTORY), |row| row.get(0)).optional()?;
        let Some(last) = last else { return Ok(vec![]) };
        let old = self.up_to(room, last)?;
        for message in &old {
            self.hand_gap_on(Seq(message.seq))?;
            self.evict_one(room, message)?;
        }
        self.forget_early_before(room, last)?;
        self.forget_waiting_before(room, last)?;
        if let Some(sealed) = old.iter().filter(|m| m.encrypted).map(|m| m.pos).max() {
            self.sealed_gone(room, sealed)?;
        }
        Ok(old.into_iter().map(|m| Seq(m.seq)).collect())
    }

    fn up_to(&self, room: RoomKey, last: i64) -> Result<Vec<Old>, StoreError> {
        let query = "SELECT seq, pos, event_id, author, encrypted FROM log WHERE room_key = ?1 AND pos <= ?2 ORDER BY pos";
        let mut query = self.0.prepare_cached(query)?;
        let old = query.query_map((room.0, last), |row| {
            Ok(Old {
                seq: row.get(0)?,
                pos: row.get(1)?,
                event_id: row.get(2)?,
                author: row.get(3)?,
                encrypted: row.get(4)?,
            })
        })?;
        Ok(old.collect::<Result<_, _>>()?)
    }

    fn evict_one(&self, room: RoomKey, old: &Old) -> Result<(), StoreError> {
        let agent = match serde_json::from_str(&old.author) {
            Ok(Author::Agent { key, .. }) => Some(key.0),
            _ => None,
        };
        let remember =
            "INSERT INTO evicted (event_digest, room_key, seq, pos, agent_key) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO NOTHING";
        let row = (event_digest(&old.event_id), room.0, old.seq, old.pos, agent);
        self.0.prepare_cached(remember)?.execute(row)?;
        self.forget_message(old.seq, &old.event_id)
    }

    /// With its edits, and with the notes on who cannot read them.
    fn forget_message(&self, seq: i64, event_id: &str) -> Result<(), StoreError> {
        self.forget_edits_of(event_id)?;
        self.forget_exceptions(Seq(seq))?;
        self.0.prepare_cached("DELETE FROM log WHERE seq = ?1")?.execute([seq])?;
        Ok(())
    }

    /// Somebody redacts what is not known yet: it stays out if it turns out to be their own.
    pub fn retract(&self, room: RoomKey, event_id: &EventId, by: &UserId) -> Result<(), StoreError> {
        let note = "INSERT INTO redactions (event_digest, sender, room_key, pos) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING";
        let row = (event_digest(event_id.as_str()), by.as_str(), room.0, self.settled(room)?.0);
        self.0.prepare_cached(note)?.execute(row)?;
        self.forget_early_redactions(room, by)
    }

    /// Of each sender the newest are kept, as many as messages: anybody may redact what is not there.
    fn forget_early_redactions(&self, room: RoomKey, by: &UserId) -> Result<(), StoreError> {
        let forget = "DELETE FROM redactions WHERE room_key = ?1 AND sender = ?2 AND event_digest IN (
            SELECT event_digest FROM redactions WHERE room_key = ?1 AND sender = ?2
            ORDER BY pos DESC LIMIT -1 OFFSET ?3)";
        self.0.prepare_cached(forget)?.execute((room.0, by.as_str(), EARLY))?;
        Ok(())
    }

    pub(crate) fn was_retracted(
        &self,
        event_id: &EventId,
        by: &UserId,
        room: RoomKey,
    ) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM redactions WHERE event_digest = ?1 AND sender = ?2 AND room_key = ?3)";
        let row = (event_digest(event_id.as_str()), by.as_str(), room.0);
        Ok(self.0.prepare_cached(query)?.query_row(row, |row| row.get(0))?)
    }

    /// Takes a redacted event out of the log, and keeps it out. Returns the message that went, if it was one.
    pub fn redact(&self, event_id: &EventId) -> Result<Option<Seq>, StoreError> {
        let digest = event_digest(event_id.as_str());
        self.0
            .prepare_cached("INSERT INTO redacted VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([digest])?;
        self.0.prepare_cached("DELETE FROM evicted WHERE event_digest = ?1")?.execute([digest])?;
        self.drop_waiting(event_id)?;
        let seq = self.known(event_id)?.map(|(seq, ..)| seq);
        if let Some(seq) = seq {
            self.hand_gap_on(seq)?;
            self.forget_message(seq.0, event_id.as_str())?;
        }
        Ok(seq)
    }
}
