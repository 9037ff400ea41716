use parlour_domain::{
    ids::{AgentKey, CatalogId, RoomKey},
    room::{Room, RoomKind},
    visibility::Visibility,
};
use ruma::{OwnedRoomId, OwnedUserId, RoomId};
use rusqlite::Row;

use crate::{
    By, Deed, Reader, StoreError, Tx, Who,
    audit::Whom,
    value::{catalog_id, corrupt, id, text},
};

/// A room as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomRow {
    pub room: Room,
    /// Of a lobby that the config still names.
    pub slug: Option<String>,
    pub visibility: Visibility,
    /// What decides who may do what; JSON of the matrix side.
    pub power: Option<String>,
    pub encrypted: bool,
    /// Anybody may join.
    pub open: bool,
    /// All its state was read once. Before that, nobody knows whether a private room is encrypted.
    pub state_read: bool,
    /// The agent that made it.
    pub owner: Option<AgentKey>,
    pub closed: bool,
    /// The homeserver was told, too, that nobody speaks in it any more.
    pub silenced: bool,
    /// Where its tombstone leads.
    pub successor: Option<OwnedRoomId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoom<'a> {
    pub room_id: &'a RoomId,
    pub catalog_id: CatalogId,
    pub kind: RoomKind,
    pub slug: Option<&'a str>,
    pub name: Option<&'a str>,
    pub created_at_ms: i64,
}

/// Somebody's membership of a room, agents and people alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user_id: OwnedUserId,
    /// `join`, `invite`, `leave`, `ban` or `knock`.
    pub membership: String,
    pub display_name: Option<String>,
    pub avatar_url: Option<String>,
}

const COLUMNS: &str =
    "room_key, room_id, catalog_id, kind, slug, name, visibility, power, encrypted, open, state_read,
    owner_key, closed_at_ms, silenced, successor";

impl Tx<'_> {
    /// Adds a room, or finds the one with this room id and gives it the slug and the name.
    pub fn put_room(&self, new: &NewRoom<'_>) -> Result<RoomRow, StoreError> {
        if let Some(slug) = new.slug {
            // the alias may have moved to another room
            let free = "UPDATE rooms SET slug = NULL WHERE slug = ?1 AND room_id <> ?2";
            self.0.prepare_cached(free)?.execute((slug, new.room_id.as_str()))?;
        }
        let known = self.room_is_known(new.room_id)?;
        let put = "INSERT INTO rooms (room_id, catalog_id, kind, slug, name, created_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (room_id) DO UPDATE SET kind = ?3, slug = ?4, name = ifnull(?5, name)";
        let row = (
            new.room_id.as_str(),
            new.catalog_id.0.as_bytes(),
            new.kind.as_str(),
            new.slug,
            new.name,
            new.created_at_ms,
        );
        self.0.prepare_cached(put)?.execute(row)?;
        let mut query = self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM rooms WHERE room_id = ?1"))?;
        let row = query.query_and_then([new.room_id.as_str()], room_row)?.next();
        let row = row.ok_or_else(|| corrupt("room"))??;
        if !known {
            let bridge = By { who: Who::Bridge, at_ms: new.created_at_ms };
            self.audit(Deed::RoomMade, &bridge, Whom::room(row.room.key))?;
        }
        Ok(row)
    }

    fn room_is_known(&self, room_id: &RoomId) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM rooms WHERE room_id = ?1)";
        Ok(self.0.prepare_cached(query)?.query_row([room_id.as_str()], |row| row.get(0))?)
    }

    pub(crate) fn room_by_key(&self, room: RoomKey) -> Result<RoomRow, StoreError> {
        let mut query = self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM rooms WHERE room_key = ?1"))?;
        query.query_and_then([room.0], room_row)?.next().ok_or_else(|| corrupt("room"))?
    }

    pub(crate) fn room_by_number(&self, number: CatalogId) -> Result<Option<RoomRow>, StoreError> {
        let mut query =
            self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM rooms WHERE catalog_id = ?1"))?;
        query.query_and_then([number.0.as_bytes()], room_row)?.next().transpose()
    }

    /// `by`: whoever does it now; `None`: it was read somewhere.
    pub fn set_room_name(
        &self,
        room: RoomKey,
        name: Option<&str>,
        by: Option<&By>,
    ) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET name = ?2 WHERE room_key = ?1 AND name IS NOT ?2";
        let other = self.0.prepare_cached(set)?.execute((room.0, name))? > 0;
        match by.filter(|_| other) {
            Some(by) => self.audit(Deed::RoomRenamed, by, Whom::room(room)),
            None => Ok(()),
        }
    }

    pub fn set_room_visibility(&self, room: RoomKey, visibility: Visibility) -> Result<(), StoreError> {
        let set = "UPDATE rooms SET visibility = ?2 WHERE room_key = ?1";
        self.0.prepare_cached(set)?.execute((room.0, visibility.as_str()))?;
        Ok(())
    }

    pub fn set_room_power(&self, room: RoomKey, power: &str) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE rooms SET power = ?2 WHERE room_key = ?1")?.execute((room.0, power))?;
        Ok(())
    }

    /// Once encrypted, always encrypted.
    pub fn set_room_encrypted(&self, room: RoomKey) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE rooms SET encrypted = 1 WHERE room_key = ?1")?.execute([room.0])?;
        Ok(())
    }

    /// Whether anybody may join.
    pub fn set_room_open(&self, room: RoomKey, open: bool) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE rooms SET open = ?2 WHERE room_key = ?1")?.execute((room.0, open))?;
        Ok(())
    }

    pub fn put_member(&self, room: RoomKey, member: &Member) -> Result<(), StoreError> {
        let put = "INSERT INTO members (room_key, user_id, membership, display_name, avatar_url) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET membership = ?3, display_name = ?4, avatar_url = ?5";
        self.0.prepare_cached(put)?.execute((
            room.0,
            member.user_id.as_str(),
            &member.membership,
            &member.display_name,
            &member.avatar_url,
        ))?;
        Ok(())
    }
}

