//! The bridge bot's rooms and the people it knows.

use parlour_domain::ids::{CatalogId, RoomKey};
use ruma::{EventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    By, Deed, Reader, StoreError, Tx,
    audit::Whom,
    value::{catalog_id, event_digest, id, text},
};

/// Somebody wants the bot in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotInvitation {
    pub room_id: OwnedRoomId,
    pub invited_by: OwnedUserId,
    /// It is to be a chat of two.
    pub direct: bool,
    pub received_at_ms: i64,
}

/// A room that the bot was let into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotRoom {
    pub room: RoomKey,
    pub direct: bool,
    /// Digest of the commands that were announced there.
    pub announced: Option<Vec<u8>>,
}

/// A direct chat that the bot made for somebody, or was about to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotChat {
    pub user_id: OwnedUserId,
    pub catalog_id: CatalogId,
    pub room_id: Option<OwnedRoomId>,
}

impl Tx<'_> {
    /// A later invitation to the same room replaces an earlier one.
    pub fn put_bot_invitation(&self, invitation: &BotInvitation) -> Result<(), StoreError> {
        let put = "INSERT INTO bot_invitations (room_id, invited_by, direct, received_at_ms) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET invited_by = ?2, direct = ?3, received_at_ms = ?4";
        let (room, by) = (invitation.room_id.as_str(), invitation.invited_by.as_str());
        self.0.prepare_cached(put)?.execute((room, by, invitation.direct, invitation.received_at_ms))?;
        Ok(())
    }

    pub fn drop_bot_invitation(&self, room_id: &RoomId) -> Result<(), StoreError> {
        self.0
            .prepare_cached("DELETE FROM bot_invitations WHERE room_id = ?1")?
            .execute([room_id.as_str()])?;
        Ok(())
    }

    /// The bot is in, since somebody wanted it. `false`: it was before.
    pub fn put_bot_room(&self, room: RoomKey, direct: bool, by: &By) -> Result<bool, StoreError> {
        let put = "INSERT INTO bot_rooms (room_key, direct) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let new = self.0.prepare_cached(put)?.execute((room.0, direct))? > 0;
        if new && !direct {
            self.audit(Deed::BotEntered, by, Whom::room(room))?;
        }
        Ok(new)
    }

    /// The bot is out: nobody manages the room any more, so no code opens it, and nobody waits before it.
    pub fn drop_bot_room(&self, room: RoomKey, by: &By) -> Result<(), StoreError> {
        if self.bot_manages(room)? {
            self.audit(Deed::BotLeft, by, Whom::room(room))?;
        }
        self.shut_bot_door(room)?;
        self.forget_in_room(room, &["bot_rooms", "bot_errands", "bot_sayings"])
    }

    /// No code opens the room any more, and nobody waits before it. The bot is still in, and what it was asked there is
    /// still to be done.
    pub fn shut_bot_door(&self, room: RoomKey) -> Result<(), StoreError> {
        self.forget_in_room(room, &["bot_letters", "door_notices"])?;
        let owned = "SELECT owner_key IS NOT NULL FROM rooms WHERE room_key = ?1";
        if !self.0.prepare_cached(owned)?.query_row([room.0], |row| row.get::<_, bool>(0))? {
            self.forget_code(room)?;
            let away = "DELETE FROM knocks WHERE room_key = ?1 AND answer = 'none'";
            self.0.prepare_cached(away)?.execute([room.0])?;
        }
        Ok(())
    }

    fn forget_in_room(&self, room: RoomKey, tables: &[&str]) -> Result<(), StoreError> {
        for table in tables {
            self.0.prepare_cached(&format!("DELETE FROM {table} WHERE room_key = ?1"))?.execute([room.0])?;
        }
        Ok(())
    }

    fn bot_manages(&self, room: RoomKey) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM bot_rooms WHERE room_key = ?1 AND NOT direct)";
        Ok(self.0.prepare_cached(query)?.query_row([room.0], |row| row.get(0))?)
    }

    pub fn bot_announced(&self, room: RoomKey, digest: &[u8]) -> Result<(), StoreError> {
        let set = "UPDATE bot_rooms SET announced = ?2 WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, digest))?;
        Ok(())
    }

    /// Claims a chat with somebody under a number, or gives the one that there is.
    pub fn claim_chat(&self, user: &UserId, number: CatalogId) -> Result<BotChat, StoreError> {
        let add = "INSERT INTO bot_chats (user_id, catalog_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(add)?.execute((user.as_str(), number.0.as_bytes()))?;
        let mut query = self.0.prepare_cached("SELECT * FROM bot_chats WHERE user_id = ?1")?;
        query.query_row([user.as_str()], |row| Ok(chat(row)))?
    }

    /// The room of a chat is known. `None`: nobody asked for it (any more).
    pub fn settle_chat(&self, number: CatalogId, room_id: &RoomId) -> Result<Option<BotChat>, StoreError> {
        let set = "UPDATE bot_chats SET room_id = ifnull(room_id, ?2) WHERE catalog_id = ?1";
        self.0.prepare_cached(set)?.execute((number.0.as_bytes(), room_id.as_str()))?;
        let mut query = self.0.prepare_cached("SELECT * FROM bot_chats WHERE catalog_id = ?1")?;
        query.query_row([number.0.as_bytes()], |row| Ok(chat(row))).optional()?.transpose()
    }

    /// There is no such chat (any more); the next one is made anew.
    pub fn drop_chat(&self, user: &UserId) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM bot_chats WHERE user_id = ?1")?.execute([user.as_str()])?;
        Ok(())
    }

    pub fn put_letter(&self, user: &UserId, room: RoomKey, now_ms: i64) -> Result<(), StoreError> {
        let put = "INSERT INTO bot_letters (user_id, room_key, at_ms) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET at_ms = ?3";
        self.0.prepare_cached(put)?.execute((user.as_str(), room.0, now_ms))?;
        Ok(())
    }

    pub fn drop_letter(&self, user: &UserId, room: RoomKey) -> Result<(), StoreError> {
        let drop = "DELETE FROM bot_letters WHERE user_id = ?1 AND room_key = ?2";
        self.0.prepare_cached(drop)?.execute((user.as_str(), room.0))?;
        Ok(())
    }

    pub fn wrote_to_bot(&self, user: &UserId) -> Result<(), StoreError> {
        let put = "INSERT INTO bot_people (user_id) VALUES (?1) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(put)?.execute([user.as_str()])?;
        Ok(())
    }

    /// Notes an event that was meant for the bot. `false`: it was noted before.
    pub fn heard(&self, event_id: &EventId) -> Result<bool, StoreError> {
        let put = "INSERT INTO bot_heard (event_digest) VALUES (?1) ON CONFLICT DO NOTHING";
        Ok(self.0.prepare_cached(put)?.execute([event_digest(event_id.as_str())])? > 0)
    }
}

