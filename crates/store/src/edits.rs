//! Edits of messages (`m.replace`): each keeps its place and how it came, since who may read the message may not be
//! allowed to read its new words.

use parlour_domain::{
    ids::{Pos, RoomKey, Seq},
    message::{Body, Edit, Told},
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId, OwnedUserId};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    StoreError, Tx,
    value::{event_digest, from_json, id, json, text},
};

/// So many edits are kept of one message: the newest.
const KEPT: usize = 10;
/// So many edits wait in one room for messages that are not known.
pub(crate) const EARLY: usize = 500;

/// An edit of somebody's own message (`m.replace`).
#[derive(Clone, Debug)]
pub struct NewEdit {
    pub room: RoomKey,
    pub event_id: OwnedEventId,
    pub target: OwnedEventId,
    pub sender: OwnedUserId,
    pub sent_at_ms: i64,
    pub content: String,
    pub body: Body,
    pub visibility: Visibility,
    pub encrypted: bool,
}

/// A message and all edits of it that are kept, oldest first.
pub type Edited = (Seq, Vec<Edit>);

/// The message that an edit claims to change.
struct Target {
    seq: Seq,
    room: RoomKey,
    sender: String,
    encrypted: bool,
}

impl Tx<'_> {
    /// Takes an edit in, at the end of the room's order or `at` a place kept for it. Returns the message with its edits
    /// where it has one more now; `None` where the message has left or is somebody else's, and where it is still to
    /// come. What was said encrypted is not reworded in clear.
    pub fn edit(&self, edit: &NewEdit, at: Option<Pos>) -> Result<Option<Edited>, StoreError> {
        let target = self.target(&edit.target)?;
        let fits = target.as_ref().is_none_or(|t| t.takes(edit));
        let gone = target.is_none() && self.is_past(&edit.target)?;
        if !fits || gone || self.has_edit(&edit.event_id)? || self.is_retracted(&edit.event_id, edit)? {
            return Ok(None);
        }
        self.insert_edit(edit, at)?;
        let Some(target) = target else { return self.forget_early(edit.room).map(|()| None) };
        self.forget_oldest(edit)?;
        Ok(Some((target.seq, self.edits_of(edit.room, &edit.target)?)))
    }

    fn insert_edit(&self, edit: &NewEdit, at: Option<Pos>) -> Result<(), StoreError> {
        let pos = at.map_or_else(|| self.next_place(edit.room, true), Ok)?;
        let add =
            "INSERT INTO edits (event_id, seq, room_key, pos, target, sender, sent_at_ms, content, body,
            visibility, encrypted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        self.0.prepare_cached(add)?.execute(rusqlite::params![
            edit.event_id.as_str(),
            self.next_arrival()?.0,
            edit.room.0,
            pos.0,
            edit.target.as_str(),
            edit.sender.as_str(),
            edit.sent_at_ms,
            edit.content,
            json(&edit.body)?,
            edit.visibility.as_str(),
            edit.encrypted,
        ])?;
        Ok(())
    }

    /// A redacted edit: the words before it count again, and the edit stays out if it comes once more.
    pub fn redact_edit(&self, event_id: &EventId) -> Result<Option<Edited>, StoreError> {
        let keep_out = "INSERT INTO redacted VALUES (?1) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(keep_out)?.execute([event_digest(event_id.as_str())])?;
        let gone = "DELETE FROM edits WHERE event_id = ?1 RETURNING seq, room_key, target";
        let mut gone = self.0.prepare_cached(gone)?;
        let row = |row: &Row<'_>| Ok((Seq(row.get(0)?), RoomKey(row.get(1)?), row.get::<_, String>(2)?));
        let found = gone.query_row([event_id.as_str()], row).optional()?;
        drop(gone);
        let Some((seq, room, target)) = found else { return Ok(None) };
        self.forget_exceptions(seq)?;
        let target: OwnedEventId = id(&target, "edits.target")?;
        let message = self.known(&target)?;
        message.map(|(seq, ..)| Ok((seq, self.edits_of(room, &target)?))).transpose()
    }

    /// Who wrote the message or the edit with this event id, where it is kept or waits for its key.
    pub fn author_of(&self, event_id: &EventId) -> Result<Option<String>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT sender FROM log WHERE event_id = ?1
             UNION ALL SELECT sender FROM edits WHERE event_id = ?1
             UNION ALL SELECT sender FROM waiting WHERE event_id = ?1",
        )?;
        Ok(query.query_row([event_id.as_str()], |row| row.get(0)).optional()?)
    }

    /// The room whose message or edit this is or was. What is said in one room about another's event counts for nothing.
    pub fn room_of(&self, event_id: &EventId) -> Result<Option<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT room_key FROM log WHERE event_id = ?1
             UNION ALL SELECT room_key FROM edits WHERE event_id = ?1
             UNION ALL SELECT room_key FROM waiting WHERE event_id = ?1
             UNION ALL SELECT room_key FROM evicted WHERE event_digest = ?2",
        )?;
        let row = (event_id.as_str(), event_digest(event_id.as_str()));
        Ok(query.query_row(row, |row| Ok(RoomKey(row.get(0)?))).optional()?)
    }

    /// All edits that a message has, oldest first.
    pub(crate) fn edits_of(&self, room: RoomKey, target: &EventId) -> Result<Vec<Edit>, StoreError> {
        let query = format!("{EDITS} AND edits.target = ?2 ORDER BY edits.sent_at_ms, edits.event_id");
        let mut query = self.0.prepare_cached(&query)?;
        query.query_and_then((room.0, target.as_str()), |row| edit(row).map(|(_, edit)| edit))?.collect()
    }

    /// The message goes, and all that was said of it in other words.
    pub(crate) fn forget_edits_of(&self, target: &str) -> Result<(), StoreError> {
        let mut gone = self.0.prepare_cached("DELETE FROM edits WHERE target = ?1 RETURNING seq")?;
        let seqs = gone.query_map([target], |row| row.get(0).map(Seq))?.collect::<Result<Vec<_>, _>>()?;
        drop(gone);
        seqs.into_iter().try_for_each(|seq| self.forget_exceptions(seq))
    }

    /// Of what waits for messages in a room, what stands before `pos`: those messages have left, or were none.
    pub(crate) fn forget_early_before(&self, room: RoomKey, pos: i64) -> Result<(), StoreError> {
        let gone = "DELETE FROM edits WHERE room_key = ?1 AND pos <= ?2
            AND NOT EXISTS (SELECT 1 FROM log WHERE log.event_id = edits.target)";
        self.0.prepare_cached(gone)?.execute((room.0, pos))?;
        let gone = "DELETE FROM redactions WHERE room_key = ?1 AND pos <= ?2";
        self.0.prepare_cached(gone)?.execute((room.0, pos))?;
        Ok(())
    }

    fn target(&self, event_id: &EventId) -> Result<Option<Target>, StoreError> {
        let query = "SELECT seq, room_key, sender, encrypted FROM log WHERE event_id = ?1";
        let mut query = self.0.prepare_cached(query)?;
        let target = |row: &Row<'_>| {
            Ok(Target {
                seq: Seq(row.get(0)?),
                room: RoomKey(row.get(1)?),
                sender: row.get(2)?,
                encrypted: row.get(3)?,
            })
        };
        Ok(query.query_row([event_id.as_str()], target).optional()?)
    }

    fn has_edit(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let mut query = self.0.prepare_cached("SELECT EXISTS (SELECT 1 FROM edits WHERE event_id = ?1)")?;
        Ok(query.query_row([event_id.as_str()], |row| row.get(0))?)
    }

    fn is_retracted(&self, event_id: &EventId, edit: &NewEdit) -> Result<bool, StoreError> {
        Ok(self.is_past(event_id)? || self.was_retracted(event_id, &edit.sender, edit.room)?)
    }

    /// Whoever edits without end must not fill the disk.
    fn forget_oldest(&self, edit: &NewEdit) -> Result<(), StoreError> {
        let gone = "DELETE FROM edits WHERE event_id IN (SELECT event_id FROM edits WHERE target = ?1 AND sender = ?2
            ORDER BY sent_at_ms DESC, event_id DESC LIMIT -1 OFFSET ?3) RETURNING seq";
        let mut gone = self.0.prepare_cached(gone)?;
        let row = (edit.target.as_str(), edit.sender.as_str(), KEPT);
        let seqs = gone.query_map(row, |row| row.get(0).map(Seq))?.collect::<Result<Vec<_>, _>>()?;
        drop(gone);
        seqs.into_iter().try_for_each(|seq| self.forget_exceptions(seq))
    }

    fn forget_early(&self, room: RoomKey) -> Result<(), StoreError> {
        let gone =
            "DELETE FROM edits WHERE event_id IN (SELECT edits.event_id FROM edits WHERE edits.room_key = ?1
            AND NOT EXISTS (SELECT 1 FROM log WHERE log.event_id = edits.target)
            ORDER BY pos DESC LIMIT -1 OFFSET ?2)";
        self.0.prepare_cached(gone)?.execute((room.0, EARLY))?;
        Ok(())
    }
}

