//! What was done and by whom, for the operator. A row is added in the transaction of what it tells of: whatever does
//! such a thing has to say by whom. No names, no words and no codes, only who, what, whom and where.

use parlour_domain::ids::{AgentId, AgentKey, CatalogId, RoomKey};
use ruma::{OwnedRoomId, OwnedUserId, UserId};
use rusqlite::{OptionalExtension, Row};

use crate::{
    Reader, StoreError, Tx,
    value::{corrupt, optional_id, text},
};

/// People are named in it, so it is not kept for ever.
const KEPT_MS: i64 = 90 * 24 * 60 * 60_000;
/// About 20 MB: whoever makes rooms, codes and names in a loop must not fill the disk within those days.
const KEPT_ROWS: i64 = 200_000;
/// A code that is asked for again and again is one showing.
const SHOWN_ONCE_MS: i64 = 60 * 60_000;

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    Agent(AgentKey),
    /// Somebody by their Matrix id: a person, or an agent by its puppet.
    User(OwnedUserId),
    Operator,
    /// The rule that ends agents which have not called for long.
    Idle,
    /// The bridge by itself.
    Bridge,
}

/// Who does something, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    pub who: Who,
    pub at_ms: i64,
}

macro_rules! deeds {
    ($($(#[$doc:meta])* $deed:ident = $name:literal,)*) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Deed { $($(#[$doc])* $deed,)* }

        impl Deed {
            pub const ALL: &[Self] = &[$(Self::$deed,)*];

            /// As it is stored and shown.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$deed => $name,)* }
            }
        }
    };
}

deeds! {
    /// It was told its token.
    AgentCreated = "agent_created",
    /// Its token is void; it goes out of its rooms, and its own rooms are closed.
    AgentEnded = "agent_ended",
    RoomMade = "room_made",
    RoomClosed = "room_closed",
    RoomRenamed = "room_renamed",
    /// The bridge bot was let into a room of people.
    BotEntered = "bot_entered",
    /// It is out again: agents get in there no more.
    BotLeft = "bot_left",
    CodeMade = "code_made",
    CodeReplaced = "code_replaced",
    /// To whoever may see it; once an hour each at most.
    CodeShown = "code_shown",
    CodeSwitchedOff = "code_switched_off",
    EnteredByCode = "entered_by_code",
    EnteredByInvitation = "entered_by_invitation",
    KnockAdmitted = "knock_admitted",
    KnockDeclined = "knock_declined",
    MemberRemoved = "member_removed",
    MemberBanned = "member_banned",
    /// By the bridge, which banned them because of a ban list.
    BanLifted = "ban_lifted",
}

/// Whom and where.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whom<'a> {
    pub(crate) agent: Option<AgentKey>,
    pub(crate) user: Option<&'a UserId>,
    pub(crate) room: Option<RoomKey>,
}

impl Whom<'_> {
    pub(crate) fn agent(agent: AgentKey) -> Self {
        Self { agent: Some(agent), ..Self::default() }
    }

    pub(crate) fn room(room: RoomKey) -> Self {
        Self { room: Some(room), ..Self::default() }
    }

    pub(crate) fn agent_in(agent: AgentKey, room: RoomKey) -> Self {
        Self { agent: Some(agent), room: Some(room), user: None }
    }
}

/// An agent in the log, gone or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAgent {
    pub id: AgentId,
    pub display_name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRoom {
    pub catalog_id: CatalogId,
    pub room_id: OwnedRoomId,
}

/// One deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub id: i64,
    pub at_ms: i64,
    pub deed: Deed,
    /// `agent`, `person`, `operator`, `idle` or `bridge`.
    pub by: String,
    pub by_agent: Option<AuditAgent>,
    pub by_user: Option<OwnedUserId>,
    pub agent: Option<AuditAgent>,
    pub user: Option<OwnedUserId>,
    pub room: Option<AuditRoom>,
}

