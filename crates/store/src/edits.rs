use parlour_domain::{
    ids::{RoomKey, Seq},
    message::Body,
};
use ruma::{EventId, OwnedEventId, OwnedUserId, UserId};
use rusqlite::OptionalExtension;

use crate::{
    StoreError, Tx,
    value::{corrupt, event_digest, from_json, json},
};

/// An edit of somebody's own message (`m.replace`).
#[derive(Clone, Debug)]
pub struct NewEdit {
    pub event_id: OwnedEventId,
    pub target: OwnedEventId,
    pub sender: OwnedUserId,
    pub sent_at_ms: i64,
    pub content: String,
    pub body: Body,
}

impl Tx<'_> {
    /// Takes an edit in. Returns the message's body where it changed by that; `None` where the message is not kept, is
    /// somebody else's, or has a later edit.
    pub fn edit(&self, edit: &NewEdit) -> Result<Option<(Seq, Body)>, StoreError> {
        let Some(seq) = self.message_by(&edit.target, &edit.sender)? else { return Ok(None) };
        if self.was_redacted(&edit.event_id)? {
            return Ok(None);
        }
        let add = "INSERT INTO edits (event_id, seq, sent_at_ms, content, body) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO NOTHING";
        let row = (edit.event_id.as_str(), seq.0, edit.sent_at_ms, &edit.content, json(&edit.body)?);
        self.0.prepare_cached(add)?.execute(row)?;
        self.settle_text(seq).map(|body| body.map(|b| (seq, b)))
    }

    /// A redacted edit: the text before it counts again, and the edit stays out if it comes once more.
    pub fn redact_edit(&self, event_id: &EventId) -> Result<Option<(Seq, Body)>, StoreError> {
        let keep_out = "INSERT INTO redacted VALUES (?1) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(keep_out)?.execute([event_digest(event_id.as_str())])?;
        let gone = "DELETE FROM edits WHERE event_id = ?1 RETURNING seq";
        let mut gone = self.0.prepare_cached(gone)?;
        let seq: Option<i64> = gone.query_row([event_id.as_str()], |row| row.get(0)).optional()?;
        drop(gone);
        let Some(seq) = seq.map(Seq) else { return Ok(None) };
        self.settle_text(seq).map(|body| body.map(|b| (seq, b)))
    }

    /// Who wrote the message or the edit with this event id, where it is kept.
    pub fn author_of(&self, event_id: &EventId) -> Result<Option<String>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT sender FROM log WHERE event_id = ?1
             UNION ALL SELECT sender FROM edits JOIN log USING (seq) WHERE edits.event_id = ?1",
        )?;
        Ok(query.query_row([event_id.as_str()], |row| row.get(0)).optional()?)
    }

    /// The room whose message or edit this is or was. What is said in one room about another's event counts for nothing.
    pub fn room_of(&self, event_id: &EventId) -> Result<Option<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT room_key FROM log WHERE event_id = ?1
             UNION ALL SELECT room_key FROM edits JOIN log USING (seq) WHERE edits.event_id = ?1
             UNION ALL SELECT room_key FROM evicted WHERE event_digest = ?2",
        )?;
        let row = (event_id.as_str(), event_digest(event_id.as_str()));
        Ok(query.query_row(row, |row| Ok(RoomKey(row.get(0)?))).optional()?)
    }

    /// The latest edit's text, or the original's. Whom the message mentions and what it answers stays as it was
    /// said: an edit wakes nobody.
    fn settle_text(&self, seq: Seq) -> Result<Option<Body>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT body FROM edits WHERE seq = ?1 ORDER BY sent_at_ms DESC, event_id DESC LIMIT 1",
        )?;
        let latest: Option<String> = query.query_row([seq.0], |row| row.get(0)).optional()?;
        let mut query = self.0.prepare_cached("SELECT body, original FROM log WHERE seq = ?1")?;
        let (now, original): (String, Option<String>) =
            query.query_row([seq.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let now: Body = from_json(&now, "log.body")?;
        let text: Body = match (&latest, &original) {
            (Some(edit), _) => from_json(edit, "edits.body")?,
            (None, Some(original)) => from_json(original, "log.original")?,
            (None, None) => return Ok(None),
        };
        let edited = latest.is_some();
        let body = Body { text: text.text, attachment_name: text.attachment_name, edited, ..now.clone() };
        if body == now {
            return Ok(None);
        }
        let set = "UPDATE log SET body = ?2, original = ifnull(original, ?3) WHERE seq = ?1";
        self.0.prepare_cached(set)?.execute((seq.0, json(&body)?, json(&now)?))?;
        Ok(Some(body))
    }

    fn message_by(&self, event_id: &EventId, sender: &UserId) -> Result<Option<Seq>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT seq FROM log WHERE event_id = ?1 AND sender = ?2")?;
        let row = (event_id.as_str(), sender.as_str());
        Ok(query.query_row(row, |row| row.get(0)).optional()?.map(Seq))
    }

    fn was_redacted(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let mut query = self.0.prepare_cached("SELECT count(*) FROM redacted WHERE event_digest = ?1")?;
        let count: i64 = query
            .query_row([event_digest(event_id.as_str())], |row| row.get(0))
            .map_err(|_| corrupt("redacted"))?;
        Ok(count > 0)
    }
}
