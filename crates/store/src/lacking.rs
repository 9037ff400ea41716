//! Room keys that have not come.

use parlour_domain::ids::{AgentKey, RoomKey};

use crate::{Reader, StoreError};

/// A room key that something in a room waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// `None`: nobody in the room has it.
    pub agent: Option<AgentKey>,
    pub room: RoomKey,
    pub session_id: String,
}

impl Reader<'_> {
    /// What was said since then and cannot be read: by anybody, or by one agent.
    pub fn lacking(&self, since_ms: i64) -> Result<Vec<Lacking>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT NULL, room_key, session_id FROM waiting WHERE received_at_ms >= ?1
             UNION
             SELECT exceptions.agent_key, exceptions.room_key, exceptions.session_id
             FROM exceptions JOIN log USING (seq) WHERE late_at IS NULL AND received_at_ms >= ?1",
        )?;
        let rows = query.query_map([since_ms], |row| {
            let agent = row.get::<_, Option<i64>>(0)?.map(AgentKey);
            Ok(Lacking { agent, room: RoomKey(row.get(1)?), session_id: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
