//! Online while the agent waits and a little longer, idle for some minutes, then gone.

use std::collections::BTreeMap;

use crate::{ids::AgentKey, quota::MINUTE_MS};

/// Online for so long after a wait.
const LINGERS_MS: i64 = MINUTE_MS;
/// Idle for so long after that.
const IDLES_MS: i64 = 5 * MINUTE_MS;
/// Synapse takes somebody for gone 30 seconds after it heard of them (`sync_online_timeout`, 1.163). All are refreshed at the
/// same moments, whatever moment they came at: a call that comes with others costs Synapse 1.1 ms, one that comes alone 2.4
/// (2026-12-01).
const REFRESHED_MS: i64 = 25_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Online,
    /// Idle.
    Unavailable,
    Offline,
}

impl Presence {
    /// As Matrix calls it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Unavailable => "unavailable",
            Self::Offline => "offline",
        }
    }

    /// What is shown beside it.
    #[must_use]
    pub fn status(self) -> &'static str {
        match self {
            Self::Online => "Listening",
            Self::Unavailable => "Away for a moment; reads later",
            Self::Offline => "",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Of {
    /// Waits that run.
    waits: u32,
    /// When the last one ended.
    rested_ms: i64,
    told: Option<(Presence, i64)>,
}

impl Of {
    fn wanted(&self, now_ms: i64) -> Presence {
        if self.waits > 0 || now_ms < self.rested_ms + LINGERS_MS {
            Presence::Online
        } else if now_ms < self.rested_ms + LINGERS_MS + IDLES_MS {
            Presence::Unavailable
        } else {
            Presence::Offline
        }
    }

    fn due_at(&self, now_ms: i64) -> i64 {
        let Some((told, at)) = self.told.filter(|(told, _)| *told == self.wanted(now_ms)) else {
            return now_ms;
        };
        let refresh = (at.div_euclid(REFRESHED_MS) + 1) * REFRESHED_MS;
        match told {
            Presence::Online if self.waits > 0 => refresh,
            Presence::Online => refresh.min(self.rested_ms + LINGERS_MS),
            Presence::Unavailable | Presence::Offline => refresh.min(self.rested_ms + LINGERS_MS + IDLES_MS),
        }
    }
}

/// Whose presence is shown, and what the homeserver was told of it.
#[derive(Debug, Default)]
pub struct PresenceBoard(BTreeMap<AgentKey, Of>);

impl PresenceBoard {
    /// A wait begins.
    pub fn waits(&mut self, agent: AgentKey) {
        self.0.entry(agent).or_default().waits += 1;
    }

    /// A wait ends. Those of an agent that ended have ended with it.
    pub fn rests(&mut self, agent: AgentKey, now_ms: i64) {
        if let Some(of) = self.0.get_mut(&agent).filter(|of| of.waits > 0) {
            (of.waits, of.rested_ms) = (of.waits - 1, now_ms);
        }
    }

    /// The agent ends.
    pub fn gone(&mut self, agent: AgentKey) {
        match self.0.get_mut(&agent) {
            Some(of) if of.told.is_some() => (of.waits, of.rested_ms) = (0, i64::MIN / 2),
            _ => _ = self.0.remove(&agent),
        }
    }

    /// When something is to be told next.
    #[must_use]
    pub fn next(&self, now_ms: i64) -> Option<i64> {
        self.0.values().map(|of| of.due_at(now_ms)).min()
    }

    /// What the homeserver is to be told now, of so many at most, those first that are due longest. It counts as told, unless
    /// it is taken back.
    pub fn tell(&mut self, now_ms: i64, most: usize) -> Vec<(AgentKey, Presence)> {
        let due = self.0.iter().map(|(agent, of)| (of.due_at(now_ms), *agent, of.wanted(now_ms)));
        let mut due: Vec<_> = due.filter(|(at, ..)| *at <= now_ms).collect();
        due.sort_unstable_by_key(|(at, agent, _)| (*at, *agent));
        let due: Vec<_> = due.into_iter().take(most).map(|(_, agent, wanted)| (agent, wanted)).collect();
        for (agent, wanted) in &due {
            match self.0.get_mut(agent) {
                Some(of) if *wanted != Presence::Offline => of.told = Some((*wanted, now_ms)),
                _ => _ = self.0.remove(agent),
            }
        }
        due
    }

    /// The homeserver was not there to be told. Of somebody who is gone it needs no telling: it comes to that by itself.
    pub fn untold(&mut self, agent: AgentKey) {
        if let Some(of) = self.0.get_mut(&agent) {
            of.told = None;
        }
    }

    /// All who are shown, when nothing is to be shown any more.
    pub fn clear(&mut self) -> Vec<AgentKey> {
        let told = std::mem::take(&mut self.0).into_iter().filter(|(_, of)| of.told.is_some());
        told.map(|(agent, _)| agent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AgentKey = AgentKey(1);
    const B: AgentKey = AgentKey(2);

    /// All that is told until `until_s`, as seconds, whose and what.
    fn told(board: &mut PresenceBoard, from_s: i64, until_s: i64) -> Vec<(i64, AgentKey, Presence)> {
        let (mut now, mut all) = (from_s * 1_000, vec![]);
        while let Some(at) = board.next(now).filter(|at| *at <= until_s * 1_000) {
            now = at;
            let told = board.tell(now, usize::MAX);
            assert!(!told.is_empty(), "what is due can be told");
            all.extend(told.into_iter().map(|(agent, presence)| (now / 1_000, agent, presence)));
        }
        all
    }

    #[test]
    fn from_online_to_gone() {
        use Presence::{Offline, Online, Unavailable};
        let mut board = PresenceBoard::default();
        board.waits(A);
        assert_eq!(told(&mut board, 0, 30), [(0, A, Online), (25, A, Online)]);
        board.rests(A, 30_000);
        let after = told(&mut board, 30, 1_000);
        assert_eq!(after[..3], [(50, A, Online), (75, A, Online), (90, A, Unavailable)]);
        assert!(after[3..].windows(2).all(|pair| pair[1].0 - pair[0].0 <= 25), "{after:?}");
        assert!(after[2..after.len() - 1].iter().all(|(.., told)| *told == Unavailable), "{after:?}");
        assert_eq!(after.last(), Some(&(390, A, Offline)));
        assert_eq!(board.next(1_000_000), None, "and nothing more");
    }

    #[test]
    fn one_wait_after_the_other_is_one_presence() {
        let mut board = PresenceBoard::default();
        let mut calls = 0;
        for second in 0..100 {
            board.waits(A);
            board.rests(A, second * 1_000);
            calls += told(&mut board, second, second).len();
        }
        assert_eq!(calls, 4, "each 25 seconds");
    }

    #[test]
    fn a_wait_that_was_superseded_ends_nothing() {
        let mut board = PresenceBoard::default();
        board.waits(A);
        board.waits(A);
        board.rests(A, 0);
        let after = told(&mut board, 0, 200);
        assert!(after.len() == 9 && after.iter().all(|(.., told)| *told == Presence::Online), "{after:?}");
    }

    #[test]
    fn those_who_came_one_by_one_are_refreshed_together_and_in_time() {
        let mut board = PresenceBoard::default();
        board.waits(A);
        assert_eq!(told(&mut board, 10, 17), [(10, A, Presence::Online)]);
        board.waits(B);
        let online = |at, agent| (at, agent, Presence::Online);
        let after = [online(17, B), online(25, A), online(25, B), online(50, A), online(50, B)];
        assert_eq!(told(&mut board, 17, 60), after);
    }

    #[test]
    fn of_more_than_can_be_told_at_once_the_rest_stays_due() {
        let mut board = PresenceBoard::default();
        (0..7).for_each(|n| board.waits(AgentKey(n)));
        let told: Vec<_> = [3, 3, 3].map(|most| board.tell(0, most)).concat();
        assert_eq!(told, (0..7).map(|n| (AgentKey(n), Presence::Online)).collect::<Vec<_>>());
        assert_eq!(board.next(1), Some(REFRESHED_MS));
        board.untold(AgentKey(3));
        assert_eq!(board.tell(2, 9), [(AgentKey(3), Presence::Online)], "what was not told is due again");
    }

    #[test]
    fn who_ends_is_gone_at_once() {
        let mut board = PresenceBoard::default();
        board.waits(A);
        board.tell(0, 1);
        board.waits(B);
        board.gone(A);
        board.rests(A, 500);
        board.gone(B);
        assert_eq!(told(&mut board, 1, 2), [(1, A, Presence::Offline)], "nobody ever saw the other");
        board.waits(A);
        board.tell(3_000, 1);
        board.waits(B);
        assert_eq!(board.clear(), [A], "who was seen");
    }
}
