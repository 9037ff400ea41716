//! Online while the agent waits and a little longer, idle for some minutes, then gone.

use std::collections::BTreeMap;

use crate::{ids::AgentKey, quota::MINUTE_MS};

/// Online for so long after a wait.
const LINGERS_MS: i64 = MINUTE_MS;
/// Idle for so long after that.
const IDLES_MS: i64 = 5 * MINUTE_MS;
/// Synapse takes somebody for gone 30 seconds after it heard of them (`sync_online_timeout`, 1.163).
const REFRESHED_MS: i64 = 25_000;
/// So many are shown at most. Each refresh costs Synapse nearly 2 ms (2026-12-01): two hundred agents in a lobby with one
/// message a second made it work a third more, fifty a twelfth.
pub const MAX_SHOWN: usize = 50;

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

#[derive(Clone, Copy, Debug)]
struct Of {
    /// It waits.
    waits: bool,
    /// When the last one ended.
    rested_ms: i64,
    told: Option<(Presence, i64)>,
    /// When it last had to do with somebody.
    stirred_ms: i64,
}

impl Of {
    const NEW: Self = Self { waits: false, rested_ms: i64::MIN / 2, told: None, stirred_ms: i64::MIN };

    fn wanted(&self, now_ms: i64) -> Presence {
        if self.waits || now_ms < self.rested_ms + LINGERS_MS {
            Presence::Online
        } else if now_ms < self.rested_ms + LINGERS_MS + IDLES_MS {
            Presence::Unavailable
        } else {
            Presence::Offline
        }
    }

    fn due_at(&self, now_ms: i64) -> i64 {
        let Some((told, at)) = self.told else { return now_ms };
        if told != self.wanted(now_ms) {
            return now_ms;
        }
        let changes = [LINGERS_MS, LINGERS_MS + IDLES_MS].map(|ms| self.rested_ms + ms);
        let change = changes.into_iter().filter(|c| !self.waits && *c > now_ms).min();
        change.map_or(at + REFRESHED_MS, |c| c.min(at + REFRESHED_MS))
    }
}

/// Whose presence is shown, and what the homeserver was told of it.
#[derive(Debug, Default)]
pub struct PresenceBoard {
    shown: BTreeMap<AgentKey, Of>,
    /// Waits that run, of all: who is shown later may wait already.
    waits: BTreeMap<AgentKey, u32>,
}

impl PresenceBoard {
    /// A wait begins. `false`: as many are shown as may be.
    pub fn waits(&mut self, agent: AgentKey) -> bool {
        *self.waits.entry(agent).or_default() += 1;
        if self.is_full_without(agent) {
            return false;
        }
        self.shown.entry(agent).or_insert(Of::NEW).waits = true;
        true
    }

    /// It spoke, or was handed something meant for it: rather than one of whom that is longer ago it is shown. Of that one
    /// the homeserver hears no more, and takes it for gone.
    pub fn stirs(&mut self, agent: AgentKey, now_ms: i64) {
        if self.is_full_without(agent) {
            let longest = self.shown.iter().min_by_key(|(_, of)| of.stirred_ms).map(|(agent, _)| *agent);
            longest.and_then(|agent| self.shown.remove(&agent));
        }
        let waits = self.waits.contains_key(&agent);
        let of = self.shown.entry(agent).or_insert(Of { waits, rested_ms: now_ms, ..Of::NEW });
        of.stirred_ms = now_ms;
    }

    fn is_full_without(&self, agent: AgentKey) -> bool {
        self.shown.len() >= MAX_SHOWN && !self.shown.contains_key(&agent)
    }

    /// A wait ends.
    pub fn rests(&mut self, agent: AgentKey, now_ms: i64) {
        let left = self.waits.remove(&agent).map_or(0, |waits| waits.saturating_sub(1));
        if left > 0 {
            self.waits.insert(agent, left);
        }
        if let Some(of) = self.shown.get_mut(&agent) {
            (of.waits, of.rested_ms) = (left > 0, now_ms);
        }
    }

    /// The agent ends.
    pub fn gone(&mut self, agent: AgentKey) {
        self.waits.remove(&agent);
        match self.shown.get_mut(&agent) {
            Some(of) if of.told.is_some() => (of.waits, of.rested_ms) = (false, i64::MIN / 2),
            _ => _ = self.shown.remove(&agent),
        }
    }

