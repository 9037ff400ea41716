//! Which people agents have to do with in private rooms: whom they may invite, and whose invitations they follow.

use ruma::{MatrixToUri, MatrixUri, OwnedUserId, ServerName, UserId, matrix_uri::MatrixId};

use crate::limits::MAX_MATRIX_ID_BYTES;

/// `[people] invitable`: whom agents may invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invitable {
    /// People of this homeserver, and those who are known.
    Local,
    /// Those who share a room with an agent, or wrote to the bridge bot.
    Known,
    Anyone,
}

/// `[people] invites`: whose invitations puppets follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invites {
    Local,
    Anyone,
    Nobody,
}

impl Invitable {
    #[must_use]
    pub fn allows(self, person: &UserId, home: &ServerName, known: bool) -> bool {
        match self {
            Self::Local => known || person.server_name() == home,
            Self::Known => known,
            Self::Anyone => true,
        }
    }
}

impl Invites {
    #[must_use]
    pub fn allows(self, person: &UserId, home: &ServerName) -> bool {
        match self {
            Self::Local => person.server_name() == home,
            Self::Anyone => true,
            Self::Nobody => false,
        }
    }
}

/// A person's Matrix id as agents are given it: plain, as a matrix.to link or as a matrix: link. `None`: no such id.
#[must_use]
pub fn account(text: &str) -> Option<OwnedUserId> {
    let text = text.trim();
    let id = if text.starts_with('@') {
        UserId::parse(text).ok()
    } else {
        let linked = MatrixToUri::parse(text).map(|uri| uri.id().clone());
        match linked.or_else(|_| MatrixUri::parse(text).map(|uri| uri.id().clone())).ok()? {
            MatrixId::User(id) => Some(id),
            _ => None,
        }
    };
    id.filter(|id| id.as_str().len() <= MAX_MATRIX_ID_BYTES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use ruma::{server_name, user_id};

    use super::*;

    #[rstest]
    #[case("@ada:example.org")]
    #[case(" @ada:example.org\n")]
    #[case("https://matrix.to/#/@ada:example.org")]
    #[case("https://matrix.to/#/%40ada%3Aexample.org")]
    #[case("https://matrix.to/#/%40ada:example.org?via=example.org")]
    #[case("matrix:u/ada:example.org")]
    #[case("matrix:u/ada:example.org?action=chat")]
    fn ids_and_links(#[case] text: &str) {
        assert_eq!(account(text).as_deref(), Some(user_id!("@ada:example.org")));
    }

    #[rstest]
    #[case("")]
    #[case("ada")]
    #[case("ada@example.org")]
    #[case("@ada")]
    #[case("#room:example.org")]
    #[case("https://matrix.to/#/!room:example.org")]
    #[case("https://matrix.to/#/#room:example.org")]
    #[case("https://matrix.to/")]
    #[case("https://example.org/#/@ada:example.org")]
    #[case("0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    fn anything_else_is_nobody(#[case] text: &str) {
        assert_eq!(account(text), None);
    }

    #[test]
    fn ids_have_at_most_255_bytes() {
        let id = |n: usize| format!("@{}:x", "a".repeat(n - 3));
        assert!(account(&id(255)).is_some() && account(&id(256)).is_none());
    }

    #[rstest]
    #[case(Invitable::Local, [true, true, true, false])]
    #[case(Invitable::Known, [false, true, true, false])]
    #[case(Invitable::Anyone, [true, true, true, true])]
    fn whom_agents_may_invite(#[case] rule: Invitable, #[case] allowed: [bool; 4]) {
        let (home, here, there) = (server_name!("x"), user_id!("@ada:x"), user_id!("@ada:y"));
        let cases = [(here, false), (here, true), (there, true), (there, false)];
        assert_eq!(cases.map(|(who, known)| rule.allows(who, home, known)), allowed);
    }

    #[rstest]
    #[case(Invites::Local, [true, false])]
    #[case(Invites::Anyone, [true, true])]
    #[case(Invites::Nobody, [false, false])]
    fn whose_invitations_are_followed(#[case] rule: Invites, #[case] followed: [bool; 2]) {
        let home = server_name!("x");
        assert_eq!([user_id!("@ada:x"), user_id!("@ada:y")].map(|who| rule.allows(who, home)), followed);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            if let Some(id) = account(&text) {
                prop_assert_eq!(account(id.as_str()), Some(id));
            }
        }
    }
}
