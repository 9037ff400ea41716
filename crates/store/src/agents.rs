use parlour_domain::{
    agent::Agent,
    ids::{AgentId, AgentKey},
};
use ruma::{OwnedUserId, UserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    By, Deed, Reader, StoreError, Tx, Who,
    audit::Whom,
    value::{agent_id, corrupt, from_json, id, json, text},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Made, but nobody was told its token yet: after a crash it is an orphan.
    Joining,
    Live,
    /// Its token is void; it is still to be taken out of its rooms.
    Leaving,
    Gone,
}

impl AgentState {
    const ALL: [Self; 4] = [Self::Joining, Self::Live, Self::Leaving, Self::Gone];

    fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Live => "live",
            Self::Leaving => "leaving",
            Self::Gone => "gone",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    pub agent: Agent,
    pub state: AgentState,
    pub likeness: String,
    pub number: u16,
    pub token_digest: Option<[u8; 32]>,
    pub last_call_ms: i64,
    pub last_mentions: Vec<OwnedUserId>,
}

#[derive(Clone, Debug)]
pub struct NewAgent {
    pub id: AgentId,
    pub user_id: OwnedUserId,
    pub display_name: String,
    /// What the name looks like, and the number after it: no two living agents share both.
    pub likeness: String,
    pub number: u16,
    /// SHA-256.
    pub token_digest: [u8; 32],
    pub created_at_ms: i64,
}

const COLUMNS: &str = "agent_key, agent_id, user_id, display_name, likeness, number, token_digest, state,
    created_at_ms, last_call_ms, last_mentions";

impl Tx<'_> {
    /// A new agent, `joining`.
    pub fn add_agent(&self, new: &NewAgent) -> Result<AgentKey, StoreError> {
        let add = "INSERT INTO agents (agent_id, user_id, display_name, likeness, number, token_digest, state, created_at_ms,
            last_call_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'joining', ?7, ?7)";
        self.0.prepare_cached(add)?.execute((
            new.id.0.as_bytes(),
            new.user_id.as_str(),
            &new.display_name,
            &new.likeness,
            new.number,
            new.token_digest,
            new.created_at_ms,
        ))?;
        Ok(AgentKey(self.0.last_insert_rowid()))
    }

    pub fn agent_is_live(&self, agent: AgentKey, now_ms: i64) -> Result<(), StoreError> {
        let itself = By { who: Who::Agent(agent), at_ms: now_ms };
        self.audit(Deed::AgentCreated, &itself, Whom::agent(agent))?;
        self.set_agent_state(agent, AgentState::Live)
    }

    /// Voids the token at once and for good.
    pub fn agent_leaves(&self, agent: AgentKey, by: &By) -> Result<(), StoreError> {
        if self.agent_lives(agent)? {
            self.audit(Deed::AgentEnded, by, Whom::agent(agent))?;
        }
        let void = "UPDATE agents SET token_digest = NULL WHERE agent_key = ?1";
        self.0.prepare_cached(void)?.execute([agent.0])?;
        self.set_agent_state(agent, AgentState::Leaving)
    }

    /// Out of all rooms. Its submissions need not be known any more; the row stays, so that its Matrix id is never
    /// used again.
    pub fn agent_is_gone(&self, agent: AgentKey) -> Result<(), StoreError> {
        for forget in
            ["DELETE FROM submissions WHERE agent_key = ?1", "DELETE FROM seats WHERE agent_key = ?1"]
        {
            self.0.prepare_cached(forget)?.execute([agent.0])?;
        }
        self.set_agent_state(agent, AgentState::Gone)
    }

    pub fn set_last_call(&self, agent: AgentKey, at_ms: i64) -> Result<(), StoreError> {
        let set = "UPDATE agents SET last_call_ms = max(last_call_ms, ?2) WHERE agent_key = ?1";
        self.0.prepare_cached(set)?.execute((agent.0, at_ms))?;
        Ok(())
    }

    pub(crate) fn last_mentions(&self, agent: AgentKey) -> Result<Vec<OwnedUserId>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT last_mentions FROM agents WHERE agent_key = ?1")?;
        let mentions: Option<String> = query.query_row([agent.0], |row| row.get(0)).optional()?;
        mentions.map_or_else(|| Ok(vec![]), |text| from_json(&text, "agents.last_mentions"))
    }

    pub fn set_last_mentions(&self, agent: AgentKey, mentions: &[OwnedUserId]) -> Result<(), StoreError> {
        let set = "UPDATE agents SET last_mentions = ?2 WHERE agent_key = ?1";
        self.0.prepare_cached(set)?.execute((agent.0, json(&mentions)?))?;
        Ok(())
    }

    /// One whose join comes to nothing never did.
    fn agent_lives(&self, agent: AgentKey) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM agents WHERE agent_key = ?1 AND state = 'live')";
        Ok(self.0.prepare_cached(query)?.query_row([agent.0], |row| row.get(0))?)
    }

    fn set_agent_state(&self, agent: AgentKey, state: AgentState) -> Result<(), StoreError> {
        let set = "UPDATE agents SET state = ?2 WHERE agent_key = ?1";
        self.0.prepare_cached(set)?.execute((agent.0, state.as_str()))?;
        Ok(())
    }
}

impl Reader<'_> {
    /// All that are not gone.
    pub fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM agents WHERE state <> 'gone' ORDER BY agent_key");
        self.0.prepare_cached(&query)?.query_and_then([], agent_row)?.collect()
    }

    /// The agent that a puppet was or is.
    pub fn agent_of(&self, puppet: &UserId) -> Result<Option<AgentRow>, StoreError> {
        let mut query = self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM agents WHERE user_id = ?1"))?;
        query.query_and_then([puppet.as_str()], agent_row)?.next().transpose()
    }

    /// What an agent is called, gone or not.
    pub fn agent_name(&self, agent: AgentKey) -> Result<Option<String>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT display_name FROM agents WHERE agent_key = ?1")?;
        Ok(query.query_row([agent.0], |row| row.get(0)).optional()?)
    }

    /// An agent as the wire knows it, gone or not.
    pub fn agent_by_key(&self, agent: AgentKey) -> Result<Option<Agent>, StoreError> {
        let mut query =
            self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM agents WHERE agent_key = ?1"))?;
        Ok(query.query_and_then([agent.0], agent_row)?.next().transpose()?.map(|row| row.agent))
    }
}

fn agent_row(row: &Row<'_>) -> Result<AgentRow, StoreError> {
    let state = text(row, "state")?;
    let state = AgentState::ALL.into_iter().find(|s| s.as_str() == state);
    Ok(AgentRow {
        agent: Agent {
            key: AgentKey(row.get("agent_key")?),
            id: agent_id(row, "agent_id")?,
            display_name: row.get("display_name")?,
            user_id: id(&text(row, "user_id")?, "agents.user_id")?,
            created_at_ms: row.get("created_at_ms")?,
        },
        state: state.ok_or_else(|| corrupt("agents.state"))?,
        likeness: row.get("likeness")?,
        number: row.get("number")?,
        token_digest: row.get("token_digest")?,
        last_call_ms: row.get("last_call_ms")?,
        last_mentions: from_json(&text(row, "last_mentions")?, "agents.last_mentions")?,
    })
}
