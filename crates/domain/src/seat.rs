//! An agent's place in a room: what it may see there and how far it has acknowledged.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ruma::UserId;
use serde::{Deserialize, Serialize};

use crate::{
    ids::{Pos, RoomKey, Seq},
    limits::CONTEXT_MESSAGES,
    message::{Message, Told},
    visibility::{Membership, Period, may_see},
};

/// Instead of a row per agent and message: a cursor into the room's log and the stretches of membership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub room: RoomKey,
    pub periods: Vec<Period>,
    /// Of what was said while in, everything that arrived up to and with this is acknowledged.
    pub acked: Seq,
    /// Messages from before the entry that are in the inbox all the same, to read oneself in.
    pub context: Option<Context>,
    /// Whether a wait has covered the room since the agent entered it.
    pub opened: bool,
    /// Something was said before that the agent cannot decrypt, and no message of the room was acknowledged since the
    /// first wait.
    pub hides: bool,
    /// Messages and edits that the agent's own device has no key for.
    pub withheld: BTreeSet<Seq>,
    /// Encrypted messages and edits from before the entry whose key the agent's own device was given: history that was
    /// shared with it.
    pub shown: BTreeSet<Seq>,
    /// Messages whose key came late, with the arrival number that they have for this agent; until acknowledged.
    pub late: BTreeMap<Seq, Seq>,
}

/// Of what was said while out, the arrivals after `after`, up to and with `until`. Acknowledging moves `after`: the
/// seat's own cursor can be past them all, moved by an acknowledgement of other rooms before they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    pub after: Seq,
    pub until: Seq,
}

impl Seat {
    /// A seat just taken.
    #[must_use]
    pub fn new(room: RoomKey, joined: Period) -> Self {
        Self {
            room,
            periods: vec![joined],
            acked: Seq(0),
            context: None,
            opened: false,
            hides: false,
            withheld: BTreeSet::new(),
            shown: BTreeSet::new(),
            late: BTreeMap::new(),
        }
    }

    /// In the room now.
    #[must_use]
    pub fn present(&self) -> bool {
        self.periods.iter().any(|p| p.membership == Membership::Joined && p.until.is_none())
    }

    #[must_use]
    pub fn sees(&self, message: &Message) -> bool {
        self.may_read(message.told())
    }

    /// The message with the newest words that the agent may read; `None`: not even the message itself. An edit that was
    /// made while it was away, or whose key it has not, is as if it were not there.
    #[must_use]
    pub fn read(&self, message: &Arc<Message>) -> Option<Arc<Message>> {
        let newest = || message.edits.iter().rfind(|edit| self.may_read(edit.told));
        self.sees(message).then(|| newest().map_or_else(|| message.clone(), |e| Arc::new(message.worded(e))))
    }

    fn may_read(&self, told: Told) -> bool {
        !self.withheld.contains(&told.seq)
            && (!told.encrypted || self.was_in(told.pos) || self.shown.contains(&told.seq))
            && may_see(told.visibility, told.pos, &self.periods)
    }

    /// When the message came, as far as this agent is concerned.
    #[must_use]
    pub fn arrival(&self, message: &Message) -> Seq {
        self.late.get(&message.seq).copied().unwrap_or(message.seq)
    }

    /// By the place of the join in the room's order, not by clocks.
    #[must_use]
    pub fn before_join(&self, message: &Message) -> bool {
        !self.was_there(message)
    }

    /// Whether the message waits in the inbox of `me`: from somebody else, not acknowledged, said while there or
    /// given as context.
    #[must_use]
    pub fn holds(&self, message: &Message, me: &UserId) -> bool {
        let unread = if self.was_there(message) {
            message.seq > self.acked || self.late.contains_key(&message.seq)
        } else {
            self.context.is_some_and(|c| c.holds(message.seq))
        };
        unread && message.sender != me && self.sees(message)
    }

    /// Nothing that arrived up to and with this is in the inbox: where to begin reading the log.
    #[must_use]
    pub fn read_after(&self) -> Seq {
        let context = self.context.filter(|c| c.after < c.until);
        let read = context.map_or(self.acked, |c| self.acked.min(c.after));
        self.late.keys().next().map_or(read, |late| read.min(Seq(late.0 - 1)))
    }

    /// The first wait since the entry: of the newest messages that `me` may see, those from before it become
    /// context, but for what was acknowledged as context of an earlier entry. `log` is the room's by arrival: context
    /// is a stretch of arrivals, and a late one in between would be taken for part of it.
    pub fn open<'a>(&mut self, log: impl DoubleEndedIterator<Item = &'a Message>, me: &UserId) {
        self.opened = true;
        let newest = log.rev().filter(|m| m.sender != me && self.sees(m)).take(CONTEXT_MESSAGES);
        let before: Vec<Seq> = newest.filter(|m| self.before_join(m)).map(|m| m.seq).collect();
        let done = self.context.map_or(Seq(0), |c| c.after);
        if let (Some(oldest), Some(until)) = (before.iter().min(), before.iter().max()) {
            self.context = Some(Context { after: done.max(Seq(oldest.0 - 1)), until: *until });
        }
    }

    fn was_there(&self, message: &Message) -> bool {
        self.was_in(message.pos)
    }

    /// Joined at this place of the room's order.
    #[must_use]
    pub fn was_in(&self, pos: Pos) -> bool {
        self.periods.iter().any(|p| p.membership == Membership::Joined && p.holds(pos))
    }
}

