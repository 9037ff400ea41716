//! Who may see which message: history visibility and periods of membership (Matrix spec, `m.room.history_visibility`).

use serde::{Deserialize, Serialize};

use crate::ids::Pos;

/// The room's history visibility that was in force at a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    WorldReadable,
    /// The spec's default where the state is missing or unknown.
    #[default]
    Shared,
    Invited,
    Joined,
}

impl Visibility {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "world_readable" => Self::WorldReadable,
            "invited" => Self::Invited,
            "joined" => Self::Joined,
            _ => Self::Shared,
        }
    }

    /// Whether somebody who is not in the room may read; `open`: anybody may join it, and with `shared` read then what
    /// was said before.
    #[must_use]
    pub fn lets_all_read(self, open: bool) -> bool {
        match self {
            Self::WorldReadable => true,
            Self::Shared => open,
            Self::Invited | Self::Joined => false,
        }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WorldReadable => "world_readable",
            Self::Shared => "shared",
            Self::Invited => "invited",
            Self::Joined => "joined",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    Invited,
    Joined,
}

/// A stretch of a room's order during which somebody was invited or joined: after `after`, up to and with `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    pub membership: Membership,
    pub after: Pos,
    pub until: Option<Pos>,
}

impl Period {
    #[must_use]
    pub fn holds(&self, pos: Pos) -> bool {
        self.after < pos && self.until.is_none_or(|until| pos <= until)
    }

    fn reaches(&self, pos: Pos) -> bool {
        self.until.is_none_or(|until| pos <= until)
    }
}

/// Whether somebody with these periods may see a message at `pos`.
#[must_use]
pub fn may_see(visibility: Visibility, pos: Pos, periods: &[Period]) -> bool {
    let joined = |p: &&Period| p.membership == Membership::Joined;
    match visibility {
        Visibility::WorldReadable => true,
        Visibility::Shared => periods.iter().filter(joined).any(|p| p.reaches(pos)),
        Visibility::Invited => periods.iter().any(|p| p.holds(pos)),
        Visibility::Joined => periods.iter().filter(joined).any(|p| p.holds(pos)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Invited after 10, joined after 20, left after 30, back after 40.
    fn periods() -> Vec<Period> {
        let p = |membership, after, until: Option<i64>| Period {
            membership,
            after: Pos(after),
            until: until.map(Pos),
        };
        vec![
            p(Membership::Invited, 10, Some(20)),
            p(Membership::Joined, 20, Some(30)),
            p(Membership::Joined, 40, None),
        ]
    }

    #[rstest]
    #[case("world_readable", [true, true, true, true, true])]
    #[case("shared", [true, true, true, true, true])]
    #[case("invited", [false, true, true, false, true])]
    #[case("joined", [false, false, true, false, true])]
    #[case("no such visibility", [true, true, true, true, true])]
    fn what_is_seen_at_5_15_25_35_45(#[case] visibility: &str, #[case] seen: [bool; 5]) {
        let v = Visibility::parse(visibility);
        assert_eq!([5, 15, 25, 35, 45].map(|p| may_see(v, Pos(p), &periods())), seen);
    }

    #[rstest]
    #[case("world_readable", [true, true])]
    #[case("shared", [false, true])]
    #[case("invited", [false, false])]
    #[case("joined", [false, false])]
    fn who_is_not_in_reads_what_is_for_all(#[case] visibility: &str, #[case] read: [bool; 2]) {
        let v = Visibility::parse(visibility);
        assert_eq!([false, true].map(|open| v.lets_all_read(open)), read);
    }

    #[test]
    fn who_left_for_good_sees_nothing_after() {
        let left = &periods()[..2];
        assert!(may_see(Visibility::Shared, Pos(30), left));
        assert!(!may_see(Visibility::Shared, Pos(31), left));
        assert!(!may_see(Visibility::Shared, Pos(1), &[]));
    }
}
