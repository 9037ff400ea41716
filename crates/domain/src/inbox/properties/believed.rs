//! What an agent's inbox must hold, without cursors: one set of messages each for what may happen to one.

use std::collections::BTreeSet;

use crate::ids::Seq;

#[derive(Debug, Default)]
pub(super) struct Believed {
    /// In the room now.
    pub(super) inside: bool,
    /// All that others said while it was in.
    pub(super) owed: BTreeSet<Seq>,
    pub(super) context: BTreeSet<Seq>,
    /// In the inbox when it, or something later, was acknowledged.
    pub(super) done: BTreeSet<Seq>,
    pub(super) evicted: BTreeSet<Seq>,
    /// Evicted while it was in the inbox.
    pub(super) dropped: BTreeSet<Seq>,
    pub(super) given: BTreeSet<Seq>,
}

impl Believed {
    pub(super) fn pending(&self) -> BTreeSet<Seq> {
        let all = self.owed.union(&self.context);
        all.filter(|s| !self.done.contains(s) && !self.evicted.contains(s)).copied().collect()
    }

    pub(super) fn acknowledge(&mut self, up_to: Seq) {
        let covered = self.pending().into_iter().filter(|s| *s <= up_to);
        self.done.extend(covered.collect::<Vec<_>>());
    }

    /// `newest`: the newest twenty that it may see and did not say.
    pub(super) fn open(&mut self, newest: impl Iterator<Item = Seq>) {
        let before: BTreeSet<Seq> = newest.filter(|s| !self.owed.contains(s)).collect();
        if !before.is_empty() {
            self.context = before;
        }
    }

    /// Whether it was in the inbox.
    pub(super) fn evict(&mut self, seq: Seq) -> bool {
        let pending = self.pending().contains(&seq);
        if pending {
            self.dropped.insert(seq);
        }
        self.evicted.insert(seq);
        pending
    }
}
