//! What is to be shown, and in which order.

use std::collections::BTreeSet;

use parlour_domain::{
    ids::{AgentKey, RoomKey},
    manners::{Haste, Pace, Presence, PresenceBoard, ReceiptBoard, TypistBoard},
};
use ruma::OwnedEventId;

use super::Shown;

/// Between any two deeds.
const DEED_EVERY_MS: i64 = 80;
/// Whose presence is told in one go, so that the rest never waits long for it.
const PRESENT_IN_ONE_GO: usize = 100;
/// Receipts concern the whole room, so they are rarer: some at once, then one in a while.
const RECEIPT_EVERY_MS: i64 = 2_000;
const RECEIPTS_AT_ONCE: i64 = 12;
/// In a crowd those of mere listeners are rarer still: in a room of two hundred each costs Synapse 40 ms (2026-12-01), as
/// much as a message.
const LISTENERS_RECEIPT_EVERY_MS: i64 = 20_000;
const LISTENERS_RECEIPTS_AT_ONCE: i64 = 3;
/// A homeserver that does not answer is left alone for so long, and then longer.
const FIRST_PAUSE_MS: i64 = 1_000;
const LONGEST_PAUSE_MS: i64 = 30_000;
/// A homeserver without presence is asked again after so long: its operator may have changed that.
const PRESENCE_AGAIN_MS: i64 = 10 * 60_000;

/// A call, or several of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Present(Vec<(AgentKey, Presence)>),
    Read(AgentKey, RoomKey, OwnedEventId),
    Types(AgentKey, RoomKey, bool),
}

impl Deed {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Present(..) => "presence",
            Self::Read(..) => "receipt",
            Self::Types(..) => "typing",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Do(Deed),
    At(i64),
    /// Nothing until there is news.
    Idle,
}

#[derive(Debug)]
pub(super) struct Board {
    pub(super) shown: Shown,
    pub(super) presence: PresenceBoard,
    pub(super) receipts: ReceiptBoard,
    pub(super) typists: TypistBoard,
    /// Who was handed something meant for it, in a room where not all are, and has not read it yet.
    pub(super) meant: BTreeSet<(AgentKey, RoomKey)>,
    receipt_paces: [(Haste, Pace); 2],
    /// No call before this.
    free_at_ms: i64,
    pause_ms: i64,
    /// The homeserver has no presence, as far as is known until then.
    no_presence_until_ms: i64,
    /// Whether it has been seen to show presence.
    pub(super) presence_seen: bool,
}

impl Board {
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            shown,
            presence: PresenceBoard::default(),
            receipts: ReceiptBoard::default(),
            typists: TypistBoard::default(),
            meant: BTreeSet::new(),
            receipt_paces: [
                (Haste::Soon, Pace::new(RECEIPT_EVERY_MS, RECEIPTS_AT_ONCE)),
                (Haste::Some, Pace::new(LISTENERS_RECEIPT_EVERY_MS, LISTENERS_RECEIPTS_AT_ONCE)),
            ],
            free_at_ms: i64::MIN / 2,
            pause_ms: FIRST_PAUSE_MS,
            no_presence_until_ms: i64::MIN / 2,
            presence_seen: false,
        }
    }

    /// Typing first, since it is soon untrue; presence next, since the homeserver forgets it.
    pub(super) fn next(&mut self, now_ms: i64) -> Next {
        if now_ms < self.free_at_ms {
            return if self.is_anything_due() { Next::At(self.free_at_ms) } else { Next::Idle };
        }
        if let Some((room, agent, on)) = self.typists.take(now_ms) {
            return Next::Do(Deed::Types(agent, room, on));
        }
        let presence = self.presence.next(now_ms).map(|at| at.max(self.no_presence_until_ms));
        if presence.is_some_and(|at| at <= now_ms) {
            // of the first it is looked up whether the homeserver shows it
            let most = if self.presence_seen { PRESENT_IN_ONE_GO } else { 1 };
            return Next::Do(Deed::Present(self.presence.tell(now_ms, most)));
        }
        if let Some(deed) = self.next_receipt(now_ms) {
            return Next::Do(deed);
        }
        let later = self.receipts_due().map(|(at, ..)| at).chain(presence).min();
        later.map_or(Next::Idle, |at| Next::At(at.max(now_ms + 1)))
    }

    fn next_receipt(&mut self, now_ms: i64) -> Option<Deed> {
        let (_, haste, agent) = self.receipts_due().find(|(at, ..)| *at <= now_ms)?;
        let (room, event_id) = self.receipts.take(agent, now_ms)?;
        self.receipt_paces.iter_mut().filter(|(h, _)| *h == haste).for_each(|(_, pace)| pace.take(now_ms));
        Some(Deed::Read(agent, room, event_id))
    }

    /// When the next one of each line may be shown, and whose.
    fn receipts_due(&self) -> impl Iterator<Item = (i64, Haste, AgentKey)> {
        let due = |(haste, pace): &(Haste, Pace)| {
            let (at, agent) = self.receipts.next(*haste)?;
            Some((at.max(pace.free_at()), *haste, agent))
        };
        self.receipt_paces.iter().filter_map(due)
    }

    fn is_anything_due(&self) -> bool {
        self.typists.is_due() || self.receipts_due().next().is_some() || self.presence.next(0).is_some()
    }

    /// A call was answered, or refused for good.
    pub(super) fn answered(&mut self, now_ms: i64) {
        self.pause_ms = FIRST_PAUSE_MS;
        self.free_at_ms = now_ms + DEED_EVERY_MS;
    }

    /// The homeserver is not there, or asks for patience.
    pub(super) fn hold_off(&mut self, now_ms: i64, at_least_ms: i64) {
        self.free_at_ms = now_ms + self.pause_ms.max(at_least_ms);
        self.pause_ms = (self.pause_ms * 2).min(LONGEST_PAUSE_MS);
    }

    pub(super) fn has_no_presence(&mut self, now_ms: i64) {
        self.no_presence_until_ms = now_ms + PRESENCE_AGAIN_MS;
        self.presence_seen = false;
    }
}

