//! What the bridge bot was asked to do: taken down with the event, gone with the answer.

use parlour_domain::ids::RoomKey;
use ruma::{OwnedEventId, OwnedUserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    value::{id, text},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewErrand {
    pub room: RoomKey,
    pub event_id: OwnedEventId,
    pub sender: OwnedUserId,
    /// JSON of the app's.
    pub what: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    pub id: i64,
    pub room: RoomKey,
    pub event_id: OwnedEventId,
    pub sender: OwnedUserId,
    pub what: String,
}

impl Tx<'_> {
    /// Takes an errand down, each event once. `false`: had before.
    pub fn put_errand(&self, errand: &NewErrand) -> Result<bool, StoreError> {
        if !self.heard(&errand.event_id)? {
            return Ok(false);
        }
        self.wrote_to_bot(&errand.sender)?;
        let put = "INSERT INTO bot_errands (room_key, event_id, sender, what) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING";
        let row = (errand.room.0, errand.event_id.as_str(), errand.sender.as_str(), &errand.what);
        Ok(self.0.prepare_cached(put)?.execute(row)? > 0)
    }

    pub fn errand_done(&self, errand: i64) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM bot_errands WHERE errand_id = ?1")?.execute([errand])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// Rooms with errands.
    pub fn errand_rooms(&self) -> Result<Vec<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT DISTINCT room_key FROM bot_errands")?;
        let rooms = query.query_map([], |row| row.get(0).map(RoomKey))?;
        Ok(rooms.collect::<Result<_, _>>()?)
    }

    /// The earliest of a room.
    pub fn next_errand(&self, room: RoomKey) -> Result<Option<Errand>, StoreError> {
        let query = "SELECT * FROM bot_errands WHERE room_key = ?1 ORDER BY errand_id LIMIT 1";
        let mut query = self.0.prepare_cached(query)?;
        query.query_row([room.0], |row| Ok(errand(row))).optional()?.transpose()
    }
}

fn errand(row: &Row<'_>) -> Result<Errand, StoreError> {
    Ok(Errand {
        id: row.get("errand_id")?,
        room: RoomKey(row.get("room_key")?),
        event_id: id(&text(row, "event_id")?, "bot_errands.event_id")?,
        sender: id(&text(row, "sender")?, "bot_errands.sender")?,
        what: text(row, "what")?,
    })
}
