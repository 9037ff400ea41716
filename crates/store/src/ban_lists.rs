//! Ban lists as they were last read, and whom the bridge banned because of them.

use std::collections::BTreeSet;

use parlour_domain::{
    ban_list::{Kind, Rule},
    ids::RoomKey,
};
use ruma::{OwnedRoomId, OwnedUserId, UserId};
use rusqlite::Row;

use crate::{
    By, Deed, Reader, StoreError, Tx,
    audit::Whom,
    value::{corrupt, id, text},
};

/// A list that the config names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BanList {
    /// As in the config.
    pub name: String,
    pub room_id: OwnedRoomId,
    pub rules: BTreeSet<Rule>,
}

/// Somebody whom the bridge banned from a room of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBan {
    pub room: RoomKey,
    pub user_id: OwnedUserId,
}

impl Tx<'_> {
    /// As it was read just now; what it said before is forgotten.
    pub fn put_ban_list(&self, list: &BanList) -> Result<(), StoreError> {
        let put = "INSERT INTO ban_lists (name, room_id) VALUES (?1, ?2)
            ON CONFLICT DO UPDATE SET room_id = ?2";
        self.0.prepare_cached(put)?.execute((&list.name, list.room_id.as_str()))?;
        self.0.prepare_cached("DELETE FROM ban_list_rules WHERE name = ?1")?.execute([&list.name])?;
        let mut add =
            self.0.prepare_cached("INSERT INTO ban_list_rules (name, kind, entity) VALUES (?1, ?2, ?3)")?;
        for rule in &list.rules {
            add.execute((&list.name, rule.kind.as_str(), &rule.entity))?;
        }
        Ok(())
    }

    /// The config does not name it any more.
    pub fn drop_ban_list(&self, name: &str) -> Result<(), StoreError> {
        self.0.prepare_cached("DELETE FROM ban_lists WHERE name = ?1")?.execute([name])?;
        Ok(())
    }

    /// Before the homeserver is asked to.
    pub fn put_listed_ban(&self, ban: &ListedBan) -> Result<(), StoreError> {
        let put = "INSERT INTO listed_bans (room_key, user_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.0.prepare_cached(put)?.execute((ban.room.0, ban.user_id.as_str()))?;
        Ok(())
    }

    /// The homeserver has done it.
    pub fn listed_ban_is_set(&self, ban: &ListedBan, by: &By) -> Result<(), StoreError> {
        self.audit(Deed::MemberBanned, by, whom(ban.room, &ban.user_id))
    }

    /// It holds no more; `lifted`: because we had it lifted.
    pub fn drop_listed_ban(&self, ban: &ListedBan, lifted: Option<&By>) -> Result<(), StoreError> {
        let drop = "DELETE FROM listed_bans WHERE room_key = ?1 AND user_id = ?2";
        self.0.prepare_cached(drop)?.execute((ban.room.0, ban.user_id.as_str()))?;
        match lifted {
            Some(by) => self.audit(Deed::BanLifted, by, whom(ban.room, &ban.user_id)),
            None => Ok(()),
        }
    }
}

fn whom(room: RoomKey, user: &UserId) -> Whom<'_> {
    Whom { user: Some(user), ..Whom::room(room) }
}

impl Reader<'_> {
    pub fn ban_lists(&self) -> Result<Vec<BanList>, StoreError> {
        let list = |row: &Row<'_>| {
            let name = text(row, "name")?;
            Ok(BanList {
                room_id: id(&text(row, "room_id")?, "ban_lists.room_id")?,
                rules: self.ban_list_rules(&name)?,
                name,
            })
        };
        self.0.prepare_cached("SELECT * FROM ban_lists ORDER BY name")?.query_and_then([], list)?.collect()
    }

    fn ban_list_rules(&self, name: &str) -> Result<BTreeSet<Rule>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT kind, entity FROM ban_list_rules WHERE name = ?1")?;
        query.query_and_then([name], rule)?.collect()
    }

    pub fn listed_bans(&self) -> Result<Vec<ListedBan>, StoreError> {
        let ban = |row: &Row<'_>| {
            let user_id = id(&text(row, "user_id")?, "listed_bans.user_id")?;
            Ok(ListedBan { room: RoomKey(row.get("room_key")?), user_id })
        };
        self.0.prepare_cached("SELECT * FROM listed_bans")?.query_and_then([], ban)?.collect()
    }
}

fn rule(row: &Row<'_>) -> Result<Rule, StoreError> {
    let kind = text(row, "kind")?;
    let kind = Kind::ALL.into_iter().find(|k| k.as_str() == kind);
    let entity = text(row, "entity")?;
    Ok(Rule { kind: kind.ok_or_else(|| corrupt("ban_list_rules.kind"))?, entity })
}
