use parlour_domain::ids::AgentKey;
use ruma::OwnedUserId;
use rusqlite::Row;

use crate::{
    Reader, StoreError, Tx,
    value::{id, text},
};

/// What an account shows of itself besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Picture,
    /// That it is automated, and what it is.
    About,
}

/// A living agent's puppet that does not show something yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    pub agent: AgentKey,
    pub user_id: OwnedUserId,
    /// Its picture's address (`mxc://`), where that is on the homeserver already.
    pub picture: Option<String>,
}

impl Tx<'_> {
    pub fn keep_picture(&self, agent: AgentKey, url: &str) -> Result<(), StoreError> {
        let keep = "UPDATE agents SET picture = ?2 WHERE agent_key = ?1";
        self.0.prepare_cached(keep)?.execute((agent.0, url))?;
        Ok(())
    }

    pub fn agent_shows(&self, agent: AgentKey, look: Look) -> Result<(), StoreError> {
        let set = match look {
            Look::Picture => "UPDATE agents SET shows_picture = 1 WHERE agent_key = ?1",
            Look::About => "UPDATE agents SET shows_about = 1 WHERE agent_key = ?1",
        };
        self.0.prepare_cached(set)?.execute([agent.0])?;
        Ok(())
    }
}

impl Reader<'_> {
    /// The first after `agent` that does not show this yet.
    pub fn next_plain(&self, look: Look, agent: AgentKey) -> Result<Option<Plain>, StoreError> {
        let query = match look {
            Look::Picture => {
                "SELECT agent_key, user_id, picture FROM agents
                 WHERE shows_picture = 0 AND state = 'live' AND agent_key > ?1 ORDER BY agent_key LIMIT 1"
            }
            Look::About => {
                "SELECT agent_key, user_id, picture FROM agents
                 WHERE shows_about = 0 AND state = 'live' AND agent_key > ?1 ORDER BY agent_key LIMIT 1"
            }
        };
        self.0.prepare_cached(query)?.query_and_then([agent.0], plain)?.next().transpose()
    }
}

fn plain(row: &Row<'_>) -> Result<Plain, StoreError> {
    Ok(Plain {
        agent: AgentKey(row.get("agent_key")?),
        user_id: id(&text(row, "user_id")?, "agents.user_id")?,
        picture: row.get("picture")?,
    })
}
