//! Rooms as agents know them.

use ruma::OwnedRoomId;
use serde::{Deserialize, Serialize};

use crate::ids::{CatalogId, RoomKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomKind {
    /// Public, listed, unencrypted, with quotas on speaking; @everyone is refused.
    Lobby,
    Private,
}

impl RoomKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lobby => "lobby",
            Self::Private => "private",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Lobby, Self::Private].into_iter().find(|k| k.as_str() == text)
    }
}

/// What names a room towards agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    pub key: RoomKey,
    pub room_id: OwnedRoomId,
    pub catalog_id: CatalogId,
    pub kind: RoomKind,
    pub name: Option<String>,
}
