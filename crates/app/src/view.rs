//! What use cases give back. Fronts only write these out.

mod operator;
mod window;

use std::sync::Arc;

use parlour_domain::{
    agent::Agent,
    code::AgentCode,
    ids::{AgentId, CatalogId, MessageId},
    message::Message,
    room::Room,
    share::Share,
    wait::Reason,
};
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use operator::{
    AgentShown, AgentSummary, AuditEntry, Audited, CodeSummary, QuotaHolder, QuotaTaken, QuotaUse, RoomOf,
    RoomSummary, Shut, SourceTag,
};
pub use window::{Answers, Line, Look, News, Speaker, Watchable};

/// A new agent. The token is told this once.
#[derive(Debug)]
pub struct Welcome {
    pub agent: Agent,
    pub token: SecretString,
    pub entered: Entered,
}

/// Inside, or before the door.
#[derive(Clone, Debug)]
pub enum Entered {
    Room(Arc<Room>),
    Knock(Knock),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnockStatus {
    Waiting,
    Declined,
    Expired,
}

/// A door one has knocked on.
#[derive(Clone, Debug)]
pub struct Knock {
    pub catalog_id: CatalogId,
    pub status: KnockStatus,
    pub knocked_at_ms: i64,
    pub expires_at_ms: i64,
}

/// Somebody before one's own door.
#[derive(Clone, Debug)]
pub struct IncomingKnock {
    pub room: Arc<Room>,
    pub agent_id: AgentId,
    pub display_name: String,
    pub knocked_at_ms: i64,
    pub expires_at_ms: i64,
    /// It is a person; `agent_id` is then what this knock is known by, and nobody's id.
    pub person: Option<OwnedUserId>,
}

/// How others get into a room of one's own.
#[derive(Clone, Debug)]
pub struct Access {
    pub room: Arc<Room>,
    pub code: CodeState,
    pub guide_url: String,
    /// To be passed on.
    pub share: Share,
}

/// A room's Agent code, as its owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeState {
    Visible(AgentCode),
    /// There is one, but it cannot be shown any more.
    Hidden,
    Missing,
}

/// A room of one's own, made now or before.
#[derive(Clone, Debug)]
pub struct OwnRoom {
    pub created: bool,
    pub access: Access,
}

/// An agent that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    pub agent_id: AgentId,
    pub display_name: String,
}

#[derive(Clone, Debug)]
pub struct Lobby {
    pub name: String,
    pub slug: String,
    pub online: usize,
    pub default: bool,
}

#[derive(Clone, Debug)]
pub struct Me {
    pub agent: Agent,
    pub rooms: Vec<Arc<Room>>,
    pub knocks: Vec<Knock>,
    pub incoming_knocks: Vec<IncomingKnock>,
    /// Messages of more hops wake no agent; see [`parlour_domain::hops`].
    pub max_hops: u32,
    /// Rooms in which what the agent says next is an answer in a chain of agents' answers.
    pub hops: Vec<RoomHops>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomHops {
    pub catalog_id: CatalogId,
    /// Of what the agent says next.
    pub hops: u32,
}

/// A message as one agent sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub message: Arc<Message>,
    pub room: Arc<Room>,
    pub from_me: bool,
    pub mentions_me: bool,
    /// @everyone, which counts in private rooms only.
    pub mentions_everyone: bool,
    pub before_join: bool,
    /// Message id of what it answers; its event id where that message is not known.
    pub reply_to: Option<String>,
    pub quote: Option<Quote>,
}

/// The beginning of the message that another one answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    pub message_id: MessageId,
    pub actor_name: String,
    pub excerpt: String,
}

#[derive(Clone, Debug)]
pub struct Inbox {
    pub messages: Vec<Seen>,
    pub pending: usize,
    pub dropped: usize,
    pub skipped: usize,
    pub remaining: usize,
    pub reason: Reason,
    pub event_ids: Vec<OwnedEventId>,
    pub missing: Vec<OwnedUserId>,
    pub gaps: Vec<Gap>,
    pub incoming_knocks: Vec<IncomingKnock>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub room_id: OwnedRoomId,
    pub after_event_id: Option<OwnedEventId>,
    pub before_event_id: OwnedEventId,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    pub acknowledged: bool,
    pub pending: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub submission_id: MessageId,
    pub room_id: OwnedRoomId,
    /// `None`: the homeserver has not confirmed it yet.
    pub event_id: Option<OwnedEventId>,
}

#[derive(Clone, Debug)]
pub struct Looked {
    /// In the order asked, each once.
    pub messages: Vec<Seen>,
    /// As asked.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Browsed {
    pub messages: Vec<Seen>,
    pub next_cursor: Option<OwnedEventId>,
}

/// Whether the bridge can do its work, for `GET /ready`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Says what is missing, for the operator.
    NotYet(String),
}

/// The ban lists of the config.
#[derive(Clone, Copy, Debug)]
pub struct BanLists {
    pub named: usize,
    /// Of those, how many were read once.
    pub read: usize,
    /// How many could not be read at the last try; what was read of them before holds.
    pub failed: usize,
    /// In all that were read.
    pub rules: usize,
}

/// How the bridge fares, for its operator.
#[derive(Clone, Debug)]
pub struct Status {
    pub readiness: Readiness,
    /// Those that have not ended.
    pub agents: usize,
    pub lobbies: usize,
    /// Those that are not closed.
    pub private_rooms: usize,
    /// Puppets that can speak in encrypted rooms.
    pub devices: usize,
    /// How they are reached; `None`: not probed yet.
    pub way: Option<DeviceWay>,
    pub ban_lists: BanLists,
}

/// How a homeserver lets an appservice reach its puppets' devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeviceWay {
    /// Made and named by the appservice; messages for them and news of devices come in transactions.
    Pushed,
    /// The same, but news of devices do not come.
    PushedInPart,
    /// Made and named by the appservice, which has to ask for what waits for them.
    Pulled,
    /// Each puppet logs in and asks with a token of its own.
    OwnToken,
    /// In no way: no encrypted rooms.
    None,
}

/// What the last probe found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Probed {
    pub way: DeviceWay,
    pub at_ms: i64,
}

impl Probed {
    /// Where it is kept in `meta`.
    pub const META: &str = "device_way";

    /// `None` for what another version wrote.
    #[must_use]
    pub fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    pub(crate) fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}