impl Reader<'_> {
    pub fn rooms(&self) -> Result<Vec<RoomRow>, StoreError> {
        let mut query = self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM rooms ORDER BY room_key"))?;
        query.query_and_then([], room_row)?.collect()
    }

    pub fn members(&self, room: RoomKey) -> Result<Vec<Member>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT user_id, membership, display_name, avatar_url FROM members WHERE room_key = ?1",
        )?;
        query.query_and_then([room.0], member)?.collect()
    }
}

fn room_row(row: &Row<'_>) -> Result<RoomRow, StoreError> {
    let kind = RoomKind::parse(&text(row, "kind")?).ok_or_else(|| corrupt("rooms.kind"))?;
    let room = Room {
        key: RoomKey(row.get("room_key")?),
        room_id: id(&text(row, "room_id")?, "rooms.room_id")?,
        catalog_id: catalog_id(row, "catalog_id")?,
        kind,
        name: row.get("name")?,
    };
    Ok(RoomRow {
        room,
        slug: row.get("slug")?,
        visibility: Visibility::parse(&text(row, "visibility")?),
        power: row.get("power")?,
        encrypted: row.get("encrypted")?,
        open: row.get("open")?,
        state_read: row.get("state_read")?,
        owner: row.get::<_, Option<i64>>("owner_key")?.map(AgentKey),
        closed: row.get::<_, Option<i64>>("closed_at_ms")?.is_some(),
        silenced: row.get("silenced")?,
        successor: row
            .get::<_, Option<String>>("successor")?
            .map(|s| id(&s, "rooms.successor"))
            .transpose()?,
    })
}

fn member(row: &Row<'_>) -> Result<Member, StoreError> {
    Ok(Member {
        user_id: id(&text(row, "user_id")?, "members.user_id")?,
        membership: row.get("membership")?,
        display_name: row.get("display_name")?,
        avatar_url: row.get("avatar_url")?,
    })
}
