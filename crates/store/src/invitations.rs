//! Invitations of people to puppets, until they are followed or declined.

use parlour_domain::ids::AgentKey;
use ruma::{OwnedRoomId, OwnedUserId};
use rusqlite::Row;

use crate::{
    Reader, StoreError, Tx,
    value::{id, text},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub agent: AgentKey,
    pub room_id: OwnedRoomId,
    pub invited_by: OwnedUserId,
    pub received_at_ms: i64,
}

impl Tx<'_> {
    /// A later invitation to the same room replaces an earlier one.
    pub fn put_invitation(&self, invitation: &Invitation) -> Result<(), StoreError> {
        let put =
            "INSERT INTO invitations (agent_key, room_id, invited_by, received_at_ms) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET invited_by = ?3, received_at_ms = ?4";
        self.0.prepare_cached(put)?.execute((
            invitation.agent.0,
            invitation.room_id.as_str(),
            invitation.invited_by.as_str(),
            invitation.received_at_ms,
        ))?;
        Ok(())
    }

    /// Followed, declined or void. A later one to the same room stays.
    pub fn drop_invitation(&self, done: &Invitation) -> Result<(), StoreError> {
        let drop = "DELETE FROM invitations WHERE agent_key = ?1 AND room_id = ?2 AND received_at_ms = ?3";
        self.0.prepare_cached(drop)?.execute((done.agent.0, done.room_id.as_str(), done.received_at_ms))?;
        Ok(())
    }
}

impl Reader<'_> {
    pub fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let query =
            "SELECT agent_key, room_id, invited_by, received_at_ms FROM invitations ORDER BY received_at_ms";
        let row = |row: &Row<'_>| {
            Ok(Invitation {
                agent: AgentKey(row.get("agent_key")?),
                room_id: id(&text(row, "room_id")?, "invitations.room_id")?,
                invited_by: id(&text(row, "invited_by")?, "invitations.invited_by")?,
                received_at_ms: row.get("received_at_ms")?,
            })
        };
        self.0.prepare_cached(query)?.query_and_then([], row)?.collect()
    }
}
