//! What agents have read, as they acknowledge it.

use std::collections::{BTreeMap, BTreeSet};

use ruma::OwnedEventId;

use crate::ids::{AgentKey, Pos, RoomKey};

/// One agent moves a receipt so often at most.
const EVERY_MS: i64 = 10_000;

#[derive(Debug, Default)]
struct Of {
    /// When the last one was shown.
    shown_ms: Option<i64>,
    shown: BTreeMap<RoomKey, Pos>,
    /// Not shown yet; the newest of each room.
    unshown: BTreeMap<RoomKey, (Pos, OwnedEventId)>,
}

/// Who has read what, and what of it the homeserver was told.
#[derive(Debug, Default)]
pub struct ReceiptBoard {
    of: BTreeMap<AgentKey, Of>,
    /// In the order in which they may be shown, so that none waits for ever: when, and whose.
    turns: BTreeSet<(i64, AgentKey)>,
}

impl ReceiptBoard {
    /// An agent has read up to and with a message.
    pub fn read(&mut self, agent: AgentKey, room: RoomKey, pos: Pos, event_id: OwnedEventId, now_ms: i64) {
        let of = self.of.entry(agent).or_default();
        let known = of.shown.get(&room).copied().max(of.unshown.get(&room).map(|(pos, _)| *pos));
        if known.is_some_and(|known| pos <= known) {
            return;
        }
        if of.unshown.is_empty() {
            self.turns.insert((of.shown_ms.map_or(now_ms, |at| now_ms.max(at + EVERY_MS)), agent));
        }
        of.unshown.insert(room, (pos, event_id));
    }

    /// The agent ends.
    pub fn gone(&mut self, agent: AgentKey) {
        self.of.remove(&agent);
        self.turns.retain(|(_, whose)| *whose != agent);
    }

    /// Whose turn is next, and when.
    #[must_use]
    pub fn next(&self) -> Option<(i64, AgentKey)> {
        self.turns.first().copied()
    }

    /// What is to be shown for the agent now.
    pub fn take(&mut self, agent: AgentKey, now_ms: i64) -> Option<(RoomKey, OwnedEventId)> {
        self.turns.retain(|(_, whose)| *whose != agent);
        let of = self.of.get_mut(&agent)?;
        let (room, (pos, event_id)) = of.unshown.pop_first()?;
        of.shown.insert(room, pos);
        of.shown_ms = Some(now_ms);
        if !of.unshown.is_empty() {
            self.turns.insert((now_ms + EVERY_MS, agent));
        }
        Some((room, event_id))
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
        board.read(agent, ROOM, Pos(n), event(n), now_s * 1_000);
    }

    #[test]
    fn one_in_ten_seconds_and_the_last_is_not_lost() {
        let mut board = ReceiptBoard::default();
        read(&mut board, A, 1, 0);
        assert_eq!(board.next(), Some((0, A)));
        assert_eq!(board.take(A, 0), Some((ROOM, event(1))));
        for n in 2..9 {
            read(&mut board, A, n, n);
        }
        read(&mut board, A, 3, 9);
        assert_eq!(board.next(), Some((10_000, A)));
        assert_eq!(board.take(A, 10_000), Some((ROOM, event(8))));
        assert_eq!(board.next(), None);
        read(&mut board, A, 8, 30);
        assert_eq!(board.next(), None, "shown already");
    }

    #[test]
    fn rooms_and_agents_take_turns() {
        let mut board = ReceiptBoard::default();
        read(&mut board, A, 1, 0);
        board.read(A, RoomKey(2), Pos(5), event(5), 0);
        read(&mut board, B, 1, 1);
        assert_eq!(board.take(A, 0), Some((ROOM, event(1))));
        assert_eq!(board.next(), Some((1_000, B)));
        assert_eq!(board.take(B, 1_000), Some((ROOM, event(1))));
        assert_eq!(board.next(), Some((10_000, A)));
        assert_eq!(board.take(A, 10_000), Some((RoomKey(2), event(5))));
        read(&mut board, A, 2, 11);
        board.gone(A);
        assert_eq!(board.next(), None);
    }
}
