//! What agents have read, as they acknowledge it.

use std::collections::{BTreeMap, BTreeSet};

use ruma::OwnedEventId;

use crate::ids::{AgentKey, Pos, RoomKey};

/// One agent moves a receipt so often at most.
const EVERY_MS: i64 = 10_000;

/// How soon somebody would like to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Haste {
    /// What was read was meant for the agent.
    Soon,
    /// One of many who listen.
    Some,
}

#[derive(Debug)]
struct Unshown {
    haste: Haste,
    pos: Pos,
    event_id: OwnedEventId,
}

#[derive(Debug, Default)]
struct Of {
    /// When the last one was shown.
    shown_ms: Option<i64>,
    shown: BTreeMap<RoomKey, Pos>,
    /// Not shown yet; the newest of each room.
    unshown: BTreeMap<RoomKey, Unshown>,
}

impl Of {
    fn haste(&self) -> Option<Haste> {
        self.unshown.values().map(|unshown| unshown.haste).min()
    }
}

type Turns = BTreeSet<(i64, AgentKey)>;

/// Who has read what, and what of it the homeserver was told.
#[derive(Debug, Default)]
pub struct ReceiptBoard {
    of: BTreeMap<AgentKey, Of>,
    /// In the order in which they may be shown, so that none waits for ever: when, and whose.
    soon: Turns,
    some: Turns,
}

impl ReceiptBoard {
    /// An agent has read up to and with a message.
    pub fn read(
        &mut self,
        agent: AgentKey,
        room: RoomKey,
        (pos, event_id): (Pos, OwnedEventId),
        haste: Haste,
        now_ms: i64,
    ) {
        let of = self.of.entry(agent).or_default();
        let before = of.unshown.get(&room);
        if of.shown.get(&room).copied().max(before.map(|b| b.pos)).is_some_and(|known| pos <= known) {
            return;
        }
        let haste = before.map_or(haste, |b| b.haste.min(haste));
        of.unshown.insert(room, Unshown { haste, pos, event_id });
        self.line_up(agent, now_ms);
    }

    /// The agent ends.
    pub fn gone(&mut self, agent: AgentKey) {
        self.of.remove(&agent);
        self.step_out(agent);
    }

    /// Whose turn is next, and when.
    #[must_use]
    pub fn next(&self, haste: Haste) -> Option<(i64, AgentKey)> {
        self.turns(haste).first().copied()
    }

    /// What is to be shown for the agent now.
    pub fn take(&mut self, agent: AgentKey, now_ms: i64) -> Option<(RoomKey, OwnedEventId)> {
        self.step_out(agent);
        let of = self.of.get_mut(&agent)?;
        let (room, _) = of.unshown.iter().min_by_key(|(_, unshown)| unshown.haste)?;
        let room = *room;
        let Unshown { pos, event_id, .. } = of.unshown.remove(&room)?;
        of.shown.insert(room, pos);
        of.shown_ms = Some(now_ms);
        self.line_up(agent, now_ms);
        Some((room, event_id))
    }

    fn turns(&self, haste: Haste) -> &Turns {
        match haste {
            Haste::Soon => &self.soon,
            Haste::Some => &self.some,
        }
    }

    /// Who stands in the right line already keeps the place.
    fn line_up(&mut self, agent: AgentKey, now_ms: i64) {
        let Some(of) = self.of.get(&agent) else { return };
        let (shown_ms, Some(haste)) = (of.shown_ms, of.haste()) else { return };
        if self.turns(haste).iter().any(|(_, whose)| *whose == agent) {
            return;
        }
        self.step_out(agent);
        let turns = if haste == Haste::Soon { &mut self.soon } else { &mut self.some };
        turns.insert((shown_ms.map_or(now_ms, |at| now_ms.max(at + EVERY_MS)), agent));
    }

    fn step_out(&mut self, agent: AgentKey) {
        for turns in [&mut self.soon, &mut self.some] {
            turns.retain(|(_, whose)| *whose != agent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::samples::event;

    const A: AgentKey = AgentKey(1);
    const B: AgentKey = AgentKey(2);
    const ROOM: RoomKey = RoomKey(1);

    fn read(board: &mut ReceiptBoard, agent: AgentKey, n: i64, now_s: i64) {
        board.read(agent, ROOM, (Pos(n), event(n)), Haste::Soon, now_s * 1_000);
    }

    #[test]
    fn one_in_ten_seconds_and_the_last_is_not_lost() {
        let mut board = ReceiptBoard::default();
        read(&mut board, A, 1, 0);
        assert_eq!(board.next(Haste::Soon), Some((0, A)));
        assert_eq!(board.take(A, 0), Some((ROOM, event(1))));
        for n in 2..9 {
            read(&mut board, A, n, n);
        }
        read(&mut board, A, 3, 9);
        assert_eq!(board.next(Haste::Soon), Some((10_000, A)));
        assert_eq!(board.take(A, 10_000), Some((ROOM, event(8))));
        assert_eq!(board.next(Haste::Soon), None);
        read(&mut board, A, 8, 30);
        assert_eq!(board.next(Haste::Soon), None, "shown already");
    }

    #[test]
    fn rooms_and_agents_take_turns() {
        let mut board = ReceiptBoard::default();
        read(&mut board, A, 1, 0);
        board.read(A, RoomKey(2), (Pos(5), event(5)), Haste::Soon, 0);
        read(&mut board, B, 1, 1);
        assert_eq!(board.take(A, 0), Some((ROOM, event(1))));
        assert_eq!(board.next(Haste::Soon), Some((1_000, B)));
        assert_eq!(board.take(B, 1_000), Some((ROOM, event(1))));
        assert_eq!(board.next(Haste::Soon), Some((10_000, A)));
        assert_eq!(board.take(A, 10_000), Some((RoomKey(2), event(5))));
        read(&mut board, A, 2, 11);
        board.gone(A);
        assert_eq!(board.next(Haste::Soon), None);
    }
    /// One of many listeners is not in the way of an agent that was asked something, and may become one.
    #[test]
    fn what_was_meant_for_the_agent_comes_first() {
        let mut board = ReceiptBoard::default();
        board.read(A, ROOM, (Pos(1), event(1)), Haste::Some, 0);
        board.read(A, RoomKey(2), (Pos(5), event(5)), Haste::Some, 0);
        assert_eq!((board.next(Haste::Soon), board.next(Haste::Some)), (None, Some((0, A))));
        board.read(A, RoomKey(2), (Pos(6), event(6)), Haste::Soon, 1_000);
        board.read(A, RoomKey(2), (Pos(7), event(7)), Haste::Some, 2_000);
        assert_eq!((board.next(Haste::Soon), board.next(Haste::Some)), (Some((1_000, A)), None));
        assert_eq!(board.take(A, 2_000), Some((RoomKey(2), event(7))));
        assert_eq!((board.next(Haste::Soon), board.next(Haste::Some)), (None, Some((12_000, A))));
        assert_eq!(board.take(A, 12_000), Some((ROOM, event(1))));
        assert_eq!((board.next(Haste::Soon), board.next(Haste::Some)), (None, None));
    }
}
