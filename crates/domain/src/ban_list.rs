//! Whom and what ban lists name (Matrix spec, "Moderation policy lists").

use std::collections::{BTreeSet, HashSet};

use ruma::{RoomId, ServerName, UserId};
use wildmatch::WildMatch;

/// What a rule is about (`m.policy.rule.user`, `.server`, `.room`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    User,
    Server,
    Room,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::User, Self::Server, Self::Room];

    /// As it is stored, and as the event's type ends.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Server => "server",
            Self::Room => "room",
        }
    }
}

/// A rule that is in force: whoever fits `entity` is banned. `*` in it stands for any text, `?` for any character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    pub kind: Kind,
    pub entity: String,
}

/// A rule that fits somebody of this name fits anybody.
const NOBODYS_NAME: &str = "~nobody~s~name~";

/// The rules of all lists, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    users: Entities,
    servers: Entities,
    rooms: Entities,
}

impl Rules {
    /// Rules that fit everybody at `home`, or every room made there, are left out: a mistake in a list must not put out all
    /// of them. So are those that name rooms by an alias.
    #[must_use]
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a Rule>, home: &ServerName) -> Self {
        let mut all = Self::default();
        let unique: BTreeSet<&Rule> = rules.into_iter().collect();
        let (anybody, anywhere) = (format!("@{NOBODYS_NAME}:{home}"), format!("!{NOBODYS_NAME}:{home}"));
        for rule in unique {
            let entity = rule.entity.as_str();
            match rule.kind {
                Kind::User if Entities::of(entity).has(&anybody) => {}
                Kind::User => all.users.put(entity),
                Kind::Server if Entities::of(&entity.to_lowercase()).has_server(home) => {}
                Kind::Server => all.servers.put(&entity.to_lowercase()),
                Kind::Room if Entities::of(entity).has(&anywhere) => {}
                // where aliases lead is not known
                Kind::Room if entity.starts_with('#') => {}
                Kind::Room => all.rooms.put(&rule.entity),
            }
        }
        all
    }

    /// How many are in force.
    #[must_use]
    pub fn count(&self) -> usize {
        [&self.users, &self.servers, &self.rooms].map(Entities::count).iter().sum()
    }

    #[must_use]
    pub fn ban_user(&self, user: &UserId) -> bool {
        self.users.has(user.as_str()) || self.servers.has_server(user.server_name())
    }

    #[must_use]
    pub fn ban_room(&self, room: &RoomId) -> bool {
        self.rooms.has(room.as_str())
    }
}

/// Most rules name one entity: those are found at once, however many there are.
#[derive(Clone, Debug, Default)]
struct Entities {
    names: HashSet<String>,
    patterns: Vec<WildMatch>,
}

impl Entities {
    fn of(entity: &str) -> Self {
        let mut one = Self::default();
        one.put(entity);
        one
    }

    fn put(&mut self, entity: &str) {
        if entity.contains(['*', '?']) {
            self.patterns.push(WildMatch::new(entity));
        } else {
            self.names.insert(entity.to_owned());
        }
    }

    fn count(&self) -> usize {
        self.names.len() + self.patterns.len()
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.patterns.iter().any(|pattern| pattern.matches(name))
    }

    /// With its port or without; names of hosts have no case.
    fn has_server(&self, server: &ServerName) -> bool {
        self.has(&server.as_str().to_lowercase()) || self.has(&server.host().to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use ruma::{room_id, server_name, user_id};

    use super::*;

    fn rules(of: &[(Kind, &str)]) -> Rules {
        let rules: Vec<_> =
            of.iter().map(|(kind, e)| Rule { kind: *kind, entity: (*e).to_owned() }).collect();
        Rules::new(&rules, server_name!("home.org"))
    }

    #[rstest]
    #[case(Kind::User, "@mallory:evil.org", true)]
    #[case(Kind::User, "@mal*:evil.org", true)]
    #[case(Kind::User, "@mallor?:*", true)]
    #[case(Kind::User, "@ada:evil.org", false)]
    #[case(Kind::User, "@mallory", false)]
    #[case(Kind::User, "mallory:evil.org", false)]
    #[case(Kind::User, "", false)]
    #[case(Kind::Server, "evil.org", true)]
    #[case(Kind::Server, "*il.org", true)]
    #[case(Kind::Server, "EVIL.org", true)]
    #[case(Kind::Server, "evil.org:8448", false)]
    #[case(Kind::Server, "good.org", false)]
    #[case(Kind::Server, "@mallory:evil.org", false)]
    #[case(Kind::Room, "@mallory:evil.org", false)]
    fn people(#[case] kind: Kind, #[case] entity: &str, #[case] banned: bool) {
        assert_eq!(rules(&[(kind, entity)]).ban_user(user_id!("@mallory:evil.org")), banned);
    }

    #[rstest]
    #[case("evil.org")]
    #[case("evil.org:8448")]
    #[case("evil*")]
    fn a_servers_port_may_be_left_out(#[case] entity: &str) {
        assert!(rules(&[(Kind::Server, entity)]).ban_user(user_id!("@mallory:evil.org:8448")));
    }

    #[test]
    fn rooms() {
        let some = rules(&[(Kind::Room, "!bad:*"), (Kind::Room, "!worse"), (Kind::User, "!good:x")]);
        let asked = [room_id!("!bad:x"), room_id!("!worse"), room_id!("!good:x")];
        assert_eq!(asked.map(|room| some.ban_room(room)), [true, true, false]);
    }

    /// What cannot fit is not kept to be asked.
    #[rstest]
    #[case("#bad:x")]
    #[case("#*:x")]
    fn rooms_are_known_by_their_ids_only(#[case] entity: &str) {
        let some = rules(&[(Kind::Room, entity)]);
        assert_eq!(some.count(), 0);
    }

    #[rstest]
    #[case("*")]
    #[case("!*")]
    #[case("!*:home.org")]
    fn no_rule_fits_every_room_of_home(#[case] entity: &str) {
        let some = rules(&[(Kind::Room, entity), (Kind::Room, "!*:evil.org")]);
        let asked = [room_id!("!a:home.org"), room_id!("!a:evil.org")];
        assert_eq!(asked.map(|room| some.ban_room(room)), [false, true]);
    }

    #[rstest]
    #[case(Kind::Server, "home.org")]
    #[case(Kind::Server, "*")]
    #[case(Kind::Server, "*.ORG")]
    #[case(Kind::User, "*")]
    #[case(Kind::User, "@*:home.org")]
    #[case(Kind::User, "@*:*")]
    fn nobody_is_put_out_of_home_by_a_rule_that_fits_all(#[case] kind: Kind, #[case] entity: &str) {
        let all = rules(&[(kind, entity), (Kind::Server, "evil.org")]);
        assert!(!all.ban_user(user_id!("@ada:home.org")) && all.ban_user(user_id!("@mallory:evil.org")));
        assert!(rules(&[(Kind::User, "@ada:home.org")]).ban_user(user_id!("@ada:home.org")));
    }

    proptest! {
        #[test]
        fn a_name_without_wildcards_fits_itself_only(a in "[@!a-z:.]{0,12}", b in "[@!a-z:.]{0,12}") {
            prop_assert_eq!(Entities::of(&a).has(&b), a == b);
        }

        #[test]
        fn any_pattern_is_taken(entity in any::<String>(), name in any::<String>()) {
            let _ = Entities::of(&entity).has(&name);
            prop_assert!(Entities::of("*").has(&name));
        }
    }
}
