use std::collections::HashMap;

use parlour_store::Member;
use ruma::{OwnedUserId, UserId};

/// Who is in a room, and under which name.
#[derive(Debug, Default)]
pub(crate) struct Members {
    by_user: HashMap<OwnedUserId, Member>,
    joined: usize,
    changes: u64,
}

impl Members {
    #[must_use]
    pub(crate) fn new(members: Vec<Member>) -> Self {
        let mut all = Self::default();
        members.into_iter().for_each(|m| all.put(m));
        all
    }

    pub(crate) fn put(&mut self, member: Member) {
        self.changes += 1;
        let joins = member.membership == "join";
        let before = self.by_user.insert(member.user_id.clone(), member);
        let was_in = before.is_some_and(|m| m.membership == "join");
        self.joined = self.joined + usize::from(joins) - usize::from(was_in);
    }

    /// Invited by us, before the event of it has come.
    pub(crate) fn invited(&mut self, user: &UserId) {
        let known = self.get(user);
        let member = Member {
            user_id: user.to_owned(),
            membership: "invite".to_owned(),
            display_name: known.and_then(|m| m.display_name.clone()),
            avatar_url: known.and_then(|m| m.avatar_url.clone()),
        };
        self.put(member);
    }

    /// Counts up with each event; so whoever reads the room elsewhere knows whether that is old by now.
    #[must_use]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    #[must_use]
    pub(crate) fn get(&self, user: &UserId) -> Option<&Member> {
        self.by_user.get(user)
    }

    #[must_use]
    pub(crate) fn is_joined(&self, user: &UserId) -> bool {
        self.get(user).is_some_and(|m| m.membership == "join")
    }

    /// Those in the room of whom something is true.
    #[must_use]
    pub(crate) fn joined(&self, is: impl Fn(&UserId) -> bool) -> Vec<OwnedUserId> {
        let there = self.by_user.values().filter(|m| m.membership == "join" && is(&m.user_id));
        there.map(|m| m.user_id.clone()).collect()
    }

    #[must_use]
    pub(crate) fn any_joined(&self, is: impl Fn(&UserId) -> bool) -> bool {
        self.by_user.values().any(|m| m.membership == "join" && is(&m.user_id))
    }

    #[must_use]
    pub(crate) fn count_joined(&self, is: impl Fn(&UserId) -> bool) -> usize {
        self.by_user.values().filter(|m| m.membership == "join" && is(&m.user_id)).count()
    }

    /// Those whose membership is of a kind.
    #[must_use]
    pub(crate) fn with_membership(
        &self,
        is: impl Fn(&str) -> bool,
    ) -> std::collections::HashSet<OwnedUserId> {
        let those = self.by_user.values().filter(|m| is(&m.membership));
        those.map(|m| m.user_id.clone()).collect()
    }

    /// How many are in the room, `but` not counted.
    #[must_use]
    pub(crate) fn joined_without(&self, but: &UserId) -> usize {
        self.joined - usize::from(self.is_joined(but))
    }
}
