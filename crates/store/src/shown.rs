//! History that is shared with an agent: what was encrypted before it came, with keys that it was given.

use parlour_domain::ids::{AgentKey, Pos, RoomKey, Seq};
use ruma::EventId;

use crate::{StoreError, Tx};

/// A room key, as far as somebody has it: from this message on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFrom {
    pub session_id: String,
    pub first_index: u32,
}

impl Tx<'_> {
    /// Notes by which room key a message or an edit was encrypted.
    pub fn note_session(&self, event_id: &EventId, session_id: &str, index: u32) -> Result<(), StoreError> {
        for table in ["log", "edits"] {
            let set = format!("UPDATE {table} SET session_id = ?2, message_index = ?3 WHERE event_id = ?1");
            self.0.prepare_cached(&set)?.execute((event_id.as_str(), session_id, index))?;
        }
        Ok(())
    }

    /// Shows an agent one event from before it came, whose key it has.
    pub fn show(&self, agent: AgentKey, room: RoomKey, seq: Seq) -> Result<(), StoreError> {
        let put = "INSERT INTO shown (agent_key, room_key, seq) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(put)?.execute((agent.0, room.0, seq.0))?;
        Ok(())
    }

    /// An agent has a room key: shows it what was encrypted with that while it was not in the room. Whether it may be
    /// read is a matter of the room's history visibility then. How much that is.
    pub fn show_all(&self, agent: AgentKey, room: RoomKey, key: &KeyFrom) -> Result<usize, StoreError> {
        let Some(seat) = self.seat(agent, room)? else { return Ok(0) };
        let query = "SELECT seq, pos FROM log WHERE room_key = ?1 AND session_id = ?2 AND message_index >= ?3
            UNION ALL SELECT seq, pos FROM edits WHERE room_key = ?1 AND session_id = ?2 AND message_index >= ?3";
        let mut query = self.0.prepare_cached(query)?;
        let row = (room.0, &key.session_id, key.first_index);
        let encrypted = query.query_map(row, |row| Ok((Seq(row.get(0)?), Pos(row.get(1)?))))?;
        let encrypted = encrypted.collect::<Result<Vec<_>, _>>()?;
        drop(query);
        let before = encrypted.into_iter().filter(|(_, pos)| !seat.seat.was_in(*pos));
        before.map(|(seq, _)| self.show(agent, room, seq)).try_fold(0, |n, shown| shown.map(|()| n + 1))
    }
}
