use parlour_app::view;
use schemars::JsonSchema;
use serde::Serialize;

use super::Knock;

/// A room that one is in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Room {
    /// The room's number, a UUID of version 7.
    #[schemars(extend("format" = "uuid"))]
    catalog_id: String,
    /// The `roomId` of other calls.
    matrix_room_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl From<&parlour_domain::room::Room> for Room {
    fn from(room: &parlour_domain::room::Room) -> Self {
        Self {
            catalog_id: room.catalog_id.to_string(),
            matrix_room_id: room.room_id.to_string(),
            name: room.name.clone(),
        }
    }
}

/// Inside a room, or before its door: exactly one of `room` and `knock`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Entered {
    Room(Room),
    Knock(Knock),
}

impl From<&view::Entered> for Entered {
    fn from(entered: &view::Entered) -> Self {
        match entered {
            view::Entered::Room(room) => Self::Room(room.as_ref().into()),
            view::Entered::Knock(knock) => Self::Knock(knock.into()),
        }
    }
}
