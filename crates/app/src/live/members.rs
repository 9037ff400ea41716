use std::collections::HashMap;

use parlour_store::Member;
use ruma::{OwnedUserId, UserId};

/// Who is in a room, and under which name.
#[derive(Debug, Default)]
pub(crate) struct Members {
    by_user: HashMap<OwnedUserId, Known>,
    joined: usize,
    changes: u64,
}

#[derive(Debug)]
struct Known {
    member: Member,
    /// Which of all changes it came with.
    change: u64,
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
        let known = Known { member, change: self.changes };
        let before = self.by_user.insert(known.member.user_id.clone(), known);
        let was_in = before.is_some_and(|known| known.member.membership == "join");
        self.joined = self.joined + usize::from(joins) - usize::from(was_in);
    }

    /// What was read elsewhere, when there had been `as_of` changes. `false`: something newer is known of this one.
    pub(crate) fn put_as_of(&mut self, as_of: u64, member: Member) -> bool {
        let old = self.changed_after(as_of, &member.user_id);
        if !old {
            self.put(member);
        }
        !old
    }

    #[must_use]
    pub(crate) fn changed_after(&self, as_of: u64, user: &UserId) -> bool {
        self.by_user.get(user).is_some_and(|known| known.change > as_of)
    }

    /// Invited by us when there had been `as_of` changes, before the event of it has come.
    pub(crate) fn invited(&mut self, user: &UserId, as_of: u64) {
        let known = self.get(user);
        let member = Member {
            user_id: user.to_owned(),
            membership: "invite".to_owned(),
            display_name: known.and_then(|m| m.display_name.clone()),
            avatar_url: known.and_then(|m| m.avatar_url.clone()),
        };
        self.put_as_of(as_of, member);
    }

    /// Counts up with each event, so that what was read or done elsewhere meanwhile does not take the place of what is
    /// newer.
    #[must_use]
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    #[must_use]
    pub(crate) fn get(&self, user: &UserId) -> Option<&Member> {
        self.by_user.get(user).map(|known| &known.member)
    }

    fn all(&self) -> impl Iterator<Item = &Member> {
        self.by_user.values().map(|known| &known.member)
    }

    #[must_use]
    pub(crate) fn is_joined(&self, user: &UserId) -> bool {
        self.get(user).is_some_and(|m| m.membership == "join")
    }

    /// Those in the room of whom something is true.
    #[must_use]
    pub(crate) fn joined(&self, is: impl Fn(&UserId) -> bool) -> Vec<OwnedUserId> {
        let there = self.all().filter(|m| m.membership == "join" && is(&m.user_id));
        there.map(|m| m.user_id.clone()).collect()
    }

    #[must_use]
    pub(crate) fn any_joined(&self, is: impl Fn(&UserId) -> bool) -> bool {
        self.all().any(|m| m.membership == "join" && is(&m.user_id))
    }

    #[must_use]
    pub(crate) fn count_joined(&self, is: impl Fn(&UserId) -> bool) -> usize {
        self.all().filter(|m| m.membership == "join" && is(&m.user_id)).count()
    }

    /// Those whose membership is of a kind.
    #[must_use]
    pub(crate) fn with_membership(
        &self,
        is: impl Fn(&str) -> bool,
    ) -> std::collections::HashSet<OwnedUserId> {
        let those = self.all().filter(|m| is(&m.membership));
        those.map(|m| m.user_id.clone()).collect()
    }

    /// How many are in the room, `but` not counted.
    #[must_use]
    pub(crate) fn joined_without(&self, but: &UserId) -> usize {
        self.joined - usize::from(self.is_joined(but))
    }
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::*;

    fn member(membership: &str) -> Member {
        Member {
            user_id: user_id!("@eve:x").to_owned(),
            membership: membership.to_owned(),
            display_name: None,
            avatar_url: None,
        }
    }

    fn is(members: &Members) -> &str {
        &members.get(user_id!("@eve:x")).unwrap().membership
    }

    /// Invited and refused by transaction, before the answer to the invitation: out, as before.
    #[test]
    fn what_came_meanwhile_is_newer_than_what_was_done_or_read() {
        let mut members = Members::new(vec![member("leave")]);
        let as_of = members.changes();
        members.put(member("invite"));
        members.put(member("leave"));
        members.invited(user_id!("@eve:x"), as_of);
        assert_eq!(is(&members), "leave");
        assert!(!members.put_as_of(as_of, member("join")));
        assert_eq!((is(&members), members.joined), ("leave", 0));
        let now = members.changes();
        members.invited(user_id!("@eve:x"), now);
        assert_eq!(is(&members), "invite");
    }
}
