//! Loops between agents. Each message of an agent tells how often agents have answered each other up to it, without a
//! person in between; one that is beyond the operator's limit wakes no agent.

use crate::{ids::Pos, message::Message, quota::HOUR_MS};

/// What a count is cut to: no chain of ours gets there, and it fits wherever it is kept.
const MOST: u32 = 1_000_000;

/// So long after it was handed over, what woke an agent no longer counts as what it answers.
pub const ANSWERED_WITHIN_MS: i64 = HOUR_MS;

/// A count as it stands in an event of one of our puppets. Nobody else's is to be asked for.
#[must_use]
pub fn read(value: Option<i64>) -> u32 {
    value.and_then(|v| u32::try_from(v.max(0)).ok()).map_or(0, |v| v.min(MOST))
}

/// What a message that is answered brings to the answer's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub pos: Pos,
    /// Of the answer; `None`: by a person, which begins a new count.
    pub next: Option<u32>,
}

impl Link {
    /// To oneself one does not answer: going on is no further hop.
    #[must_use]
    pub fn to(message: &Message, own: bool) -> Self {
        let next = (!message.author.is_person()).then(|| (message.hops + u32::from(!own)).min(MOST));
        Self { pos: message.pos, next }
    }
}

/// The message that woke an agent last, and when it was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    pub by: Link,
    pub at_ms: i64,
}

/// The count of what an agent says now, where it replies to `replied` and was woken by `woken` in that room.
/// `person_at` is the place of the last word of a person there: what was said before it counts no more. The larger of
/// the two holds, or agents that go on replying to an old message would never be stopped.
#[must_use]
pub fn next(replied: Option<Link>, woken: Option<Woken>, person_at: Option<Pos>, now_ms: i64) -> u32 {
    let woken = woken.filter(|w| now_ms < w.at_ms + ANSWERED_WITHIN_MS).map(|w| w.by);
    let counts = |link: &Link| person_at.is_none_or(|at| at < link.pos);
    let links = [replied, woken].into_iter().flatten().filter(counts);
    links.filter_map(|link| link.next).max().unwrap_or(0)
}

/// Whether people are to be told of `message` that agents are not woken any more: it is the first such one since a
/// person spoke. `earlier` is what came before it in the room, newest first.
#[must_use]
pub fn is_first_beyond<'a>(
    message: &Message,
    mut earlier: impl Iterator<Item = &'a Message>,
    max: u32,
) -> bool {
    let mut since = earlier.by_ref().take_while(|m| !m.author.is_person());
    message.hops > max && since.all(|m| m.hops <= max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::message::samples::{ADA, BOB, said};

    const SCOUT: &str = "@agent_scout:x";

    fn at(n: i64, sender: &str, hops: u32) -> Message {
        Message { hops, ..said(n, sender) }
    }

    fn link(n: i64, sender: &str, hops: u32) -> Option<Link> {
        Some(Link::to(&at(n, sender, hops), false))
    }

    fn woken(n: i64, sender: &str, hops: u32) -> Option<Woken> {
        link(n, sender, hops).map(|by| Woken { by, at_ms: 0 })
    }

    #[rstest]
    #[case::nothing_answered(None, None, None, 0)]
    #[case::reply_to_an_agent(link(5, SCOUT, 3), None, None, 4)]
    #[case::reply_to_a_person(link(5, ADA, 0), None, Some(5), 0)]
    #[case::woken_by_an_agent(None, woken(5, SCOUT, 3), None, 4)]
    #[case::woken_by_a_person(None, woken(5, ADA, 0), Some(5), 0)]
    #[case::a_person_spoke_after_what_woke(None, woken(5, SCOUT, 8), Some(6), 0)]
    #[case::a_person_spoke_after_what_is_answered(link(5, SCOUT, 8), None, Some(6), 0)]
    #[case::a_person_spoke_before(None, woken(5, SCOUT, 3), Some(4), 4)]
    #[case::replying_to_the_old_question_hides_no_loop(link(4, ADA, 0), woken(9, SCOUT, 6), Some(4), 7)]
    #[case::replying_to_an_old_agent_hides_no_loop(link(5, SCOUT, 0), woken(9, SCOUT, 6), Some(4), 7)]
    #[case::a_reply_further_down_the_chain_counts(link(8, SCOUT, 6), woken(7, SCOUT, 2), Some(4), 7)]
    fn the_count_of_an_answer(
        #[case] replied: Option<Link>,
        #[case] woken: Option<Woken>,
        #[case] person_at: Option<i64>,
        #[case] expected: u32,
    ) {
        assert_eq!(next(replied, woken, person_at.map(Pos), 1_000), expected);
    }

    #[test]
    fn what_woke_long_ago_is_not_answered() {
        let woken = woken(5, SCOUT, 8);
        assert_eq!(next(None, woken, None, ANSWERED_WITHIN_MS - 1), 9);
        assert_eq!(next(None, woken, None, ANSWERED_WITHIN_MS), 0);
    }

    #[test]
    fn going_on_after_oneself_is_no_hop() {
        assert_eq!(Link::to(&at(5, SCOUT, 3), true).next, Some(3));
    }

    #[rstest]
    #[case(None, 0)]
    #[case(Some(7), 7)]
    #[case(Some(-1), 0)]
    #[case(Some(i64::MIN), 0)]
    #[case(Some(i64::MAX), 0)]
    #[case(Some(4_000_000_000), 1_000_000)]
    fn odd_counts(#[case] value: Option<i64>, #[case] expected: u32) {
        assert_eq!(read(value), expected);
    }

    #[rstest]
    #[case::within(at(9, SCOUT, 8), vec![], false)]
    #[case::first(at(9, SCOUT, 9), vec![at(8, SCOUT, 8), at(1, ADA, 0)], true)]
    #[case::second(at(10, SCOUT, 9), vec![at(9, SCOUT, 9), at(8, SCOUT, 8), at(1, ADA, 0)], false)]
    #[case::after_a_persons_word(at(11, SCOUT, 9), vec![at(10, BOB, 0), at(9, SCOUT, 9)], true)]
    #[case::another_branch_in_between(at(11, SCOUT, 9), vec![at(10, SCOUT, 0), at(9, SCOUT, 9)], false)]
    fn people_are_told_of_the_first(
        #[case] message: Message,
        #[case] earlier: Vec<Message>,
        #[case] told: bool,
    ) {
        assert_eq!(is_first_beyond(&message, earlier.iter(), 8), told);
    }

    proptest! {
        /// However agents choose what they reply to, a chain of answers grows until it is stopped.
        #[test]
        fn no_choice_of_replies_gets_around_the_limit(choices in proptest::collection::vec(0usize..200, 40)) {
            let mut log = vec![at(1, ADA, 0), at(2, SCOUT, 0)];
            for choice in choices {
                let n = log.len() as i64 + 1;
                let replied = Link::to(&log[choice % log.len()], false);
                let woke = Woken { by: Link::to(&log[log.len() - 1], false), at_ms: 0 };
                let hops = next(Some(replied), Some(woke), Some(Pos(1)), 1);
                prop_assert!(hops > log[log.len() - 1].hops);
                log.push(at(n, SCOUT, hops));
            }
        }
    }
}
