//! Rooms that were upgraded go on under another Matrix id.

use parlour_domain::ids::RoomKey;
use ruma::{OwnedRoomId, RoomId};
use rusqlite::OptionalExtension;

use crate::{Reader, RoomRow, StoreError, Tx, value::id};

impl Tx<'_> {
    /// The room goes on under another Matrix id: number, log, seats, code stay. What was known of its state does not.
    pub fn move_room(&self, room: RoomKey, to: &RoomId) -> Result<RoomRow, StoreError> {
        let note = "INSERT OR REPLACE INTO moves (old_room_id, room_key)
            SELECT room_id, room_key FROM rooms WHERE room_key = ?1";
        self.0.prepare_cached(note)?.execute([room.0])?;
        let set =
            "UPDATE rooms SET room_id = ?2, successor = NULL, power = NULL, state_read = 0, encrypted = 0,
            visibility = 'shared' WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, to.as_str()))?;
        self.0.prepare_cached("DELETE FROM members WHERE room_key = ?1")?.execute([room.0])?;
        self.room_by_key(room)
    }

    /// All of ours who went along have left the old room.
    pub fn move_done(&self, old: &RoomId) -> Result<(), StoreError> {
        let set = "UPDATE moves SET done = 1 WHERE old_room_id = ?1";
        self.0.prepare_cached(set)?.execute([old.as_str()])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// Moves that are not finished: the old room, and what it is now.
    pub fn open_moves(&self) -> Result<Vec<(OwnedRoomId, RoomKey)>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT old_room_id, room_key FROM moves WHERE done = 0")?;
        let rows = query.query_and_then([], |row| {
            Ok((id(&row.get::<_, String>(0)?, "moves.old_room_id")?, RoomKey(row.get(1)?)))
        })?;
        rows.collect()
    }

    /// What a room goes on as that had this Matrix id before.
    pub fn moved(&self, old: &RoomId) -> Result<Option<RoomKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT room_key FROM moves WHERE old_room_id = ?1")?;
        Ok(query.query_row([old.as_str()], |row| row.get(0).map(RoomKey)).optional()?)
    }
}
