//! Knocks that the bridge bot has told a room of, until what became of them is told as well.

use parlour_domain::{
    ids::{AgentKey, MessageId, RoomKey},
    knock::Knock,
};
use ruma::{EventId, OwnedEventId, OwnedUserId, UserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    passes::answer,
    value::{id, message_id},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorNotice {
    pub room: RoomKey,
    pub agent: AgentKey,
    pub mark: MessageId,
    pub event_id: Option<OwnedEventId>,
    /// The reactions to press are there.
    pub offered: bool,
    pub decided_by: Option<OwnedUserId>,
    /// As it stands now; `None`: taken back.
    pub knock: Option<Knock>,
}

const ALL: &str =
    "SELECT door_notices.*, at_ms, answer FROM door_notices LEFT JOIN knocks USING (room_key, agent_key)";

impl Tx<'_> {
    /// A new one replaces the one before.
    pub fn put_door_notice(&self, room: RoomKey, agent: AgentKey, mark: MessageId) -> Result<(), StoreError> {
        let put = "INSERT OR REPLACE INTO door_notices (room_key, agent_key, mark) VALUES (?1, ?2, ?3)";
        self.0.prepare_cached(put)?.execute((room.0, agent.0, mark.0.as_bytes()))?;
        Ok(())
    }

    pub fn door_offered(&self, room: RoomKey, agent: AgentKey) -> Result<(), StoreError> {
        let set = "UPDATE door_notices SET offered = 1 WHERE room_key = ?1 AND agent_key = ?2";
        self.0.prepare_cached(set)?.execute((room.0, agent.0))?;
        Ok(())
    }

    /// Whose answer it is.
    pub fn door_decided(&self, room: RoomKey, agent: AgentKey, by: &UserId) -> Result<(), StoreError> {
        let set = "UPDATE door_notices SET decided_by = ?3
            WHERE room_key = ?1 AND agent_key = ?2";
        self.0.prepare_cached(set)?.execute((room.0, agent.0, by.as_str()))?;
        Ok(())
    }

    /// Nothing more is to be told.
    pub fn drop_door_notice(&self, room: RoomKey, agent: AgentKey) -> Result<(), StoreError> {
        let drop = "DELETE FROM door_notices WHERE room_key = ?1 AND agent_key = ?2";
        self.0.prepare_cached(drop)?.execute((room.0, agent.0))?;
        Ok(())
    }
}

impl Reader<'_> {
    pub fn door_notices(&self) -> Result<Vec<DoorNotice>, StoreError> {
        self.0.prepare_cached(ALL)?.query_and_then([], notice)?.collect()
    }

    /// The one that an event is.
    pub fn door_notice(&self, event_id: &EventId) -> Result<Option<DoorNotice>, StoreError> {
        let mut query = self.0.prepare_cached(&format!("{ALL} WHERE event_id = ?1"))?;
        query.query_row([event_id.as_str()], |row| Ok(notice(row))).optional()?.transpose()
    }
}

fn notice(row: &Row<'_>) -> Result<DoorNotice, StoreError> {
    let (at_ms, answered): (Option<i64>, Option<String>) = (row.get("at_ms")?, row.get("answer")?);
    let (event_id, by): (Option<String>, Option<String>) = (row.get("event_id")?, row.get("decided_by")?);
    let knock = at_ms.zip(answered).map(|(at_ms, text)| answer(&text).map(|answer| Knock { at_ms, answer }));
    Ok(DoorNotice {
        room: RoomKey(row.get("room_key")?),
        agent: AgentKey(row.get("agent_key")?),
        mark: message_id(row, "mark")?,
        event_id: event_id.map(|e| id(&e, "door_notices.event_id")).transpose()?,
        offered: row.get("offered")?,
        decided_by: by.map(|b| id(&b, "door_notices.decided_by")).transpose()?,
        knock: knock.transpose()?,
    })
}