impl Reader<'_> {
    pub fn bot_invitations(&self) -> Result<Vec<BotInvitation>, StoreError> {
        let query = "SELECT * FROM bot_invitations ORDER BY received_at_ms";
        let row = |row: &Row<'_>| {
            Ok(BotInvitation {
                room_id: id(&text(row, "room_id")?, "bot_invitations.room_id")?,
                invited_by: id(&text(row, "invited_by")?, "bot_invitations.invited_by")?,
                direct: row.get("direct")?,
                received_at_ms: row.get("received_at_ms")?,
            })
        };
        self.0.prepare_cached(query)?.query_and_then([], row)?.collect()
    }

    pub fn bot_rooms(&self) -> Result<Vec<BotRoom>, StoreError> {
        let row = |row: &Row<'_>| {
            Ok(BotRoom {
                room: RoomKey(row.get("room_key")?),
                direct: row.get("direct")?,
                announced: row.get("announced")?,
            })
        };
        self.0.prepare_cached("SELECT * FROM bot_rooms")?.query_and_then([], row)?.collect()
    }

    pub fn chat_with(&self, user: &UserId) -> Result<Option<BotChat>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT * FROM bot_chats WHERE user_id = ?1")?;
        query.query_row([user.as_str()], |row| Ok(chat(row))).optional()?.transpose()
    }

    /// Whom codes are still to be shown, and of which rooms.
    pub fn letters(&self) -> Result<Vec<(OwnedUserId, RoomKey)>, StoreError> {
        let row = |row: &Row<'_>| {
            Ok((id(&text(row, "user_id")?, "bot_letters.user_id")?, RoomKey(row.get("room_key")?)))
        };
        let query = "SELECT user_id, room_key FROM bot_letters ORDER BY at_ms";
        self.0.prepare_cached(query)?.query_and_then([], row)?.collect()
    }

    pub fn knows_of_bot(&self, user: &UserId) -> Result<bool, StoreError> {
        let mut query =
            self.0.prepare_cached("SELECT EXISTS (SELECT 1 FROM bot_people WHERE user_id = ?1)")?;
        Ok(query.query_row([user.as_str()], |row| row.get(0))?)
    }
}

fn chat(row: &Row<'_>) -> Result<BotChat, StoreError> {
    let room_id: Option<String> = row.get("room_id")?;
    Ok(BotChat {
        user_id: id(&text(row, "user_id")?, "bot_chats.user_id")?,
        catalog_id: catalog_id(row, "catalog_id")?,
        room_id: room_id.map(|r| id(&r, "bot_chats.room_id")).transpose()?,
    })
}
