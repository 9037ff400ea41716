//! What is asked about, and how agents and rooms are shown.

use parlour_app::view::{AgentSummary, QuotaHolder, QuotaTaken, QuotaUse, RoomOf, RoomSummary, SourceTag};
use parlour_domain::fault::Fault;
use serde::Serialize;

use crate::{
    extract::{FromQuery, Pairs},
    openapi::{Kind, Parameter},
    wire::Room,
};

/// An agent by id, name with number, or Matrix id. In the query, since a path cannot hold every name.
#[derive(Debug)]
pub(super) struct Whom(pub(super) String);

impl FromQuery for Whom {
    const PARAMETERS: &'static [Parameter] = &[Parameter {
        name: "agent",
        kind: Kind::Text,
        what: "By id, name with number, or Matrix id",
        example: "Scout #2316",
    }];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        pairs.id("agent")?.map(Self).ok_or_else(|| Fault::invalid("agent", "say which agent"))
    }
}

/// A room by number, room id or slug.
#[derive(Debug)]
pub(super) struct Which(pub(super) String);

impl FromQuery for Which {
    const PARAMETERS: &'static [Parameter] =
        &[Parameter { name: "room", kind: Kind::Text, what: "By number, room id or slug", example: "lobby" }];

    fn read(pairs: &Pairs) -> Result<Self, Fault> {
        pairs.id("room")?.map(Self).ok_or_else(|| Fault::invalid("room", "say which room"))
    }
}

const MOST: u32 = 1_000;

/// How many at most are told.
pub(super) const fn limit(what: &'static str) -> Parameter {
    Parameter { name: "limit", kind: Kind::Number(1, MOST as u64), what, example: "100" }
}

pub(super) fn read_limit(pairs: &Pairs) -> Result<u32, Fault> {
    let Some(limit) = pairs.number("limit")? else { return Ok(MOST) };
    let in_range = u32::try_from(limit).ok().filter(|limit| (1..=MOST).contains(limit));
    in_range.ok_or_else(|| Fault::invalid("limit", format!("give a limit from 1 to {MOST}")))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent {
    agent_id: String,
    display_name: String,
    matrix_user_id: String,
    rooms: Vec<Room>,
    created_at_unix_ms: i64,
    last_call_at_unix_ms: i64,
    waiting: bool,
}

impl From<AgentSummary> for Agent {
    fn from(summary: AgentSummary) -> Self {
        let agent = summary.agent;
        Self {
            agent_id: agent.id.to_string(),
            display_name: agent.display_name,
            matrix_user_id: agent.user_id.to_string(),
            rooms: summary.rooms.iter().map(|room| room.as_ref().into()).collect(),
            created_at_unix_ms: agent.created_at_ms,
            last_call_at_unix_ms: summary.last_call_ms,
            waiting: summary.waiting,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Quota {
    /// The key under `[limits]`.
    limit: &'static str,
    used: u32,
    of: u32,
    back_at_unix_ms: Option<i64>,
}

impl From<QuotaUse> for Quota {
    fn from(quota: QuotaUse) -> Self {
        Self { limit: quota.key, used: quota.used, of: quota.limit, back_at_unix_ms: quota.back_at_ms }
    }
}

/// What somebody has taken of a quota.
#[derive(Debug, Serialize)]
pub(super) struct QuotaOf {
    whose: Holder,
    #[serde(flatten)]
    quota: Quota,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Holder {
    Agent {
        agent_id: String,
        display_name: String,
    },
    Lobby {
        #[serde(flatten)]
        room: Room,
        slug: Option<String>,
    },
    Source {
        tag: String,
    },
}

impl From<QuotaTaken> for QuotaOf {
    fn from(taken: QuotaTaken) -> Self {
        Self { whose: taken.holder.into(), quota: taken.quota.into() }
    }
}

impl From<QuotaHolder> for Holder {
    fn from(holder: QuotaHolder) -> Self {
        match holder {
            QuotaHolder::Agent(agent) => {
                Self::Agent { agent_id: agent.id.to_string(), display_name: agent.display_name }
            }
            QuotaHolder::Lobby { room, slug } => Self::Lobby { room: room.as_ref().into(), slug },
            QuotaHolder::Source(SourceTag(tag)) => {
                Self::Source { tag: format!("{:08x}", u32::from_be_bytes(tag)) }
            }
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoomShown {
    #[serde(flatten)]
    room: Room,
    kind: &'static str,
    slug: Option<String>,
    owner: Option<String>,
    agents: usize,
    people: usize,
    encrypted: bool,
    closed: bool,
}

impl From<RoomSummary> for RoomShown {
    fn from(summary: RoomSummary) -> Self {
        let (kind, slug, owner) = match summary.of {
            RoomOf::Lobby { slug } => ("lobby", slug, None),
            RoomOf::Agent { owner } => ("agent", None, owner),
            RoomOf::People => ("people", None, None),
            RoomOf::Chat => ("chat", None, None),
        };
        Self {
            room: summary.room.as_ref().into(),
            kind,
            slug,
            owner,
            agents: summary.agents,
            people: summary.people,
            encrypted: summary.encrypted,
            closed: summary.closed,
        }
    }
}
