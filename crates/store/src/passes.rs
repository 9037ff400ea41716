//! Who was let into which private room, how, and whether that still holds.

use parlour_domain::{
    ids::{AgentId, AgentKey, RoomKey},
    knock::{Answer, Pass, Way},
};
use rusqlite::{Connection, OptionalExtension};

use crate::{By, Deed, Reader, SeatRow, StoreError, Tx, audit::Whom, value::corrupt};

impl Tx<'_> {
    /// Lets an agent in; a removal before is forgiven. A knock of its is answered by that.
    pub fn let_in(&self, agent: AgentKey, room: RoomKey, way: Way, by: &By) -> Result<(), StoreError> {
        let before = self.pass(agent, room)?.is_some_and(|pass| pass.holds());
        if let (false, Some(deed)) = (before, entrance(way)) {
            self.audit(deed, by, Whom::agent_in(agent, room))?;
        }
        // an owner stays one, however it comes back in
        let put = "INSERT INTO passes (agent_key, room_key, way, at_ms) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET removed_at_code = NULL, at_ms = ?4,
              way = CASE way WHEN 'owner' THEN way ELSE ?3 END";
        self.0.prepare_cached(put)?.execute((agent.0, room.0, way.as_str(), by.at_ms))?;
        Ok(())
    }

    /// The same where somebody of ours still lets agents in: the room's owner or, in a room of people, the bot. `false`:
    /// nobody does, and nothing was written.
    pub fn let_in_here(&self, agent: AgentKey, room: RoomKey, way: Way, by: &By) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM rooms WHERE room_key = ?1 AND owner_key IS NOT NULL)
            OR EXISTS (SELECT 1 FROM bot_rooms WHERE room_key = ?1)";
        let open: bool = self.0.prepare_cached(query)?.query_row([room.0], |row| row.get(0))?;
        if open {
            self.let_in(agent, room, way, by)?;
        }
        Ok(open)
    }

    /// Somebody puts an agent out: it has no place any more, and codes and knocks no longer let it in. `None`: it had no
    /// place.
    pub fn put_out(
        &self,
        agent: AgentKey,
        room: RoomKey,
        banned: bool,
        by: &By,
    ) -> Result<Option<SeatRow>, StoreError> {
        let revoked = self.revoke(agent, room)?;
        let left = self.seat_left(agent, room, false)?;
        if revoked || left.is_some() {
            let deed = if banned { Deed::MemberBanned } else { Deed::MemberRemoved };
            self.audit(deed, by, Whom::agent_in(agent, room))?;
        }
        Ok(left)
    }

    /// Removes an agent, as far as codes and knocks are concerned. Whether it had been let in.
    fn revoke(&self, agent: AgentKey, room: RoomKey) -> Result<bool, StoreError> {
        let set = "UPDATE passes SET removed_at_code = (SELECT code_number FROM rooms WHERE room_key = ?2)
            WHERE agent_key = ?1 AND room_key = ?2 AND removed_at_code IS NULL";
        let revoked = self.0.prepare_cached(set)?.execute((agent.0, room.0))? > 0;
        let answered = "UPDATE knocks SET answer = 'admitted' WHERE room_key = ?2 AND agent_key = ?1 AND answer = 'declined'";
        self.0.prepare_cached(answered)?.execute((agent.0, room.0))?;
        Ok(revoked)
    }

    pub fn pass(&self, agent: AgentKey, room: RoomKey) -> Result<Option<Pass>, StoreError> {
        pass(self.0, agent, room)
    }

    /// Whether an agent may have a place in a room: lobbies are open to all, private rooms to those who were let in.
    pub fn may_sit(&self, agent: AgentKey, room: RoomKey) -> Result<bool, StoreError> {
        let query = "SELECT kind = 'lobby' OR EXISTS (SELECT 1 FROM passes
            WHERE passes.room_key = ?2 AND agent_key = ?1 AND removed_at_code IS NULL) FROM rooms WHERE room_key = ?2";
        let mut query = self.0.prepare_cached(query)?;
        Ok(query.query_row((agent.0, room.0), |row| row.get(0)).optional()?.unwrap_or(false))
    }
}

impl Reader<'_> {
    pub fn pass(&self, agent: AgentKey, room: RoomKey) -> Result<Option<Pass>, StoreError> {
        pass(self.0, agent, room)
    }

    /// Who was let in and not put out since.
    pub fn pass_holders(&self, room: RoomKey) -> Result<Vec<AgentKey>, StoreError> {
        let query =
            "SELECT agent_key FROM passes WHERE room_key = ?1 AND removed_at_code IS NULL ORDER BY agent_key";
        let mut query = self.0.prepare_cached(query)?;
        let holders = query.query_map([room.0], |row| row.get(0).map(AgentKey))?;
        Ok(holders.collect::<Result<_, _>>()?)
    }

    /// The agent with this id, gone or not.
    pub fn agent_key(&self, agent: AgentId) -> Result<Option<AgentKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT agent_key FROM agents WHERE agent_id = ?1")?;
        Ok(query.query_row([agent.0.as_bytes()], |row| row.get(0).map(AgentKey)).optional()?)
    }
}

/// Who makes a room is in it.
fn entrance(way: Way) -> Option<Deed> {
    match way {
        Way::Owner => None,
        Way::Code => Some(Deed::EnteredByCode),
        Way::Knock => Some(Deed::KnockAdmitted),
        Way::Invite => Some(Deed::EnteredByInvitation),
    }
}

fn pass(db: &Connection, agent: AgentKey, room: RoomKey) -> Result<Option<Pass>, StoreError> {
    let query = "SELECT way, removed_at_code FROM passes WHERE agent_key = ?1 AND room_key = ?2";
    let mut query = db.prepare_cached(query)?;
    let found: Option<(String, Option<i64>)> =
        query.query_row((agent.0, room.0), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((way, removed_at_code)) = found else { return Ok(None) };
    let way = Way::parse(&way).ok_or_else(|| corrupt("passes.way"))?;
    Ok(Some(Pass { way, removed_at_code }))
}

pub(crate) fn answer(text: &str) -> Result<Answer, StoreError> {
    Answer::parse(text).ok_or_else(|| corrupt("knocks.answer"))
}
