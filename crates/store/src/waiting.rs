//! Encrypted events that wait for their key, each at the place in its room's order that is kept for it.

use parlour_domain::{
    gaps::Unread,
    ids::{Pos, RoomKey},
    limits::ROOM_HISTORY,
    visibility::Visibility,
};
use ruma::{EventId, OwnedEventId, OwnedUserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    value::{id, text},
};

/// An encrypted event that no puppet can read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub event_id: OwnedEventId,
    pub room: RoomKey,
    /// The room's history visibility when it came.
    pub visibility: Visibility,
    pub sender: OwnedUserId,
    pub session_id: String,
    /// The whole event as it came.
    pub event: String,
    pub received_at_ms: i64,
}

/// The same with the place that is kept for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    pub waiting: Waiting,
    pub pos: Pos,
}

impl Tx<'_> {
    /// Keeps an event until its key comes, and its place in the room's order: the end, or `at`.
    /// `None`: known already, or redacted.
    pub fn put_waiting(&self, waiting: &Waiting, at: Option<Pos>) -> Result<Option<Pos>, StoreError> {
        let known = self.author_of(&waiting.event_id)?.is_some() || self.is_past(&waiting.event_id)?;
        if known || self.was_retracted(&waiting.event_id, &waiting.sender, waiting.room)? {
            return Ok(None);
        }
        let pos = at.map_or_else(|| self.next_place(waiting.room, true), Ok)?;
        let put = "INSERT INTO waiting (event_id, room_key, pos, sender, visibility, session_id, event, received_at_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.0.prepare_cached(put)?.execute((
            waiting.event_id.as_str(),
            waiting.room.0,
            pos.0,
            waiting.sender.as_str(),
            waiting.visibility.as_str(),
            &waiting.session_id,
            &waiting.event,
            waiting.received_at_ms,
        ))?;
        // somebody whose keys never come must not fill the disk
        let most = "SELECT pos FROM waiting WHERE room_key = ?1 ORDER BY pos DESC LIMIT 1 OFFSET ?2";
        let over: Option<i64> = self
            .0
            .prepare_cached(most)?
            .query_row((waiting.room.0, ROOM_HISTORY), |row| row.get(0))
            .optional()?;
        over.map_or(Ok(()), |over| self.forget_waiting_before(waiting.room, over))?;
        Ok(Some(pos))
    }

    /// It does not wait any more; its room, and the place that was kept for it.
    pub fn drop_waiting(&self, event_id: &EventId) -> Result<Option<(RoomKey, Pos)>, StoreError> {
        let gone = "DELETE FROM waiting WHERE event_id = ?1 RETURNING room_key, pos";
        let mut gone = self.0.prepare_cached(gone)?;
        let row = |row: &Row<'_>| Ok((RoomKey(row.get(0)?), Pos(row.get(1)?)));
        Ok(gone.query_row([event_id.as_str()], row).optional()?)
    }

    /// Forgets what has waited since before that: no key is to be hoped for any more.
    pub fn forget_waiting(&self, before_ms: i64) -> Result<(), StoreError> {
        self.0
            .prepare_cached(
                "UPDATE rooms SET sealed_gone = max(ifnull(sealed_gone, old.pos), old.pos)
                 FROM (SELECT room_key, max(pos) AS pos FROM waiting WHERE received_at_ms < ?1 GROUP BY room_key) AS old
                 WHERE rooms.room_key = old.room_key",
            )?
            .execute([before_ms])?;
        self.0.prepare_cached("DELETE FROM waiting WHERE received_at_ms < ?1")?.execute([before_ms])?;
        Ok(())
    }

    /// What waits before a place has no message of its time left in the log.
    pub(crate) fn forget_waiting_before(&self, room: RoomKey, pos: i64) -> Result<(), StoreError> {
        let last = "SELECT max(pos) FROM waiting WHERE room_key = ?1 AND pos <= ?2";
        let last: Option<i64> = self.0.prepare_cached(last)?.query_row((room.0, pos), |row| row.get(0))?;
        let Some(last) = last else { return Ok(()) };
        let gone = "DELETE FROM waiting WHERE room_key = ?1 AND pos <= ?2";
        self.0.prepare_cached(gone)?.execute((room.0, last))?;
        self.sealed_gone(room, last)
    }

    /// An encrypted event at this place is not there any more.
    pub(crate) fn sealed_gone(&self, room: RoomKey, pos: i64) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET sealed_gone = max(ifnull(sealed_gone, ?2), ?2) WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, pos))?;
        Ok(())
    }
}

impl Reader<'_> {
    /// What waits for one of these room keys, in the rooms' order.
    pub fn waiting(&self, keys: &[(RoomKey, String)]) -> Result<Vec<Waits>, StoreError> {
        let query = "SELECT * FROM waiting WHERE room_key = ?1 AND session_id = ?2";
        let mut query = self.0.prepare_cached(query)?;
        let mut all = vec![];
        for (room, session_id) in keys {
            let rows = query.query_and_then((room.0, session_id), |row| {
                Ok::<_, StoreError>(Waits { waiting: waiting(row)?, pos: Pos(row.get("pos")?) })
            })?;
            all.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        all.sort_by_key(|waits| (waits.waiting.room, waits.pos));
        all.dedup_by(|a, b| a.waiting.event_id == b.waiting.event_id);
        Ok(all)
    }

    /// What nobody can read in a room so far.
    pub fn room_unread(&self, room: RoomKey) -> Result<Vec<(OwnedEventId, Unread)>, StoreError> {
        let query = "SELECT event_id, pos, received_at_ms FROM waiting WHERE room_key = ?1";
        let mut query = self.0.prepare_cached(query)?;
        let rows = query.query_and_then([room.0], |row| {
            let unread = Unread { pos: Pos(row.get("pos")?), received_at_ms: row.get("received_at_ms")? };
            Ok((id(&text(row, "event_id")?, "waiting.event_id")?, unread))
        })?;
        rows.collect()
    }

    /// The place of the newest encrypted event of a room that has left the log.
    pub fn sealed_gone(&self, room: RoomKey) -> Result<Option<Pos>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT sealed_gone FROM rooms WHERE room_key = ?1")?;
        Ok(query.query_row([room.0], |row| row.get::<_, Option<i64>>(0))?.map(Pos))
    }
}

fn waiting(row: &Row<'_>) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        event_id: id(&text(row, "event_id")?, "waiting.event_id")?,
        room: RoomKey(row.get("room_key")?),
        visibility: Visibility::parse(&text(row, "visibility")?),
        sender: id(&text(row, "sender")?, "waiting.sender")?,
        session_id: row.get("session_id")?,
        event: row.get("event")?,
        received_at_ms: row.get("received_at_ms")?,
    })
}
