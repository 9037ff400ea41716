use parlour_domain::ids::AgentKey;

/// Refused so often in a row, the homeserver means all and not one.
const MEANS_ALL: u32 = 3;
/// Who was refused is tried again after so long: its operator may have changed that.
const AGAIN_MS: i64 = 60 * 60_000;
/// Before the bot, who comes before all agents.
const START: AgentKey = AgentKey(-1);

/// How far one thing that everybody is given has come. Whom the homeserver refuses it is passed over, for a while.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Round {
    after: AgentKey,
    in_a_row: u32,
    again_at_ms: Option<i64>,
}

impl Default for Round {
    fn default() -> Self {
        Self { after: START, in_a_row: 0, again_at_ms: None }
    }
}

impl Round {
    /// After whom to look for the next one; `None`: not now.
    pub(super) fn after(&mut self, now_ms: i64) -> Option<AgentKey> {
        if self.again_at_ms.is_some_and(|at| at <= now_ms) {
            *self = Self::default();
        }
        (self.in_a_row < MEANS_ALL).then_some(self.after)
    }

    pub(super) fn done(&mut self) {
        self.in_a_row = 0;
    }

    /// Whether that makes it a refusal of all.
    pub(super) fn refused(&mut self, who: AgentKey, now_ms: i64) -> bool {
        self.after = who;
        self.in_a_row += 1;
        self.again_at_ms.get_or_insert(now_ms + AGAIN_MS);
        self.in_a_row == MEANS_ALL
    }

    pub(super) fn again_at(&self) -> Option<i64> {
        self.again_at_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_is_refused_is_passed_over_and_tried_again_later() {
        let mut round = Round::default();
        assert_eq!((round.after(0), round.again_at()), (Some(START), None));
        assert!(!round.refused(AgentKey(7), 1_000));
        assert_eq!(round.after(1_000), Some(AgentKey(7)));
        round.done();
        assert!(!round.refused(AgentKey(9), 2_000) && !round.refused(AgentKey(11), 3_000));
        assert_eq!(round.again_at(), Some(1_000 + AGAIN_MS), "the first of them counts");
        assert_eq!(round.after(AGAIN_MS), Some(AgentKey(11)));
        assert_eq!(round.after(1_000 + AGAIN_MS), Some(START));
        assert_eq!(round, Round::default());
    }

    #[test]
    fn a_homeserver_that_refuses_is_left_alone() {
        let mut round = Round::default();
        let means_all = [1, 2, 3].map(|n| round.refused(AgentKey(n), n * 1_000));
        assert_eq!(means_all, [false, false, true]);
        assert_eq!(round.after(AGAIN_MS), None);
        assert_eq!(round.after(AGAIN_MS + 1_000), Some(START));
    }
}
