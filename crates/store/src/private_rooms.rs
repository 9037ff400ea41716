//! What private rooms have and lobbies do not: an owner, a code, an end.

use parlour_domain::{
    ids::{AgentKey, CatalogId, RoomKey},
    knock::Way,
    room::RoomKind,
};
use ruma::{OwnedRoomId, RoomId};
use rusqlite::OptionalExtension;

use crate::{By, Deed, Reader, RoomRow, SeatRow, StoreError, Tx, Who, audit::Whom, value::corrupt};

/// A private room that the bridge has just come to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPrivateRoom {
    pub room_id: OwnedRoomId,
    pub catalog_id: CatalogId,
    pub name: Option<String>,
    pub created_at_ms: i64,
}

/// A code as kept: never itself.
#[derive(Clone, PartialEq, Eq)]
pub struct NewCode {
    /// Keyed, to find it by.
    pub digest: [u8; 32],
    /// To show it to the owner again.
    pub sealed: Vec<u8>,
}

/// What is kept of a room's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCode {
    pub sealed: Option<Vec<u8>>,
}

impl Tx<'_> {
    /// The room that a claim was made for is there: its owner sits in it, it has a code, the claim is settled. It is
    /// taken for encrypted without asking, since that is how it was ordered. Settled before: the room as it stands.
    /// `None`: nobody asked for this room.
    pub fn settle_room_claim(
        &self,
        number: CatalogId,
        room_id: &RoomId,
        code: &NewCode,
        now_ms: i64,
    ) -> Result<Option<(RoomRow, Option<SeatRow>)>, StoreError> {
        let Some(claim) = self.room_claim(number)? else {
            let known = self.room_by_number(number)?.filter(|row| row.room.room_id == room_id);
            return Ok(known.map(|row| (row, None)));
        };
        let add = "INSERT INTO rooms (room_id, catalog_id, kind, name, created_at_ms, owner_key, encrypted, state_read)
            VALUES (?1, ?2, 'private', ?3, ?4, ?5, 1, 1)";
        let row = (room_id.as_str(), number.0.as_bytes(), &claim.name, claim.claimed_at_ms, claim.owner.0);
        self.0.prepare_cached(add)?.execute(row)?;
        let room = RoomKey(self.0.last_insert_rowid());
        let owner = By { who: Who::Agent(claim.owner), at_ms: now_ms };
        self.audit(Deed::RoomMade, &owner, Whom::room(room))?;
        self.set_code(room, code)?;
        self.let_in(claim.owner, room, Way::Owner, &owner)?;
        let seat = self.seat_taken(claim.owner, room)?;
        self.forget_room_claim(number)?;
        Ok(Some((self.room_by_key(room)?, Some(seat))))
    }

    /// A room of people, or the one that is known under this id.
    pub fn put_private_room(&self, new: &NewPrivateRoom) -> Result<RoomRow, StoreError> {
        let add =
            "INSERT INTO rooms (room_id, catalog_id, kind, name, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (room_id) DO NOTHING";
        let kind = RoomKind::Private.as_str();
        let row = (new.room_id.as_str(), new.catalog_id.0.as_bytes(), kind, &new.name, new.created_at_ms);
        self.0.prepare_cached(add)?.execute(row)?;
        let mut key = self.0.prepare_cached("SELECT room_key FROM rooms WHERE room_id = ?1")?;
        let key = key.query_row([new.room_id.as_str()], |row| row.get(0))?;
        self.room_by_key(RoomKey(key))
    }

    /// Its whole state has been read.
    pub fn room_state_read(&self, room: RoomKey) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE rooms SET state_read = 1 WHERE room_key = ?1")?.execute([room.0])?;
        Ok(())
    }

    /// A new code; the one before opens nothing any more.
    pub fn put_code(&self, room: RoomKey, code: &NewCode, by: &By) -> Result<(), StoreError> {
        let deed = if self.has_code(room)? { Deed::CodeReplaced } else { Deed::CodeMade };
        self.audit(deed, by, Whom::room(room))?;
        self.set_code(room, code)
    }

    fn set_code(&self, room: RoomKey, code: &NewCode) -> Result<(), StoreError> {
        let put = "UPDATE rooms SET code_digest = ?2, code_sealed = ?3, code_number = code_number + 1 WHERE room_key = ?1";
        self.0.prepare_cached(put)?.execute((room.0, code.digest, &code.sealed))?;
        Ok(())
    }

    /// No code opens it.
    pub fn drop_code(&self, room: RoomKey, by: &By) -> Result<(), StoreError> {
        if self.has_code(room)? {
            self.audit(Deed::CodeSwitchedOff, by, Whom::room(room))?;
        }
        self.forget_code(room)
    }

    fn has_code(&self, room: RoomKey) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM rooms WHERE room_key = ?1 AND code_digest IS NOT NULL)";
        Ok(self.0.prepare_cached(query)?.query_row([room.0], |row| row.get(0))?)
    }

    pub(crate) fn forget_code(&self, room: RoomKey) -> Result<(), StoreError> {
        let drop = "UPDATE rooms SET code_digest = NULL, code_sealed = NULL WHERE room_key = ?1";
        self.0.prepare_cached(drop)?.execute([room.0])?;
        Ok(())
    }

    /// The open room that a code with this digest opens, and the code's number.
    pub fn room_of_code(&self, digest: &[u8; 32]) -> Result<Option<(RoomKey, i64)>, StoreError> {
        let find = "SELECT room_key, code_number FROM rooms WHERE code_digest = ?1 AND closed_at_ms IS NULL";
        let mut find = self.0.prepare_cached(find)?;
        let found = find.query_row([digest], |row| Ok((RoomKey(row.get(0)?), row.get(1)?)));
        Ok(found.optional()?)
    }

    /// For good. Nobody waits before it any more, and nothing opens it.
    pub fn close_room(&self, room: RoomKey, by: &By) -> Result<(), StoreError> {
        let close = "UPDATE rooms SET closed_at_ms = ?2 WHERE room_key = ?1 AND closed_at_ms IS NULL";
        if self.0.prepare_cached(close)?.execute((room.0, by.at_ms))? > 0 {
            self.audit(Deed::RoomClosed, by, Whom::room(room))?;
        }
        self.forget_code(room)?;
        let away = "DELETE FROM knocks WHERE room_key = ?1 AND answer = 'none'";
        self.0.prepare_cached(away)?.execute([room.0])?;
        Ok(())
    }

    /// All open rooms of an agent. Returns which they were.
    pub fn close_rooms_of(&self, owner: AgentKey, by: &By) -> Result<Vec<RoomKey>, StoreError> {
        let open = "SELECT room_key FROM rooms WHERE owner_key = ?1 AND closed_at_ms IS NULL";
        let mut open = self.0.prepare_cached(open)?;
        let rooms: Vec<RoomKey> =
            open.query_map([owner.0], |row| row.get(0).map(RoomKey))?.collect::<Result<_, _>>()?;
        for room in &rooms {
            self.close_room(*room, by)?;
        }
        self.0.prepare_cached("DELETE FROM room_claims WHERE owner_key = ?1")?.execute([owner.0])?;
        Ok(rooms)
    }

    /// On the homeserver too nobody can speak in it.
    pub fn room_silenced(&self, room: RoomKey) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE rooms SET silenced = 1 WHERE room_key = ?1")?.execute([room.0])?;
        Ok(())
    }

    /// Where the room's tombstone leads.
    pub fn set_successor(&self, room: RoomKey, successor: Option<&RoomId>) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET successor = ?2 WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, successor.map(RoomId::as_str)))?;
        Ok(())
    }
}

impl Reader<'_> {
    /// `None`: the room has no code.
    pub fn room_code(&self, room: RoomKey) -> Result<Option<KeptCode>, StoreError> {
        let query = "SELECT code_digest IS NOT NULL, code_sealed FROM rooms WHERE room_key = ?1";
        let mut query = self.0.prepare_cached(query)?;
        let (there, sealed): (bool, Option<Vec<u8>>) = query
            .query_row([room.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .ok_or_else(|| corrupt("room"))?;
        Ok(there.then_some(KeptCode { sealed }))
    }
}
