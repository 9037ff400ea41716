//! Who is about to answer: from the moment that something meant for an agent is handed over to it.

use std::collections::BTreeMap;

use crate::ids::{AgentKey, RoomKey};

/// So long a handed-over message lets its agent show as typing.
pub const TYPING_SHOWN_MS: i64 = 30_000;
/// What could not be shown in time is not shown any more.
const STALE_MS: i64 = 5_000;
/// In a room with so many agents each may be meant by what wakes it; in larger ones it has to be named.
const FEW_AGENTS: usize = 10;
/// So many type at once in a room, and in all rooms together.
const MAX_IN_ROOM: usize = 6;
const MAX_IN_ALL: usize = 30;

/// Whether a message that wakes an agent is for it rather than for whoever listens: people wait for a sign of this one.
#[must_use]
pub fn concerns(meant: bool, agents_in_room: usize) -> bool {
    meant || agents_in_room <= FEW_AGENTS
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not shown yet.
    Due,
    Shown,
    /// To be taken back.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Of {
    since_ms: i64,
    state: State,
}

/// Who types where, and what of it the homeserver was told.
#[derive(Debug, Default)]
pub struct TypistBoard(BTreeMap<(RoomKey, AgentKey), Of>);

impl TypistBoard {
    /// Something that it may answer was handed over. `false`: as many type already as may.
    pub fn begins(&mut self, room: RoomKey, agent: AgentKey, now_ms: i64) -> bool {
        self.expire(now_ms);
        let others = self.0.keys().filter(|key| **key != (room, agent));
        let here = others.clone().filter(|(r, _)| *r == room).count();
        if here >= MAX_IN_ROOM || others.count() >= MAX_IN_ALL {
            return false;
        }
        match self.0.get_mut(&(room, agent)) {
            // not again for each message: it types already
            Some(of) if of.state == State::Shown && now_ms < of.since_ms + TYPING_SHOWN_MS / 2 => {}
            _ => _ = self.0.insert((room, agent), Of { since_ms: now_ms, state: State::Due }),
        }
        true
    }

    /// It spoke or acknowledged, in `room` or in all.
    pub fn ends(&mut self, agent: AgentKey, room: Option<RoomKey>) {
        self.0.retain(|(r, a), of| {
            let ends = *a == agent && room.is_none_or(|room| room == *r);
            if ends && of.state == State::Shown {
                of.state = State::Over;
            }
            !ends || of.state == State::Over
        });
    }

    /// What is to be told now: where, who, and whether it begins.
    pub fn take(&mut self, now_ms: i64) -> Option<(RoomKey, AgentKey, bool)> {
        self.expire(now_ms);
        let (key, of) = self.0.iter_mut().find(|(_, of)| of.state != State::Shown)?;
        let (room, agent) = *key;
        let begins = of.state == State::Due;
        if begins {
            of.state = State::Shown;
        } else {
            self.0.remove(&(room, agent));
        }
        Some((room, agent, begins))
    }

    /// Whether there is something to be told.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.0.values().any(|of| of.state != State::Shown)
    }

    /// The homeserver ends by itself what it was told of.
    fn expire(&mut self, now_ms: i64) {
        let lasts = |of: &Of| if of.state == State::Due { STALE_MS } else { TYPING_SHOWN_MS };
        self.0.retain(|_, of| now_ms < of.since_ms + lasts(of));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const A: AgentKey = AgentKey(1);
    const ROOM: RoomKey = RoomKey(1);

    #[rstest]
    #[case(true, 200, true)]
    #[case(false, 200, false)]
    #[case(false, 11, false)]
    #[case(false, 10, true)]
    fn whom_it_concerns(#[case] meant: bool, #[case] agents: usize, #[case] expected: bool) {
        assert_eq!(concerns(meant, agents), expected);
    }

    #[test]
    fn from_the_handing_over_to_the_answer() {
        let mut board = TypistBoard::default();
        assert!(board.begins(ROOM, A, 0));
        assert_eq!(board.take(10), Some((ROOM, A, true)));
        assert!(board.begins(ROOM, A, 1_000) && !board.is_due(), "it types already");
        board.ends(A, Some(RoomKey(2)));
        assert!(!board.is_due());
        board.ends(A, Some(ROOM));
        assert_eq!(board.take(2_000), Some((ROOM, A, false)));
        assert_eq!(board.take(2_000), None);
    }

    #[test]
    fn what_was_never_shown_is_not_taken_back_and_what_is_over_ends_itself() {
        let mut board = TypistBoard::default();
        board.begins(ROOM, A, 0);
        board.ends(A, None);
        assert_eq!(board.take(0), None);
        board.begins(ROOM, A, 0);
        assert_eq!(board.take(STALE_MS), None, "too late to be true");
        board.begins(ROOM, A, 10_000);
        board.take(10_000);
        board.ends(A, None);
        assert_eq!(board.take(10_000 + TYPING_SHOWN_MS), None);
    }

    #[test]
    fn two_hundred_never_type_at_once() {
        let mut board = TypistBoard::default();
        let typing = (0..200).filter(|n| board.begins(ROOM, AgentKey(*n), 0)).count();
        assert_eq!(typing, MAX_IN_ROOM);
        let all = (0..200).filter(|n| board.begins(RoomKey(n / 2), AgentKey(*n), 0)).count();
        assert!(all > 0 && board.0.len() == MAX_IN_ALL);
        assert!(board.begins(ROOM, AgentKey(0), TYPING_SHOWN_MS), "later others may");
    }
}
