//! Who knocked on which door, and what came of it.

use parlour_domain::{
    ids::{AgentKey, CatalogId, RoomKey},
    knock::{Answer, Knock, Outcome, Standing, knock},
};
use rusqlite::{OptionalExtension, Row};

use crate::{
    By, Deed, Reader, StoreError, Tx,
    audit::Whom,
    passes::answer,
    value::{catalog_id, text},
};

/// A knock that nobody has answered, lapsed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnockRow {
    pub room: RoomKey,
    pub agent: AgentKey,
    pub knock: Knock,
    /// A wait of the room's owner has told of it.
    pub told: bool,
}

impl Tx<'_> {
    /// Knocks. What comes of it is decided by the rules over what is stored now, and stored.
    pub fn knock(
        &self,
        agent: AgentKey,
        room: RoomKey,
        places: u32,
        now_ms: i64,
    ) -> Result<Outcome, StoreError> {
        let standing = Standing { pass: self.pass(agent, room)?, knock: self.knock_of(agent, room)? };
        let outcome = knock(standing, &self.others_at(room, agent)?, places, now_ms);
        if let Outcome::Waits { knock, news } = outcome {
            let put = "INSERT INTO knocks (room_key, agent_key, at_ms, answer) VALUES (?1, ?2, ?3, 'none')
                ON CONFLICT DO UPDATE SET at_ms = ?3, answer = 'none', told = CASE WHEN ?4 THEN 0 ELSE told END";
            self.0.prepare_cached(put)?.execute((room.0, agent.0, knock.at_ms, news))?;
        }
        Ok(outcome)
    }

    /// What would come of knocking for somebody whom nobody here has seen yet. Changes nothing.
    pub fn door(&self, room: RoomKey, places: u32, now_ms: i64) -> Result<Outcome, StoreError> {
        Ok(knock(Standing::default(), &self.others_at(room, AgentKey(0))?, places, now_ms))
    }

    /// Turns away one that waits. `false`: it does not (any more).
    pub fn decline_knock(&self, agent: AgentKey, room: RoomKey, by: &By) -> Result<bool, StoreError> {
        if !self.knock_of(agent, room)?.is_some_and(|k| k.waits(by.at_ms)) {
            return Ok(false);
        }
        self.turn_away(agent, room, by)?;
        Ok(true)
    }

    /// The same for one that has lapsed, too.
    pub fn turn_away(&self, agent: AgentKey, room: RoomKey, by: &By) -> Result<(), StoreError> {
        if self.set_answer(agent, room, Answer::Declined)? {
            self.audit(Deed::KnockDeclined, by, Whom::agent_in(agent, room))?;
        }
        Ok(())
    }

    /// The agent is in, by whichever way: it waits no more.
    pub fn settle_knock(&self, agent: AgentKey, room: RoomKey) -> Result<(), StoreError> {
        self.set_answer(agent, room, Answer::Admitted).map(drop)
    }

    fn set_answer(&self, agent: AgentKey, room: RoomKey, answer: Answer) -> Result<bool, StoreError> {
        let set = "UPDATE knocks SET answer = ?3 WHERE room_key = ?2 AND agent_key = ?1 AND answer = 'none'";
        Ok(self.0.prepare_cached(set)?.execute((agent.0, room.0, answer.as_str()))? > 0)
    }

    pub fn knocks_told(&self, told: &[(RoomKey, AgentKey)]) -> Result<(), StoreError> {
        for (room, agent) in told {
            let set = "UPDATE knocks SET told = 1 WHERE room_key = ?1 AND agent_key = ?2";
            self.0.prepare_cached(set)?.execute((room.0, agent.0))?;
        }
        Ok(())
    }

    /// An agent that ends stands before no door any more.
    pub fn forget_knocks(&self, agent: AgentKey) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM knocks WHERE agent_key = ?1")?.execute([agent.0])?;
        Ok(())
    }

    fn knock_of(&self, agent: AgentKey, room: RoomKey) -> Result<Option<Knock>, StoreError> {
        let query = "SELECT at_ms, answer FROM knocks WHERE room_key = ?1 AND agent_key = ?2";
        let mut query = self.0.prepare_cached(query)?;
        query.query_row((room.0, agent.0), |row| Ok(read(row))).optional()?.transpose()
    }

    fn others_at(&self, room: RoomKey, agent: AgentKey) -> Result<Vec<Knock>, StoreError> {
        let query =
            "SELECT at_ms, answer FROM knocks WHERE room_key = ?1 AND agent_key <> ?2 AND answer = 'none'";
        self.0.prepare_cached(query)?.query_and_then((room.0, agent.0), read)?.collect()
    }
}

impl Reader<'_> {
    /// All that nobody has answered.
    pub fn open_knocks(&self) -> Result<Vec<KnockRow>, StoreError> {
        let query = "SELECT room_key, agent_key, at_ms, answer, told FROM knocks WHERE answer = 'none'";
        let row = |row: &Row<'_>| {
            Ok(KnockRow {
                room: RoomKey(row.get("room_key")?),
                agent: AgentKey(row.get("agent_key")?),
                knock: read(row)?,
                told: row.get("told")?,
            })
        };
        self.0.prepare_cached(query)?.query_and_then([], row)?.collect()
    }

    /// Doors that an agent knocked on since then and was not let in by, with the rooms' numbers, latest knock first.
    pub fn knocks_of(&self, agent: AgentKey, since_ms: i64) -> Result<Vec<(CatalogId, Knock)>, StoreError> {
        let query = "SELECT catalog_id, at_ms, answer FROM knocks JOIN rooms USING (room_key)
            WHERE agent_key = ?1 AND at_ms > ?2 AND answer <> 'admitted' ORDER BY at_ms DESC, room_key";
        let row = |row: &Row<'_>| Ok((catalog_id(row, "catalog_id")?, read(row)?));
        self.0.prepare_cached(query)?.query_and_then((agent.0, since_ms), row)?.collect()
    }
}

fn read(row: &Row<'_>) -> Result<Knock, StoreError> {
    Ok(Knock { at_ms: row.get("at_ms")?, answer: answer(&text(row, "answer")?)? })
}