impl Tx<'_> {
    pub(crate) fn audit(&self, deed: Deed, by: &By, whom: Whom<'_>) -> Result<(), StoreError> {
        let (kind, agent, user) = self.resolved(&by.who)?;
        let add = "INSERT INTO audit (at_ms, deed, by_kind, by_agent, by_user, agent_key, user_id, room_key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.0.prepare_cached(add)?.execute((
            by.at_ms,
            deed.as_str(),
            kind,
            agent.map(|a| a.0),
            user.map(|u| u.as_str()),
            whom.agent.map(|a| a.0),
            whom.user.map(UserId::as_str),
            whom.room.map(|r| r.0),
        ))?;
        Ok(())
    }

    /// A puppet is its agent.
    fn resolved<'w>(
        &self,
        who: &'w Who,
    ) -> Result<(&'static str, Option<AgentKey>, Option<&'w UserId>), StoreError> {
        Ok(match who {
            Who::Agent(agent) => ("agent", Some(*agent), None),
            Who::User(user) => match self.agent_by_puppet(user)? {
                Some(agent) => ("agent", Some(agent), None),
                None => ("person", None, Some(user)),
            },
            Who::Operator => ("operator", None, None),
            Who::Idle => ("idle", None, None),
            Who::Bridge => ("bridge", None, None),
        })
    }

    fn agent_by_puppet(&self, puppet: &UserId) -> Result<Option<AgentKey>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT agent_key FROM agents WHERE user_id = ?1")?;
        Ok(query.query_row([puppet.as_str()], |row| row.get(0).map(AgentKey)).optional()?)
    }

    /// Somebody is shown a room's code.
    pub fn code_shown(&self, room: RoomKey, by: &By) -> Result<(), StoreError> {
        let (kind, agent, user) = self.resolved(&by.who)?;
        let query = "SELECT EXISTS (SELECT 1 FROM audit WHERE at_ms > ?1 AND deed = ?2 AND room_key = ?3
            AND by_kind = ?4 AND by_agent IS ?5 AND by_user IS ?6)";
        let row = (
            by.at_ms - SHOWN_ONCE_MS,
            Deed::CodeShown.as_str(),
            room.0,
            kind,
            agent.map(|a| a.0),
            user.map(|u| u.as_str()),
        );
        let lately: bool = self.0.prepare_cached(query)?.query_row(row, |row| row.get(0))?;
        if lately { Ok(()) } else { self.audit(Deed::CodeShown, by, Whom::room(room)) }
    }

    /// What is older than ninety days, and what is more than two hundred thousand rows. Returns how many went.
    pub fn forget_audit(&self, now_ms: i64) -> Result<usize, StoreError> {
        let forget = "DELETE FROM audit WHERE at_ms <= ?1
            OR audit_id <= (SELECT max(audit_id) FROM audit) - ?2";
        Ok(self.0.prepare_cached(forget)?.execute((now_ms - KEPT_MS, KEPT_ROWS))?)
    }
}

const ROWS: &str = "SELECT audit_id, at_ms, deed, by_kind, by_user, audit.user_id AS whom,
      doer.agent_id AS doer_id, doer.display_name AS doer_name,
      one.agent_id AS one_id, one.display_name AS one_name, room_id, catalog_id
    FROM audit LEFT JOIN agents doer ON doer.agent_key = by_agent
      LEFT JOIN agents one ON one.agent_key = audit.agent_key
      LEFT JOIN rooms ON rooms.room_key = audit.room_key
    WHERE at_ms >= ?1 ORDER BY audit_id DESC LIMIT ?2";

impl Reader<'_> {
    /// The newest since then, newest first.
    pub fn audit(&self, since_ms: i64, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        self.0.prepare_cached(ROWS)?.query_and_then((since_ms, limit), audit_row)?.collect()
    }
}

fn audit_row(row: &Row<'_>) -> Result<AuditRow, StoreError> {
    let deed = text(row, "deed")?;
    let deed = Deed::ALL.iter().find(|d| d.as_str() == deed);
    Ok(AuditRow {
        id: row.get("audit_id")?,
        at_ms: row.get("at_ms")?,
        deed: *deed.ok_or_else(|| corrupt("audit.deed"))?,
        by: row.get("by_kind")?,
        by_agent: audit_agent(row, "doer_id", "doer_name")?,
        by_user: optional_id(row, "by_user")?,
        agent: audit_agent(row, "one_id", "one_name")?,
        user: optional_id(row, "whom")?,
        room: audit_room(row)?,
    })
}

fn audit_agent(row: &Row<'_>, id: &str, name: &str) -> Result<Option<AuditAgent>, StoreError> {
    let Some(display_name) = row.get(name)? else { return Ok(None) };
    Ok(Some(AuditAgent { id: crate::value::agent_id(row, id)?, display_name }))
}

fn audit_room(row: &Row<'_>) -> Result<Option<AuditRoom>, StoreError> {
    let Some(room_id) = optional_id(row, "room_id")? else { return Ok(None) };
    Ok(Some(AuditRoom { catalog_id: crate::value::catalog_id(row, "catalog_id")?, room_id }))
}
