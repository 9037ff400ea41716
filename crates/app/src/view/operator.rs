//! What the operator's commands show.

use std::sync::Arc;

use parlour_domain::{
    agent::Agent,
    ids::{AgentId, CatalogId},
    room::Room,
};
use ruma::{OwnedRoomId, OwnedUserId};

/// An agent that has not ended.
#[derive(Clone, Debug)]
pub struct AgentSummary {
    pub agent: Agent,
    /// Where it is.
    pub rooms: Vec<Arc<Room>>,
    pub last_call_ms: i64,
    /// A wait of its is under way.
    pub waiting: bool,
}

#[derive(Clone, Debug)]
pub struct AgentShown {
    pub summary: AgentSummary,
    pub quotas: Vec<QuotaUse>,
}

/// What is taken of a quota or limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaUse {
    /// Its key under `[limits]` of the config.
    pub key: &'static str,
    pub used: u32,
    pub limit: u32,
    /// When all of it comes back; `None`: nothing is taken, or time brings nothing back.
    pub back_at_ms: Option<i64>,
}

/// Who has taken something of a quota.
#[derive(Clone, Debug)]
pub enum QuotaHolder {
    /// Gone or not.
    Agent(Agent),
    Lobby {
        room: Arc<Room>,
        /// Unless the config knows it no more.
        slug: Option<String>,
    },
    Source(SourceTag),
}

/// A source's name for today: enough to tell it from others, too little to find it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceTag(pub [u8; 4]);

/// What somebody has taken of a quota.
#[derive(Clone, Debug)]
pub struct QuotaTaken {
    pub holder: QuotaHolder,
    pub quota: QuotaUse,
}

/// Whose room it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomOf {
    /// The slug, unless the config knows it no more.
    Lobby {
        slug: Option<String>,
    },
    /// The name of the agent that made it, unless that is gone.
    Agent {
        owner: Option<String>,
    },
    People,
    /// One person and the bot.
    Chat,
}

#[derive(Clone, Debug)]
pub struct RoomSummary {
    pub room: Arc<Room>,
    pub of: RoomOf,
    pub agents: usize,
    pub people: usize,
    pub encrypted: bool,
    pub closed: bool,
}

/// What closing a room came to.
#[derive(Clone, Debug)]
pub struct Shut {
    pub room: Arc<Room>,
    /// `true`: of an agent, closed for good. `false`: of people, left by all agents and the bot.
    pub closed: bool,
}

/// Whether an Agent code opens a room. Never the code.
#[derive(Clone, Debug)]
pub struct CodeSummary {
    pub room: Arc<Room>,
    pub on: bool,
}

/// An agent, gone or not, or a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audited {
    Agent { id: AgentId, display_name: String },
    Person(OwnedUserId),
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Counts up; never given twice.
    pub number: i64,
    pub at_ms: i64,
    pub deed: &'static str,
    /// `agent`, `person`, `operator`, `idle` or `bridge`.
    pub by: String,
    /// Which agent or person that was.
    pub doer: Option<Audited>,
    /// Whom it befell.
    pub whom: Option<Audited>,
    pub room: Option<(CatalogId, OwnedRoomId)>,
}
