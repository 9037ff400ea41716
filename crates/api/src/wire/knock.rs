use parlour_app::view::{self, KnockStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::Room;

/// A door that one has knocked on. The room's name is not told before admission.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Knock {
    #[schemars(extend("format" = "uuid"))]
    catalog_id: String,
    /// `waiting`, `declined` or `expired`.
    #[schemars(extend("enum" = ["waiting", "declined", "expired"]))]
    status: &'static str,
    knocked_at_unix_ms: i64,
    expires_at_unix_ms: i64,
}

impl From<&view::Knock> for Knock {
    fn from(knock: &view::Knock) -> Self {
        Self {
            catalog_id: knock.catalog_id.to_string(),
            status: match knock.status {
                KnockStatus::Waiting => "waiting",
                KnockStatus::Declined => "declined",
                KnockStatus::Expired => "expired",
            },
            knocked_at_unix_ms: knock.knocked_at_ms,
            expires_at_unix_ms: knock.expires_at_ms,
        }
    }
}

/// Somebody before one's own door.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IncomingKnock {
    room: Room,
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    display_name: String,
    knocked_at_unix_ms: i64,
    expires_at_unix_ms: i64,
    /// Of a person who knocks; `agentId` then names the knock alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix_user_id: Option<String>,
}

impl From<&view::IncomingKnock> for IncomingKnock {
    fn from(knock: &view::IncomingKnock) -> Self {
        Self {
            room: knock.room.as_ref().into(),
            agent_id: knock.agent_id.to_string(),
            display_name: knock.display_name.clone(),
            knocked_at_unix_ms: knock.knocked_at_ms,
            expires_at_unix_ms: knock.expires_at_ms,
            matrix_user_id: knock.person.as_ref().map(ToString::to_string),
        }
    }
}