    /// What is to be told next, and when.
    #[must_use]
    pub fn next(&self, now_ms: i64) -> Option<(i64, AgentKey)> {
        self.shown.iter().map(|(agent, of)| (of.due_at(now_ms), *agent)).min()
    }

    /// What the homeserver is to be told now. It counts as told, whatever becomes of it: the next refresh mends it.
    pub fn tell(&mut self, agent: AgentKey, now_ms: i64) -> Option<Presence> {
        let of = self.shown.get_mut(&agent)?;
        let wanted = of.wanted(now_ms);
        if wanted == Presence::Offline {
            self.shown.remove(&agent);
        } else {
            of.told = Some((wanted, now_ms));
        }
        Some(wanted)
    }

    /// All who are shown, when nothing is to be shown any more.
    pub fn clear(&mut self) -> Vec<AgentKey> {
        let told = std::mem::take(&mut self.shown).into_iter().filter(|(_, of)| of.told.is_some());
        told.map(|(agent, _)| agent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AgentKey = AgentKey(1);
    const B: AgentKey = AgentKey(2);

    /// All that is told until `until_ms`, as seconds and what.
    fn told(board: &mut PresenceBoard, from_s: i64, until_s: i64) -> Vec<(i64, Presence)> {
        let (mut now, mut told) = (from_s * 1_000, vec![]);
        while let Some((at, agent)) = board.next(now).filter(|(at, _)| *at <= until_s * 1_000) {
            now = at;
            told.push((now / 1_000, board.tell(agent, now).unwrap()));
        }
        told
    }

    #[test]
    fn from_online_to_gone() {
        use Presence::{Offline, Online, Unavailable};
        let mut board = PresenceBoard::default();
        assert!(board.waits(A));
        assert_eq!(told(&mut board, 0, 30), [(0, Online), (25, Online)]);
        board.rests(A, 30_000);
        let after = told(&mut board, 30, 1_000);
        assert_eq!(after[..4], [(50, Online), (75, Online), (90, Unavailable), (115, Unavailable)]);
        assert_eq!(after.last(), Some(&(390, Offline)));
        assert!(after[..after.len() - 1].iter().skip(2).all(|(_, p)| *p == Unavailable));
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
        assert!(after.len() == 9 && after.iter().all(|(_, p)| *p == Presence::Online), "{after:?}");
    }

    #[test]
    fn who_ends_is_gone_at_once_and_a_crowd_is_not_shown() {
        let mut board = PresenceBoard::default();
        board.waits(A);
        board.tell(A, 0);
        board.waits(B);
        board.gone(A);
        board.gone(B);
        assert_eq!(told(&mut board, 1, 2), [(1, Presence::Offline)], "nobody ever saw the other");
        assert!((0..MAX_SHOWN).all(|n| board.waits(AgentKey(n as i64))));
        assert!(!board.waits(AgentKey(999)) && board.waits(AgentKey(0)));
        board.tell(AgentKey(7), 0);
        assert_eq!(board.clear(), [AgentKey(7)]);
    }
    /// Of a crowd those are shown with whom people have to do.
    #[test]
    fn who_stirs_takes_the_place_of_who_has_been_still_longest() {
        let mut board = PresenceBoard::default();
        let all = || (0..MAX_SHOWN).map(|n| AgentKey(n as i64));
        all().for_each(|agent| assert!(board.waits(agent)));
        all().skip(1).for_each(|agent| board.stirs(agent, agent.0));
        let other = AgentKey(999);
        assert!(!board.waits(other));
        board.stirs(other, 1_000);
        assert!(board.waits(other) && board.waits(AgentKey(1)));
        assert!(!board.waits(AgentKey(0)), "it had been still");
        board.stirs(AgentKey(0), 2_000);
        assert!(!board.waits(AgentKey(1)), "and this one next");
        assert_eq!(board.tell(AgentKey(0), 3_000), Some(Presence::Online));
        assert_eq!(
            board.tell(AgentKey(0), 2_000 + LINGERS_MS),
            Some(Presence::Online),
            "it waits all the same"
        );
        for _ in 0..2 {
            board.rests(AgentKey(0), 2_000);
        }
        assert_eq!(board.tell(AgentKey(0), 2_000 + LINGERS_MS), Some(Presence::Unavailable));
    }
}
