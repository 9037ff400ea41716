//! What a state event changes.

use parlour_domain::{ids::CatalogId, names::in_one_line, visibility::Visibility};
use ruma::{OwnedRoomId, OwnedUserId};
use serde_json::value::RawValue;

use super::{
    CATALOG_KEY, Head, Power,
    incoming::{Event, Incoming},
    policy,
};
use crate::json::{Fields, string, user_id};

/// A piece of a room's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEvent {
    pub head: Head,
    pub change: StateChange,
}

/// The kinds of state that matter to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateChange {
    Member(Member),
    HistoryVisibility(Visibility),
    /// Without the creators of version 12; see [`Power::under`].
    PowerLevels(Power),
    /// `None`: the room lost its name.
    Name(Option<String>),
    Create(Create),
    /// Empty `algorithm`: broken or redacted, but a room never stops being encrypted.
    Encryption {
        algorithm: String,
    },
    /// Such as `public`, `knock`, `invite`; `invite` where it is broken, the strictest that people know.
    JoinRule(String),
    CanonicalAlias,
    /// The room is closed; people went on in `replacement`.
    Tombstone {
        replacement: Option<OwnedRoomId>,
    },
    /// A rule of a ban list, set, changed or taken back; see [`ban_rule`](super::ban_rule).
    BanRule,
    Other,
}

/// Somebody's place in the room. Where `user` is not the sender, somebody else put them there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: OwnedUserId,
    pub membership: Membership,
    pub display_name: Option<String>,
    /// `mxc://`
    pub avatar_url: Option<String>,
    /// An invitation into a chat of two.
    pub is_direct: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    Join,
    Invite,
    Leave,
    Ban,
    Knock,
}

impl Membership {
    /// As the event has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Invite => "invite",
            Self::Leave => "leave",
            Self::Ban => "ban",
            Self::Knock => "knock",
        }
    }
}

/// How a room began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    pub room_version: String,
    /// The sender first; in version 12 also `additional_creators`.
    pub creators: Vec<OwnedUserId>,
    pub predecessor: Option<OwnedRoomId>,
    /// `m.space` for spaces.
    pub room_type: Option<String>,
    /// See [`CATALOG_KEY`](super::CATALOG_KEY).
    pub catalog_id: Option<CatalogId>,
}

impl Create {
    /// Whether the creators stand above all power levels (MSC4289: version 12 and later).
    #[must_use]
    pub fn has_mighty_creators(&self) -> bool {
        self.room_version == "org.matrix.hydra.11"
            || self.room_version.parse().is_ok_and(|version: u32| version >= 12)
    }
}

pub(super) fn read(event: Event<'_>) -> Incoming {
    match change(&event) {
        Ok(change) => Incoming::State(StateEvent { head: event.head, change }),
        Err(why) => Incoming::Poison { event_id: Some(event.head.event_id), why },
    }
}

fn change(event: &Event<'_>) -> Result<StateChange, &'static str> {
    let content = &event.content;
    let state_key = event.fields.str("state_key").ok_or("its state key is no text")?;
    if event.event_type == "m.room.member" {
        return member(&state_key, content).map(StateChange::Member);
    }
    if policy::kind(&event.event_type).is_some() {
        return Ok(StateChange::BanRule);
    }
    if !state_key.is_empty() {
        // Only the empty key means the room itself; anybody's client may set others.
        return Ok(StateChange::Other);
    }
    Ok(match event.event_type.as_str() {
        "m.room.history_visibility" => StateChange::HistoryVisibility(Visibility::parse(
            &content.str("history_visibility").unwrap_or_default(),
        )),
        "m.room.power_levels" => StateChange::PowerLevels(Power::read(content)),
        "m.room.name" => StateChange::Name(name(content, "name")),
        "m.room.create" => StateChange::Create(create(event)),
        "m.room.encryption" => {
            StateChange::Encryption { algorithm: content.str("algorithm").unwrap_or_default() }
        }
        "m.room.join_rules" => {
            StateChange::JoinRule(content.str("join_rule").unwrap_or_else(|| "invite".to_owned()))
        }
        "m.room.canonical_alias" => StateChange::CanonicalAlias,
        "m.room.tombstone" => StateChange::Tombstone { replacement: content.room_id("replacement_room") },
        _ => StateChange::Other,
    })
}

/// What the history visibility was before an event changed it, as homeservers tell beside the event
/// (`unsigned.prev_content`). The strictest where they do not: who may read the past must not be guessed.
#[must_use]
pub fn visibility_before(event: &RawValue) -> Visibility {
    let unsigned = Fields::of(event).and_then(|fields| fields.object("unsigned"));
    let before = unsigned.and_then(|unsigned| unsigned.object("prev_content"));
    let before = before.and_then(|content| content.str("history_visibility"));
    before.map_or(Visibility::Joined, |text| Visibility::parse(&text))
}

fn member(state_key: &str, content: &Fields<'_>) -> Result<Member, &'static str> {
    let user = user_id(state_key).ok_or("a member whose state key is no user id")?;
    let membership = match content.str("membership").as_deref() {
        Some("join") => Membership::Join,
        Some("invite") => Membership::Invite,
        Some("leave") => Membership::Leave,
        Some("ban") => Membership::Ban,
        Some("knock") => Membership::Knock,
        _ => return Err("a membership that is none"),
    };
    let filled = |key| content.text(key).filter(|text| !text.trim().is_empty());
    Ok(Member {
        user,
        membership,
        display_name: name(content, "displayname"),
        avatar_url: filled("avatar_url"),
        is_direct: content.is_true("is_direct"),
    })
}

/// What somebody is called, or a room; `None` where there is nothing to see.
fn name(content: &Fields<'_>, key: &str) -> Option<String> {
    content.text(key).map(|name| in_one_line(&name)).filter(|name| !name.trim().is_empty())
}

fn create(event: &Event<'_>) -> Create {
    let content = &event.content;
    let predecessor = content.object("predecessor").and_then(|p| p.room_id("room_id"));
    let mut create = Create {
        room_version: content.str("room_version").unwrap_or_else(|| "1".to_owned()),
        creators: vec![event.head.sender.clone()],
        predecessor,
        room_type: content.str("type"),
        catalog_id: content.str(CATALOG_KEY).as_deref().and_then(CatalogId::parse),
    };
    if create.has_mighty_creators() {
        let more = content.list("additional_creators").unwrap_or_default();
        create.creators.extend(more.into_iter().filter_map(|id| user_id(&string(id)?)));
    }
    create
}