impl Context {
    /// The same once everything up to and with `up_to` is acknowledged.
    #[must_use]
    pub fn acknowledged(self, up_to: Seq) -> Self {
        Self { after: self.after.max(up_to.min(self.until)), ..self }
    }

    fn holds(&self, seq: Seq) -> bool {
        self.after < seq && seq <= self.until
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use ruma::user_id;

    use super::*;
    use crate::{
        message::samples::{ADA, edit, said},
        visibility::Visibility,
    };

    fn joined(after: i64, until: Option<i64>) -> Period {
        Period { membership: Membership::Joined, after: Pos(after), until: until.map(Pos) }
    }

    #[test]
    fn the_first_wait_gives_twenty_earlier_messages_as_context() {
        let log: Vec<Message> = (1..=40).map(|n| said(n, ADA)).collect();
        let mut seat = Seat::new(RoomKey(1), joined(35, None));
        let me = user_id!("@agent_me:x");
        let held = |s: &Seat| log.iter().filter(|m| s.holds(m, me)).map(|m| m.seq.0).collect::<Vec<_>>();
        assert_eq!(held(&seat), (36..=40).collect::<Vec<_>>());
        seat.open(log.iter(), me);
        assert_eq!(held(&seat), (21..=40).collect::<Vec<_>>());
        assert!(seat.before_join(&log[34]) && !seat.before_join(&log[35]));
    }

    #[test]
    fn context_holds_only_what_the_puppet_may_see() {
        let mut log: Vec<Message> = (1..=4).map(|n| said(n, ADA)).collect();
        log[1].visibility = Visibility::Joined;
        let mut seat = Seat::new(RoomKey(1), joined(3, None));
        let me = user_id!("@agent_me:x");
        seat.open(log.iter(), me);
        let held: Vec<i64> = log.iter().filter(|m| seat.holds(m, me)).map(|m| m.seq.0).collect();
        assert_eq!(held, [1, 3, 4]);
    }

    #[test]
    fn what_was_said_while_out_is_not_in_the_inbox_but_what_was_unread_before_is() {
        let log: Vec<Message> = (1..=9).map(|n| said(n, ADA)).collect();
        let mut seat = Seat::new(RoomKey(1), joined(0, Some(3)));
        seat.periods.push(joined(6, None));
        seat.acked = Seq(1);
        let me = user_id!("@agent_me:x");
        let held: Vec<i64> = log.iter().filter(|m| seat.holds(m, me)).map(|m| m.seq.0).collect();
        assert_eq!(held, [2, 3, 7, 8, 9]);
        assert!(seat.present());
    }
    /// In from 1 to 10 and from 20 on, of message 5 and its edits at 6 and `at`.
    #[rstest]
    #[case::while_in(8, Visibility::Invited, true, "edit 8")]
    #[case::while_away(15, Visibility::Invited, false, "edit 6")]
    #[case::while_away_where_all_is_shared(15, Visibility::Shared, false, "edit 15")]
    #[case::while_away_and_encrypted(15, Visibility::Shared, true, "edit 6")]
    #[case::after_coming_back(25, Visibility::Joined, true, "edit 25")]
    fn an_edit_is_read_by_who_may_read_it(
        #[case] at: i64,
        #[case] visibility: Visibility,
        #[case] encrypted: bool,
        #[case] read: &str,
    ) {
        let mut message = Message { visibility, encrypted, ..said(5, ADA) };
        message.edits = vec![edit(6, &message), edit(at, &message)];
        let mut seat = Seat::new(RoomKey(1), joined(0, Some(10)));
        seat.periods.push(joined(20, None));
        let text = |seat: &Seat| seat.read(&Arc::new(message.clone())).map(|m| m.body.text.clone());
        assert_eq!(text(&seat).as_deref(), Some(read));
        seat.withheld.insert(Seq(at));
        assert_eq!(text(&seat).as_deref(), Some("edit 6"));
        seat.withheld.insert(Seq(6));
        assert_eq!(text(&seat).as_deref(), Some("message 5"));
        seat.withheld = [Seq(5)].into();
        assert_eq!(text(&seat), None, "an edit shows nothing of a message that is withheld");
    }

    #[rstest]
    #[case(Visibility::WorldReadable, true)]
    #[case(Visibility::Shared, true)]
    #[case(Visibility::Invited, false)]
    #[case(Visibility::Joined, false)]
    fn shared_history_is_read_as_far_as_the_room_shows_it(
        #[case] visibility: Visibility,
        #[case] read: bool,
    ) {
        let message = Message { visibility, encrypted: true, ..said(5, ADA) };
        let mut seat = Seat::new(RoomKey(1), joined(8, None));
        assert!(!seat.sees(&message), "without a key");
        seat.shown.insert(Seq(5));
        assert_eq!(seat.sees(&message), read);
    }
}
