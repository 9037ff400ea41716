//! What an agent is told of words that it cannot read. Contract section 5, rule 11.
//!
//! A gap has no state of its own: where it hangs follows from the log, so it is repeated until the message that it hangs
//! on is acknowledged, and is gone once the key has come after all.

use ruma::{OwnedEventId, UserId};

use crate::{
    ids::{Pos, Seq},
    message::Message,
    seat::Seat,
};

/// So long a key may take before it is told that something cannot be read.
const UNREADABLE_AFTER_MS: i64 = 5 * 60_000;

/// An encrypted event that nobody can read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    pub pos: Pos,
    pub received_at_ms: i64,
}

/// A stretch in which something is missing, and the message on which it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    pub after: Option<OwnedEventId>,
    pub before: Seq,
}

/// What was said while the agent was in the room and cannot be read by it after [`UNREADABLE_AFTER_MS`], each stretch told
/// on the next message that others said after that time. `log` is the room's by arrival.
#[must_use]
pub fn undecryptable<'a>(
    seat: &Seat,
    me: &UserId,
    log: impl Iterator<Item = &'a Message>,
    unread: impl Iterator<Item = Unread>,
) -> Vec<Hole> {
    let nobody = unread.filter(|u| seat.was_in(u.pos));
    if seat.withheld.is_empty() {
        let lost: Vec<Unread> = nobody.collect();
        return if lost.is_empty() { vec![] } else { holes(seat, me, log.collect(), lost) };
    }
    let log: Vec<&Message> = log.collect();
    let not_me = log.iter().filter(|m| seat.withheld.contains(&m.seq) && seat.was_in(m.pos));
    let not_me = not_me.map(|m| Unread { pos: m.pos, received_at_ms: m.received_at_ms });
    let lost = not_me.chain(nobody).collect();
    holes(seat, me, log, lost)
}

fn holes(seat: &Seat, me: &UserId, log: Vec<&Message>, mut lost: Vec<Unread>) -> Vec<Hole> {
    lost.sort_by_key(|u| u.pos);
    let seen: Vec<&Message> = log.into_iter().filter(|m| seat.sees(m)).collect();
    let theirs = |m: &&&Message| m.sender != me && !seat.before_join(m);
    let mut holes: Vec<Hole> = vec![];
    for one in lost {
        let due_ms = one.received_at_ms + UNREADABLE_AFTER_MS;
        let Some(next) = seen.iter().filter(theirs).find(|m| m.received_at_ms >= due_ms) else { continue };
        if holes.iter().any(|hole| hole.before == next.seq) {
            continue;
        }
        let last = seen.iter().filter(|m| m.pos < one.pos).max_by_key(|m| m.pos);
        holes.push(Hole { after: last.map(|m| m.event_id.clone()), before: next.seq });
    }
    holes
}

/// Whether something encrypted was said before the agent came in, or while it was away, that it cannot read. `gone`: the
/// place of the newest encrypted event that has left the log.
#[must_use]
pub fn hidden_before_join<'a>(
    seat: &Seat,
    mut log: impl Iterator<Item = &'a Message>,
    mut unread: impl Iterator<Item = Unread>,
    gone: Option<Pos>,
) -> bool {
    let Some(joined) = seat.periods.iter().rev().find(|p| p.until.is_none()).map(|p| p.after) else {
        return false;
    };
    let before = |pos: Pos| pos <= joined && !seat.was_in(pos);
    log.any(|m| m.encrypted && before(m.pos) && !seat.sees(m))
        || unread.any(|u| before(u.pos))
        || gone.is_some_and(before)
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::*;
    use crate::{
        ids::RoomKey,
        message::samples::{ADA, event, said},
        visibility::{Membership, Period},
    };

    const ME: &str = "@agent_me:x";

    fn joined(after: i64, until: Option<i64>) -> Period {
        Period { membership: Membership::Joined, after: Pos(after), until: until.map(Pos) }
    }

    /// Message `n`, encrypted, which came after `minutes`.
    fn sealed(n: i64, sender: &str, minutes: i64) -> Message {
        Message { encrypted: true, received_at_ms: minutes * 60_000, ..said(n, sender) }
    }

    fn holes(seat: &Seat, log: &[Message], unread: &[Unread]) -> Vec<(Option<OwnedEventId>, i64)> {
        let told = undecryptable(seat, user_id!("@agent_me:x"), log.iter(), unread.iter().copied());
        told.into_iter().map(|hole| (hole.after, hole.before.0)).collect()
    }

    #[test]
    fn a_withheld_message_is_told_on_the_next_one_after_five_minutes() {
        let log =
            [sealed(1, ADA, 0), sealed(2, ADA, 1), sealed(3, ADA, 5), sealed(4, ME, 6), sealed(5, ADA, 6)];
        let mut seat = Seat::new(RoomKey(1), joined(0, None));
        assert_eq!(holes(&seat, &log, &[]), []);
        seat.withheld.insert(Seq(2));
        assert_eq!(holes(&seat, &log[..4], &[]), [], "neither too early nor on one's own");
        assert_eq!(holes(&seat, &log, &[]), [(Some(event(1)), 5)]);
        seat.withheld.insert(Seq(1));
        assert_eq!(holes(&seat, &log, &[]), [(None, 3), (None, 5)]);
        seat.late.insert(Seq(2), Seq(9));
        seat.withheld = [Seq(3)].into();
        assert_eq!(holes(&seat, &log, &[]), [], "nothing came after it yet");
    }

    #[test]
    fn what_nobody_can_read_is_told_to_those_who_were_there() {
        let log = [sealed(1, ADA, 0), sealed(9, ADA, 7)];
        let unread =
            [Unread { pos: Pos(3), received_at_ms: 60_000 }, Unread { pos: Pos(4), received_at_ms: 70_000 }];
        let there = Seat::new(RoomKey(1), joined(0, None));
        assert_eq!(holes(&there, &log, &unread), [(Some(event(1)), 9)]);
        let late = Seat::new(RoomKey(1), joined(5, None));
        assert_eq!(holes(&late, &log, &unread), []);
    }

    #[test]
    fn words_from_before_the_join_are_hidden_unless_they_were_heard() {
        let log = [sealed(1, ADA, 0), said(2, ADA), sealed(3, ADA, 0), sealed(8, ADA, 0)];
        let hidden = |seat: &Seat, log: &[Message], unread: &[i64], gone| {
            let unread = unread.iter().map(|pos| Unread { pos: Pos(*pos), received_at_ms: 0 });
            hidden_before_join(seat, log.iter(), unread, gone)
        };
        let seat = Seat::new(RoomKey(1), joined(5, None));
        assert!(hidden(&seat, &log, &[], None));
        assert!(!hidden(&seat, &log[1..2], &[], None), "in clear");
        assert!(!hidden(&seat, &log[3..], &[7], None), "said since");
        assert!(hidden(&seat, &log[3..], &[4], None), "nobody could read it");
        assert!(hidden(&seat, &log[3..], &[], Some(Pos(1))), "has left the log");
        let mut back = Seat::new(RoomKey(1), joined(0, Some(5)));
        assert!(!hidden(&back, &log, &[], None), "not in now");
        back.periods.push(joined(5, None));
        assert!(!hidden(&back, &log, &[2], Some(Pos(3))), "it was there");
        back.periods[1].after = Pos(7);
        assert!(hidden(&back, &log, &[6], None), "said while it was away");
    }
}
