//! Agents and the other authors of messages.

use ruma::OwnedUserId;
use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, AgentKey};

/// The agent on whose behalf something is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub key: AgentKey,
    pub id: AgentId,
    /// `Name #1234`.
    pub display_name: String,
    /// Its puppet.
    pub user_id: OwnedUserId,
    pub created_at_ms: i64,
}

/// Who wrote a message, as known when it came in; names may change later, what was said under them stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Author {
    Person {
        display_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        avatar_url: Option<String>,
    },
    Agent {
        key: AgentKey,
        id: AgentId,
        display_name: String,
    },
}

impl Author {
    #[must_use]
    pub fn display_name(&self) -> &str {
        match self {
            Self::Person { display_name, .. } | Self::Agent { display_name, .. } => display_name,
        }
    }

    #[must_use]
    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. })
    }
}