impl Target {
    fn takes(&self, edit: &NewEdit) -> bool {
        let same = self.room == edit.room && self.sender == edit.sender.as_str();
        same && (edit.encrypted || !self.encrypted)
    }
}

/// The edits of a room that count, each with the message it is of.
const EDITS: &str =
    "SELECT edits.*, log.seq AS message_seq FROM edits JOIN log ON log.event_id = edits.target
    AND log.room_key = edits.room_key AND log.sender = edits.sender AND log.encrypted <= edits.encrypted
    WHERE edits.room_key = ?1";

/// All edits of a room's messages, oldest first.
pub(crate) fn edits_in(db: &Connection, room: RoomKey) -> Result<Vec<(Seq, Edit)>, StoreError> {
    let mut query = db.prepare_cached(&format!("{EDITS} ORDER BY edits.sent_at_ms, edits.event_id"))?;
    query.query_and_then([room.0], edit)?.collect()
}

fn edit(row: &Row<'_>) -> Result<(Seq, Edit), StoreError> {
    let body: Body = from_json(&text(row, "body")?, "edits.body")?;
    let told = Told {
        seq: Seq(row.get("seq")?),
        pos: Pos(row.get("pos")?),
        visibility: Visibility::parse(&text(row, "visibility")?),
        encrypted: row.get("encrypted")?,
    };
    let event_id = id(&text(row, "event_id")?, "edits.event_id")?;
    let edit = Edit { event_id, told, text: body.text, attachment_name: body.attachment_name };
    Ok((Seq(row.get("message_seq")?), edit))
}
