//! Which messages wake a waiting agent. Contract section 5, rules 2 and 3.

use std::collections::BTreeSet;

use ruma::{OwnedUserId, UserId};

use crate::{
    ids::{MessageId, MessageRef},
    message::Message,
    room::RoomKind,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Mentions of me, and what people say that is not addressed to others.
    #[default]
    Related,
    Mentions,
    All,
}

/// What an agent listens for. With any of `from`, `wait_for`, `reply_to` the rule is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    pub rule: Rule,
    pub from: BTreeSet<OwnedUserId>,
    pub wait_for: BTreeSet<OwnedUserId>,
    pub reply_to: Option<MessageRef>,
}

/// What the rules need to know of the room a message is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub kind: RoomKind,
    /// Nobody but two is in the room (the bridge bot apart), so all that the other says is meant for me.
    pub of_two: bool,
    /// A message of more hops wakes no agent; see [`crate::hops`].
    pub max_hops: u32,
}

impl Setting {
    /// Whether the message is too far down a chain of agents' answers to wake anybody.
    #[must_use]
    pub fn is_beyond(&self, message: &Message) -> bool {
        message.hops > self.max_hops
    }
}

impl Watch {
    /// Whether the message, by somebody else than `me`, wakes `me`. Those in `wait_for` wake together; see
    /// [`Watch::awaits`].
    #[must_use]
    pub fn wakes(&self, message: &Message, me: &UserId, setting: Setting) -> bool {
        if setting.is_beyond(message) {
            return false;
        }
        if self.is_explicit() {
            return self.from.contains(&message.sender) || self.answered_by(message);
        }
        match self.rule {
            Rule::All => true,
            Rule::Mentions => message.mentions(me, setting.kind),
            Rule::Related => message.mentions(me, setting.kind) || spoken_to_all(message, me, setting),
        }
    }

    /// Whether the message is by one of those who have to speak before the wait ends.
    #[must_use]
    pub fn awaits(&self, message: &Message, setting: Setting) -> bool {
        self.wait_for.contains(&message.sender) && !setting.is_beyond(message)
    }

    fn is_explicit(&self) -> bool {
        !self.from.is_empty() || !self.wait_for.is_empty() || self.reply_to.is_some()
    }

    fn answered_by(&self, message: &Message) -> bool {
        match &self.reply_to {
            None => false,
            Some(MessageRef::Event(id)) => message.body.reply_to.as_ref() == Some(id),
            Some(MessageRef::Message(id)) => target(message) == Some(*id),
        }
    }
}

fn target(message: &Message) -> Option<MessageId> {
    message.replied.as_ref().map(|r| r.message_id)
}

