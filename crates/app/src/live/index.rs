use std::{collections::HashMap, sync::Arc};

use parking_lot::RwLock;
use parlour_domain::ids::{AgentKey, CatalogId, RoomKey};
use parlour_store::RoomRow;
use ruma::{OwnedRoomId, RoomId};

use super::{Members, RoomLive};

/// All rooms.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    index: RwLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    by_key: HashMap<RoomKey, Arc<RoomLive>>,
    by_id: HashMap<OwnedRoomId, Arc<RoomLive>>,
}

impl Rooms {
    /// Adds a room, or brings what is known of it up to date.
    pub(crate) fn put(&self, row: RoomRow, members: Members) -> Arc<RoomLive> {
        let mut index = self.index.write();
        if let Some(slug) = &row.slug {
            // the alias may have moved to this room from another one
            let others = index.by_key.values().filter(|r| r.key != row.room.key && r.has_slug(slug));
            others.for_each(|r| r.drop_slug());
        }
        if let Some(known) = index.by_key.get(&row.room.key) {
            known.renew(row);
            return known.clone();
        }
        let room = Arc::new(RoomLive::new(row, members));
        index.by_key.insert(room.key, room.clone());
        index.by_id.insert(room.room_id.clone(), room.clone());
        room
    }

    #[must_use]
    pub(crate) fn get(&self, key: RoomKey) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.get(&key).cloned()
    }

    /// A room that goes on under another Matrix id. Who still holds what it was before finds nothing new in it.
    pub(crate) fn replace(&self, row: RoomRow) -> Arc<RoomLive> {
        let mut index = self.index.write();
        index.by_id.retain(|_, r| r.key != row.room.key);
        let room = Arc::new(RoomLive::new(row, Members::default()));
        index.by_key.insert(room.key, room.clone());
        index.by_id.insert(room.room_id.clone(), room.clone());
        room
    }

    /// Rooms that an agent made.
    #[must_use]
    pub(crate) fn of_owner(&self, owner: AgentKey) -> Vec<Arc<RoomLive>> {
        let index = self.index.read();
        index.by_key.values().filter(|r| r.owner() == Some(owner)).cloned().collect()
    }

    /// The room whose tombstone leads there.
    #[must_use]
    pub(crate) fn before(&self, successor: &RoomId) -> Option<Arc<RoomLive>> {
        let index = self.index.read();
        index.by_key.values().find(|r| r.successor().is_some_and(|s| s == successor)).cloned()
    }

    #[must_use]
    pub(crate) fn by_id(&self, room_id: &RoomId) -> Option<Arc<RoomLive>> {
        self.index.read().by_id.get(room_id).cloned()
    }

    #[must_use]
    pub(crate) fn by_number(&self, number: CatalogId) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.values().find(|r| r.room().catalog_id == number).cloned()
    }

    /// The room that a lobby of the config stands for now.
    #[must_use]
    pub(crate) fn lobby(&self, slug: &str) -> Option<Arc<RoomLive>> {
        self.index.read().by_key.values().find(|r| r.has_slug(slug)).cloned()
    }

    #[must_use]
    pub(crate) fn all(&self) -> Vec<Arc<RoomLive>> {
        self.index.read().by_key.values().cloned().collect()
    }
}