#[cfg(test)]
mod tests {
    use parlour_domain::ids::Pos;
    use ruma::owned_event_id;

    use super::*;

    const ALL: Shown = Shown { presence: true, receipts: true, typing: true, profiles: false };

    /// All of the first `seconds`.
    fn run(board: &mut Board, seconds: i64) -> Vec<(i64, Deed)> {
        let (mut now, mut done) = (0, vec![]);
        while now <= seconds * 1_000 {
            match board.next(now) {
                Next::Do(deed) => {
                    board.presence_seen |= deed.kind() == "presence";
                    done.push((now, deed));
                    board.answered(now);
                }
                Next::At(at) => now = at,
                Next::Idle => break,
            }
        }
        done
    }

    fn crowd(board: &mut Board) {
        for n in 0..200 {
            let agent = AgentKey(n);
            board.presence.waits(agent);
            let haste = if n < 20 { Haste::Soon } else { Haste::Some };
            board.receipts.read(agent, RoomKey(1), (Pos(n), owned_event_id!("$e")), haste, 0);
            board.typists.begins(RoomKey(1), agent, 0);
        }
    }

    #[test]
    fn a_crowd_is_shown_bit_by_bit() {
        let mut board = Board::new(ALL);
        crowd(&mut board);
        let done = run(&mut board, 100);
        let apart = done.windows(2).all(|pair| pair[1].0 - pair[0].0 >= DEED_EVERY_MS);
        assert!(apart, "never two deeds at once");
        assert_eq!(done.iter().filter(|(_, deed)| deed.kind() == "typing").count(), 6);
        let told = |(at, deed): &(i64, Deed)| match deed {
            Deed::Present(told) if *at < 100_000 => told.len(),
            _ => 0,
        };
        assert_eq!(done.iter().map(told).max(), Some(PRESENT_IN_ONE_GO));
        assert_eq!(done.iter().map(told).sum::<usize>(), 4 * 200, "each, each 25 seconds");
        // those of whom something was meant for in 16 seconds; of the others three, and then one in twenty seconds
        let receipts: Vec<i64> =
            done.iter().filter(|(_, deed)| deed.kind() == "receipt").map(|(at, _)| *at).collect();
        assert_eq!(receipts.iter().filter(|at| **at > 21_000).count(), 4, "{receipts:?}");
        assert_eq!(receipts.len(), 20 + 3 + 4, "{receipts:?}");
    }

    #[test]
    fn typing_comes_first_and_all_waits_for_a_homeserver_that_is_not_there() {
        let mut board = Board::new(ALL);
        crowd(&mut board);
        assert!(matches!(board.next(0), Next::Do(Deed::Types(.., true))));
        board.hold_off(0, 0);
        assert_eq!(board.next(1), Next::At(1_000));
        assert!(matches!(board.next(1_000), Next::Do(_)));
        board.hold_off(1_000, 0);
        assert_eq!(board.next(1_001), Next::At(3_000));
        board.hold_off(3_000, 60_000);
        assert_eq!(board.next(3_001), Next::At(63_000));
    }

    #[test]
    fn without_presence_the_rest_goes_on() {
        let mut board = Board::new(ALL);
        board.presence.waits(AgentKey(1));
        assert!(matches!(board.next(0), Next::Do(Deed::Present(..))));
        board.answered(0);
        board.has_no_presence(0);
        board.presence.waits(AgentKey(2));
        let read = (Pos(1), owned_event_id!("$e"));
        board.receipts.read(AgentKey(1), RoomKey(1), read, Haste::Soon, 0);
        assert!(matches!(board.next(100), Next::Do(Deed::Read(..))));
        board.answered(100);
        assert_eq!(board.next(200), Next::At(PRESENCE_AGAIN_MS));
    }
}
