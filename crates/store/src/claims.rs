//! Rooms that are being made: claimed before the homeserver is asked, so that the same name is one room however often
//! it is asked for and whatever becomes of the answer.

use parlour_domain::{
    ids::{AgentKey, CatalogId},
    limits::SUBMISSION_EFFORT_MS,
};
use rusqlite::{OptionalExtension, Row};

use crate::{Charge, Overdrawn, Reader, StoreError, Tx, undo::Undo, value::catalog_id};

/// A room that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomClaim {
    /// The number it will have.
    pub catalog_id: CatalogId,
    pub owner: AgentKey,
    pub name: String,
    pub claimed_at_ms: i64,
}

/// How many open rooms there may be, those that are being made included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRooms {
    pub of_one_agent: u32,
    pub overall: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomClaimed {
    New,
    /// The owner asked for this name before, and it is not known what came of it.
    Before(RoomClaim),
    /// The owner has as many as it may.
    TooMany,
    /// All agents together have.
    Full,
    Overdrawn(Overdrawn),
}

const COLUMNS: &str = "catalog_id, owner_key, name, claimed_at_ms";

impl Tx<'_> {
    /// Claims a room, and charges for it, if that is allowed. A claim that nobody has come back to for ten minutes no
    /// longer counts as an open room.
    pub fn claim_room(
        &self,
        claim: &RoomClaim,
        limits: OpenRooms,
        charges: &[Charge],
    ) -> Result<RoomClaimed, StoreError> {
        if let Some(before) = claim_of(self.0, claim.owner, &claim.name)? {
            return Ok(RoomClaimed::Before(before));
        }
        let since = claim.claimed_at_ms - SUBMISSION_EFFORT_MS;
        if self.open_rooms(Some(claim.owner), since)? >= i64::from(limits.of_one_agent) {
            return Ok(RoomClaimed::TooMany);
        }
        if self.open_rooms(None, since)? >= i64::from(limits.overall) {
            return Ok(RoomClaimed::Full);
        }
        let taken = match self.charge(charges, claim.claimed_at_ms)? {
            Ok(taken) => taken,
            Err(overdrawn) => return Ok(RoomClaimed::Overdrawn(overdrawn)),
        };
        let add = "INSERT INTO room_claims (catalog_id, owner_key, name, claimed_at_ms, undo)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let undo = Undo::of(charges, taken).to_column();
        let row = (claim.catalog_id.0.as_bytes(), claim.owner.0, &claim.name, claim.claimed_at_ms, undo);
        self.0.prepare_cached(add)?.execute(row)?;
        Ok(RoomClaimed::New)
    }

    /// It is certain that the room was not made: what it was charged is given back.
    pub fn room_not_made(&self, number: CatalogId) -> Result<(), StoreError> {
        let forget = "DELETE FROM room_claims WHERE catalog_id = ?1 RETURNING owner_key, undo";
        let mut forget = self.0.prepare_cached(forget)?;
        let gone = forget.query_row([number.0.as_bytes()], |row| Ok((AgentKey(row.get(0)?), row.get(1)?)));
        if let Some((owner, undo)) = gone.optional()? {
            self.undo(owner, Undo::read(undo)?)?;
        }
        Ok(())
    }

    /// It is settled: the room is there.
    pub(crate) fn forget_room_claim(&self, number: CatalogId) -> Result<(), StoreError> {
        let forget = "DELETE FROM room_claims WHERE catalog_id = ?1";
        self.0.prepare_cached(forget)?.execute([number.0.as_bytes()])?;
        Ok(())
    }

    pub(crate) fn room_claim(&self, number: CatalogId) -> Result<Option<RoomClaim>, StoreError> {
        claim_by(self.0, number)
    }

    /// Open rooms that agents made, and claims made after `since_ms`; of one owner or of all.
    fn open_rooms(&self, owner: Option<AgentKey>, since_ms: i64) -> Result<i64, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT (SELECT count(*) FROM rooms WHERE owner_key IS NOT NULL AND closed_at_ms IS NULL
                       AND owner_key = ifnull(?1, owner_key))
                  + (SELECT count(*) FROM room_claims WHERE claimed_at_ms > ?2 AND owner_key = ifnull(?1, owner_key))",
        )?;
        Ok(query.query_row((owner.map(|o| o.0), since_ms), |row| row.get(0))?)
    }
}

impl Reader<'_> {
    pub fn room_claim(&self, number: CatalogId) -> Result<Option<RoomClaim>, StoreError> {
        claim_by(self.0, number)
    }
}

fn claim_by(db: &rusqlite::Connection, number: CatalogId) -> Result<Option<RoomClaim>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM room_claims WHERE catalog_id = ?1");
    db.prepare_cached(&query)?.query_row([number.0.as_bytes()], |row| Ok(claim(row))).optional()?.transpose()
}

fn claim_of(db: &rusqlite::Connection, owner: AgentKey, name: &str) -> Result<Option<RoomClaim>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM room_claims WHERE owner_key = ?1 AND name = ?2");
    db.prepare_cached(&query)?.query_row((owner.0, name), |row| Ok(claim(row))).optional()?.transpose()
}

fn claim(row: &Row<'_>) -> Result<RoomClaim, StoreError> {
    Ok(RoomClaim {
        catalog_id: catalog_id(row, "catalog_id")?,
        owner: AgentKey(row.get("owner_key")?),
        name: row.get("name")?,
        claimed_at_ms: row.get("claimed_at_ms")?,
    })
}
