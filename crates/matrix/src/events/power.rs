//! Who may do what in a room (Matrix spec, `m.room.power_levels`).

use std::collections::{BTreeMap, BTreeSet};

use ruma::{OwnedUserId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Create;
use crate::json::{Fields, int, string, user_id};

/// The power levels of a room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// Those above all levels: the creators since room version 12. Not part of the event; see [`Power::under`].
    #[serde(default)]
    pub creators: BTreeSet<OwnedUserId>,
    pub users: BTreeMap<OwnedUserId, i64>,
    pub users_default: i64,
    /// By event type.
    pub events: BTreeMap<String, i64>,
    pub events_default: i64,
    pub state_default: i64,
    pub redact: i64,
    pub invite: i64,
    pub kick: i64,
    pub ban: i64,
}

impl Power {
    /// What an event says; what it leaves out is the specification's default.
    pub(super) fn read(content: &Fields<'_>) -> Self {
        let level = |key, default| content.get(key).and_then(level).unwrap_or(default);
        Self {
            creators: BTreeSet::new(),
            users: levels(content, "users").filter_map(|(user, l)| Some((user_id(&user)?, l))).collect(),
            users_default: level("users_default", 0),
            events: levels(content, "events").collect(),
            events_default: level("events_default", 0),
            state_default: level("state_default", 50),
            redact: level("redact", 50),
            invite: level("invite", 0),
            kick: level("kick", 50),
            ban: level("ban", 50),
        }
    }

    /// What is in force in a room without the event: its creators can do everything, and everybody may send.
    #[must_use]
    pub fn absent(create: &Create) -> Self {
        let mut power = Self::read(&Fields::default());
        power.state_default = 0;
        power.users = create.creators.iter().map(|user| (user.clone(), 100)).collect();
        power.under(create)
    }

    /// The same levels in a room that was made like this: since version 12 its creators stand above them.
    #[must_use]
    pub fn under(mut self, create: &Create) -> Self {
        self.creators = if create.has_mighty_creators() {
            create.creators.iter().cloned().collect()
        } else {
            BTreeSet::new()
        };
        self
    }

    /// A user's level; `i64::MAX` for creators of version 12.
    #[must_use]
    pub fn level_of(&self, user: &UserId) -> i64 {
        if self.creators.contains(user) {
            return i64::MAX;
        }
        self.users.get(user).copied().unwrap_or(self.users_default)
    }

    /// Whether `user` may set state of this type.
    #[must_use]
    pub fn may_set(&self, user: &UserId, event_type: &str) -> bool {
        self.level_of(user) >= self.events.get(event_type).copied().unwrap_or(self.state_default)
    }

    /// Whether `user` may invite.
    #[must_use]
    pub fn may_invite(&self, user: &UserId) -> bool {
        self.level_of(user) >= self.invite
    }
}

fn levels(content: &Fields<'_>, key: &str) -> impl Iterator<Item = (String, i64)> {
    let fields = content.object(key).unwrap_or_default();
    let all: Vec<_> = fields.iter().filter_map(|(name, raw)| Some((name.to_owned(), level(raw)?))).collect();
    all.into_iter()
}

/// Rooms before version 10 have levels as strings too, blanks around them included.
fn level(raw: &RawValue) -> Option<i64> {
    int(raw).or_else(|| string(raw)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use ruma::{owned_user_id, user_id};
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    fn power(content: &Value) -> Power {
        let raw = to_raw_value(content).unwrap();
        Power::read(&Fields::of(&raw).unwrap())
    }

    fn create(room_version: &str) -> Create {
        Create {
            room_version: room_version.into(),
            creators: vec![owned_user_id!("@maker:x")],
            predecessor: None,
            room_type: None,
            catalog_id: None,
        }
    }

    #[rstest]
    #[case(json!({}), 0)]
    #[case(json!({"users_default": 10}), 10)]
    #[case(json!({"users": {"@ada:x": 50}}), 50)]
    #[case(json!({"users": {"@ada:x": " 50 "}}), 50)]
    #[case(json!({"users": {"@ada:x": 50.0}}), 50)]
    #[case(json!({"users": {"@ada:x": -1}}), -1)]
    #[case(json!({"users": {"@ada:x": null, "nobody": 9}, "users_default": "7"}), 7)]
    #[case(json!({"users": []}), 0)]
    #[case(json!({"users": {"@ada:x": 1e30}}), i64::MAX)]
    fn levels_of_ada(#[case] content: Value, #[case] level: i64) {
        assert_eq!(power(&content).level_of(user_id!("@ada:x")), level);
    }

    #[test]
    fn defaults_are_the_specifications() {
        let got = power(&json!({}));
        let expected = (0, 50, 50, 0, 50, 50);
        assert_eq!(
            (got.events_default, got.state_default, got.redact, got.invite, got.kick, got.ban),
            expected
        );
    }

    #[test]
    fn creators_stand_above_all_levels_since_version_12() {
        let maker = user_id!("@maker:x");
        let levels = power(&json!({"users": {"@ada:x": 100}}));
        assert_eq!(levels.clone().under(&create("12")).level_of(maker), i64::MAX);
        assert_eq!(levels.clone().under(&create("org.matrix.hydra.11")).level_of(maker), i64::MAX);
        assert_eq!(levels.under(&create("11")).level_of(maker), 0);
        assert_eq!(Power::absent(&create("10")).level_of(maker), 100);
        assert!(Power::absent(&create("10")).may_set(user_id!("@ada:x"), "m.room.topic"));
    }

    #[test]
    fn who_may_what() {
        let levels =
            power(&json!({"users": {"@mod:x": 50}, "events": {"m.room.message": 25, "m.room.name": 60}}));
        let mod_ = user_id!("@mod:x");
        assert!(levels.may_set(mod_, "m.room.topic") && !levels.may_set(mod_, "m.room.name"));
    }
}
