//! What is counted, and by whom. In the store that is one text, a kind and a key: made and understood here, nowhere else.

use parlour_domain::{
    ids::{AgentKey, RoomKey},
    limits::Limits,
    quota::Rule,
    source::SourceKey,
};
use parlour_store::Charge;

use crate::request::Source;

/// By whom something is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Agent(AgentKey),
    Lobby(RoomKey),
    Source(Source),
}

/// The same without saying which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Agent,
    Lobby,
    Source,
}

macro_rules! kinds {
    ($($kind:ident, of $of:ident = $name:literal, $limit:ident, $rule:expr;)*) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind,)* }

        impl Kind {
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)*];

            /// What its subjects begin with. They are on disk: under another name counting begins anew.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The key under `[limits]`.
            pub(crate) fn limit(self) -> &'static str {
                match self { $(Self::$kind => stringify!($limit),)* }
            }

            pub(crate) fn rule(self, limits: &Limits) -> Rule {
                let rule: fn(&Limits) -> Rule = match self { $(Self::$kind => $rule,)* };
                rule(limits)
            }

            fn of(self) -> Of {
                match self { $(Self::$kind => Of::$of,)* }
            }
        }
    };
}

kinds! {
    AgentMinute, of Agent = "agent-minute", lobby_messages_per_agent_minute, |l| l.agent_messages()[0];
    AgentDay, of Agent = "agent-day", lobby_messages_per_agent_day, |l| l.agent_messages()[1];
    RoomDay, of Agent = "room-day", new_rooms_per_agent_day, Limits::new_rooms;
    InviteDay, of Agent = "invite-day", invitations_per_agent_day, |l| l.invitations()[0];
    LobbyMinute, of Lobby = "lobby-minute", lobby_messages_per_lobby_minute, Limits::lobby_messages;
    EntryHour, of Source = "entry-hour", lobby_entries_per_source_hour, |l| l.lobby_entries()[0];
    EntryDay, of Source = "entry-day", lobby_entries_per_source_day, |l| l.lobby_entries()[1];
    GuessHour, of Source = "guess-hour", code_guesses_per_source_hour, Limits::code_guesses;
    KnockHour, of Source = "knock-hour", knocks_per_source_hour, Limits::knocks;
    InviteSourceDay, of Source = "invite-source-day", invitations_per_agent_day, |l| l.invitations()[1];
}

impl Kind {
    /// One use.
    pub(crate) fn charge(self, limits: &Limits, whose: impl Into<Whose>) -> Charge {
        let key = whose.into().key();
        Charge { subject: format!("{}:{key}", self.name()), rule: self.rule(limits) }
    }

    /// Whose a subject of this kind is.
    pub(crate) fn whose(self, subject: &str) -> Option<Whose> {
        let key = subject.strip_prefix(self.name())?.strip_prefix(':')?;
        match self.of() {
            Of::Agent => Some(Whose::Agent(AgentKey(key.parse().ok()?))),
            Of::Lobby => Some(Whose::Lobby(RoomKey(key.parse().ok()?))),
            Of::Source => Some(Whose::Source(source_of(key)?)),
        }
    }
}

impl Whose {
    /// All that is counted of somebody.
    pub(crate) fn kinds(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.iter().copied().filter(move |kind| kind.of() == self.of())
    }

    fn of(self) -> Of {
        match self {
            Self::Agent(_) => Of::Agent,
            Self::Lobby(_) => Of::Lobby,
            Self::Source(_) => Of::Source,
        }
    }

    fn key(self) -> String {
        match self {
            Self::Agent(agent) => agent.0.to_string(),
            Self::Lobby(room) => room.0.to_string(),
            Self::Source(source) => format!("{:032x}", u128::from_be_bytes(source.0.0)),
        }
    }
}

fn source_of(key: &str) -> Option<Source> {
    let is_digest = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest = u128::from_str_radix(key, 16).ok().filter(|_| is_digest)?;
    Some(Source(SourceKey(digest.to_be_bytes())))
}

impl From<AgentKey> for Whose {
    fn from(agent: AgentKey) -> Self {
        Self::Agent(agent)
    }
}

impl From<RoomKey> for Whose {
    fn from(room: RoomKey) -> Self {
        Self::Lobby(room)
    }
}

impl From<Source> for Whose {
    fn from(source: Source) -> Self {
        Self::Source(source)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::quotas::{
        entry_charges, guess_charges, invitation_charges, knock_charges, room_charges, speaking_charges,
    };

    const SCOUT: AgentKey = AgentKey(7);
    const LOBBY: RoomKey = RoomKey(3);
    const SOMEWHERE: Source = Source(SourceKey([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]));

    /// What all use cases together charge.
    fn charged() -> Vec<Charge> {
        let limits = Limits::default();
        [
            speaking_charges(&limits, SCOUT, LOBBY),
            room_charges(&limits, SCOUT),
            invitation_charges(&limits, SCOUT, SOMEWHERE),
            entry_charges(&limits, SOMEWHERE),
            guess_charges(&limits, SOMEWHERE),
            knock_charges(&limits, SOMEWHERE),
        ]
        .concat()
    }

    #[test]
    fn subjects_are_on_disk_and_stay_as_they_are() {
        let source = "000102030405060708090a0b0c0d0eff";
        let expected = [
            "agent-minute:7".to_owned(),
            "agent-day:7".to_owned(),
            "lobby-minute:3".to_owned(),
            "room-day:7".to_owned(),
            "invite-day:7".to_owned(),
            format!("invite-source-day:{source}"),
            format!("entry-hour:{source}"),
            format!("entry-day:{source}"),
            format!("guess-hour:{source}"),
            format!("knock-hour:{source}"),
        ];
        assert_eq!(charged().into_iter().map(|c| c.subject).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn whatever_is_charged_is_understood_again_by_its_own_kind_alone() {
        let (all, mut seen) = (charged(), Vec::new());
        for charge in &all {
            let read: Vec<_> =
                Kind::ALL.iter().filter_map(|kind| Some((*kind, kind.whose(&charge.subject)?))).collect();
            let [(kind, whose)] = read[..] else { panic!("{} is {read:?}", charge.subject) };
            assert_eq!(kind.charge(&Limits::default(), whose), *charge);
            assert!(whose.kinds().any(|k| k == kind), "{whose:?} {kind:?}");
            seen.push(kind);
        }
        assert!(
            Kind::ALL.iter().all(|kind| seen.contains(kind)),
            "a kind that nothing is charged under: {seen:?}"
        );
    }

    #[rstest]
    #[case::no_key("agent-day")]
    #[case::empty("agent-day:")]
    #[case::other_owner("agent-day:000102030405060708090a0b0c0d0eff")]
    #[case::short("entry-day:ff")]
    #[case::no_digest("entry-day:zz0102030405060708090a0b0c0d0eff")]
    #[case::signed("entry-day:+00102030405060708090a0b0c0d0eff")]
    #[case::unknown("agent-year:7")]
    fn anything_else_is_nobodys(#[case] subject: &str) {
        assert!(Kind::ALL.iter().all(|kind| kind.whose(subject).is_none()));
    }

    /// Each key under `[limits]` set to a number of its own comes back as its kind's limit.
    #[test]
    fn the_key_that_is_named_is_the_one_that_counts() {
        for kind in Kind::ALL {
            let limits: Limits = serde_json::from_value(json!({ kind.limit(): 12_345 })).unwrap();
            assert_eq!(kind.rule(&limits).limit, 12_345, "{kind:?}");
        }
    }
}
