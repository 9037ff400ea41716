//! What the bridge bot says: claimed here before the homeserver hears of it, gone once it is certainly sent.

use parlour_domain::ids::{MessageId, RoomKey};
use ruma::{OwnedEventId, OwnedUserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, Sealed, StoreError, Tx,
    value::{message_id, optional_id, text},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSaying {
    /// By which it is found in the room.
    pub mark: MessageId,
    pub room: RoomKey,
    pub event_type: String,
    /// Sealed with the bridge's key.
    pub content: Vec<u8>,
    /// Said only where nobody else can read it.
    pub only_for: Option<OwnedUserId>,
    pub made_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    pub id: i64,
    pub mark: MessageId,
    pub room: RoomKey,
    pub event_type: String,
    pub content: Vec<u8>,
    pub only_for: Option<OwnedUserId>,
    /// Where it goes into an encrypted room. Empty content: see [`Tx::doubt_sayings`].
    pub encrypted: Option<Sealed>,
    /// The homeserver may have it already.
    pub tried: bool,
    pub made_at_ms: i64,
}

impl Tx<'_> {
    /// The same mark again changes nothing.
    pub fn put_saying(&self, new: &NewSaying) -> Result<(), StoreError> {
        let put = "INSERT INTO bot_sayings (mark, room_key, event_type, content, made_at_ms, only_for)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let only_for = new.only_for.as_ref().map(|user| user.as_str());
        let row =
            (new.mark.0.as_bytes(), new.room.0, &new.event_type, &new.content, new.made_at_ms, only_for);
        self.0.prepare_cached(put)?.execute(row)?;
        Ok(())
    }

    /// From here on the homeserver may have it; encrypted, it is these bytes.
    pub fn saying_tried(&self, saying: i64, encrypted: Option<&Sealed>) -> Result<(), StoreError> {
        let set = "UPDATE bot_sayings SET tried = 1, encrypted = ?2, digest = ?3 WHERE saying_id = ?1";
        let (content, digest) = (encrypted.map(|e| &e.content), encrypted.map(|e| e.digest));
        self.0.prepare_cached(set)?.execute((saying, content, digest))?;
        Ok(())
    }

    /// The database is an old one: what is still to be said may have been said since, so it is looked for first. What was
    /// encrypted is so anew, as its devices are given up; by its digest it is still found where the homeserver has it.
    pub fn doubt_sayings(&self) -> Result<(), StoreError> {
        let spoil = "UPDATE bot_sayings SET tried = 1, encrypted = iif(encrypted IS NULL, NULL, '')";
        self.0.prepare_cached(spoil)?.execute([])?;
        Ok(())
    }

    /// It is in the room. Where it was a notice at the door, that is known by its event from here on.
    pub fn saying_sent(&self, saying: &Saying, event_id: &OwnedEventId) -> Result<(), StoreError> {
        self.drop_saying(saying.id)?;
        let set = "UPDATE door_notices SET event_id = ?2 WHERE mark = ?1";
        self.0.prepare_cached(set)?.execute((saying.mark.0.as_bytes(), event_id.as_str()))?;
        Ok(())
    }

    /// Refused for good. A notice that is not there has nothing to be pressed.
    pub fn saying_refused(&self, saying: &Saying) -> Result<(), StoreError> {
        self.drop_saying(saying.id)?;
        let drop = "DELETE FROM door_notices WHERE mark = ?1";
        self.0.prepare_cached(drop)?.execute([saying.mark.0.as_bytes()])?;
        Ok(())
    }

    fn drop_saying(&self, saying: i64) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM bot_sayings WHERE saying_id = ?1")?.execute([saying])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// Rooms in which something is still to be said.
    pub fn saying_rooms(&self) -> Result<Vec<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT DISTINCT room_key FROM bot_sayings")?;
        let rooms = query.query_map([], |row| row.get(0).map(RoomKey))?;
        Ok(rooms.collect::<Result<_, _>>()?)
    }

    /// The earliest of a room.
    pub fn next_saying(&self, room: RoomKey) -> Result<Option<Saying>, StoreError> {
        let query = "SELECT * FROM bot_sayings WHERE room_key = ?1 ORDER BY saying_id LIMIT 1";
        let mut query = self.0.prepare_cached(query)?;
        query.query_row([room.0], |row| Ok(saying(row))).optional()?.transpose()
    }
}

fn saying(row: &Row<'_>) -> Result<Saying, StoreError> {
    let (encrypted, digest): (Option<String>, Option<[u8; 32]>) = (row.get("encrypted")?, row.get("digest")?);
    Ok(Saying {
        id: row.get("saying_id")?,
        mark: message_id(row, "mark")?,
        room: RoomKey(row.get("room_key")?),
        event_type: text(row, "event_type")?,
        content: row.get("content")?,
        only_for: optional_id(row, "only_for")?,
        encrypted: encrypted.zip(digest).map(|(content, digest)| Sealed { content, digest }),
        tried: row.get("tried")?,
        made_at_ms: row.get("made_at_ms")?,
    })
}