/// A reply to a message that nobody knows any more may be to me: it wakes.
fn spoken_to_all(message: &Message, me: &UserId, setting: Setting) -> bool {
    message.author.is_person() && (setting.of_two || !message.addressed_to_others(me))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use ruma::user_id;

    use super::*;
    use crate::message::samples::{ADA, BOB, event, message_id, said};

    const ME: &str = "@agent_me:x";
    const OTHER: &str = "@agent_other:x";
    const LOBBY: Setting = Setting { kind: RoomKind::Lobby, of_two: false, max_hops: 8 };

    fn unknown_reply() -> Message {
        let mut m = said(5, ADA);
        m.body.reply_to = Some(event(1));
        m
    }

    #[rstest]
    #[case::a_person_says_something(said(1, ADA), [true, false, true, true])]
    #[case::a_person_names_me(said(1, ADA).mentioning(&[ME]), [true, true, true, true])]
    #[case::a_person_names_another(said(1, ADA).mentioning(&[BOB]), [false, false, true, true])]
    #[case::a_person_names_both(said(1, ADA).mentioning(&[BOB, ME]), [true, true, true, true])]
    #[case::a_person_answers_me(said(2, ADA).replying(1, ME), [true, true, true, true])]
    #[case::a_person_answers_another(said(2, ADA).replying(1, BOB), [false, false, true, true])]
    #[case::a_person_answers_themselves(said(2, ADA).replying(1, ADA), [false, false, true, true])]
    #[case::a_person_answers_something_forgotten(unknown_reply(), [true, false, true, true])]
    #[case::a_person_answers_another_and_names_me(said(2, ADA).replying(1, BOB).mentioning(&[ME]), [true, true, true, true])]
    #[case::an_agent_says_something(said(1, OTHER), [false, false, true, false])]
    #[case::an_agent_names_me(said(1, OTHER).mentioning(&[ME]), [true, true, true, true])]
    #[case::an_agent_answers_me(said(2, OTHER).replying(1, ME), [true, true, true, true])]
    fn related_mentions_all_and_related_in_a_room_of_two(#[case] message: Message, #[case] wakes: [bool; 4]) {
        let lobby = LOBBY;
        let two = Setting { kind: RoomKind::Private, of_two: true, ..LOBBY };
        let rules =
            [(Rule::Related, lobby), (Rule::Mentions, lobby), (Rule::All, lobby), (Rule::Related, two)];
        let got = rules.map(|(rule, setting)| {
            Watch { rule, ..Watch::default() }.wakes(&message, user_id!("@agent_me:x"), setting)
        });
        assert_eq!(got, wakes);
    }

    #[test]
    fn everyone_wakes_in_private_rooms_only_and_not_in_lobbies() {
        let mut m = said(1, OTHER);
        m.body.mentions_everyone = true;
        let watch = Watch { rule: Rule::Mentions, ..Watch::default() };
        let setting = |kind| Setting { kind, ..LOBBY };
        assert!(watch.wakes(&m, user_id!("@agent_me:x"), setting(RoomKind::Private)));
        assert!(!watch.wakes(&m, user_id!("@agent_me:x"), setting(RoomKind::Lobby)));
    }

    #[test]
    fn explicit_terms_put_the_rule_aside() {
        let me = user_id!("@agent_me:x");
        let setting = LOBBY;
        let from = Watch { rule: Rule::All, from: [UserId::parse(BOB).unwrap()].into(), ..Watch::default() };
        assert!(from.wakes(&said(1, BOB), me, setting));
        assert!(!from.wakes(&said(1, ADA).mentioning(&[ME]), me, setting));

        for reply_to in [MessageRef::Event(event(1)), MessageRef::Message(message_id(1))] {
            let replies = Watch { reply_to: Some(reply_to), ..Watch::default() };
            assert!(replies.wakes(&said(2, OTHER).replying(1, ME), me, setting));
            assert!(!replies.wakes(&said(3, OTHER).replying(2, ME), me, setting));
        }

        let all = Watch { wait_for: [UserId::parse(BOB).unwrap()].into(), ..Watch::default() };
        assert!(!all.wakes(&said(1, BOB), me, setting), "those waited for wake together");
        assert!(all.awaits(&said(1, BOB), setting) && !all.awaits(&said(1, ADA), setting));
    }

    #[test]
    fn beyond_the_hops_nothing_wakes_whatever_is_waited_for() {
        let me = user_id!("@agent_me:x");
        let other: BTreeSet<OwnedUserId> = [UserId::parse(OTHER).unwrap()].into();
        let two = Setting { kind: RoomKind::Private, of_two: true, ..LOBBY };
        let watches = [
            Watch::default(),
            Watch { rule: Rule::Mentions, ..Watch::default() },
            Watch { rule: Rule::All, ..Watch::default() },
            Watch { from: other.clone(), ..Watch::default() },
            Watch { reply_to: Some(MessageRef::Event(event(1))), ..Watch::default() },
        ];
        for (watch, setting) in watches.iter().flat_map(|w| [(w, LOBBY), (w, two)]) {
            let mut message = said(2, OTHER).replying(1, ME).mentioning(&[ME]);
            message.hops = 8;
            assert!(watch.wakes(&message, me, setting), "{watch:?}");
            message.hops = 9;
            assert!(!watch.wakes(&message, me, setting), "{watch:?}");
        }
        let awaiting = Watch { wait_for: other, ..Watch::default() };
        let answer = |hops| Message { hops, ..said(2, OTHER) };
        assert!(awaiting.awaits(&answer(8), LOBBY) && !awaiting.awaits(&answer(9), LOBBY));
    }
}
