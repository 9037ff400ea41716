//! Work that is done room by room: one after the other in each, side by side in several, so that one which hangs holds
//! up no other.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// Rooms in which something is under way at the same time.
const AT_ONCE: usize = 8;

#[derive(Debug)]
pub(crate) struct Lanes<K> {
    busy: Mutex<BTreeSet<K>>,
    pub(crate) places: Semaphore,
}

impl<K> Default for Lanes<K> {
    fn default() -> Self {
        Self { busy: Mutex::default(), places: Semaphore::new(AT_ONCE) }
    }
}

/// Somebody is at work in a room, until this is dropped.
#[derive(Debug)]
pub(crate) struct Lane<'a, K: Ord> {
    lanes: &'a Lanes<K>,
    room: K,
}

impl<K: Ord + Clone> Lanes<K> {
    /// `None`: somebody is at work in this room already. Leave before the last look for work: whoever brings some
    /// meanwhile finds the lane free.
    pub(crate) fn enter(&self, room: &K) -> Option<Lane<'_, K>> {
        self.busy.lock().insert(room.clone()).then(|| Lane { lanes: self, room: room.clone() })
    }
}

impl<K: Ord> Drop for Lane<'_, K> {
    fn drop(&mut self) {
        self.lanes.busy.lock().remove(&self.room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_each_also_after_a_panic() {
        let lanes = Lanes::default();
        let first = lanes.enter(&1);
        assert!(first.is_some() && lanes.enter(&1).is_none() && lanes.enter(&2).is_some());
        drop(first);
        let fails = || {
            let _lane = lanes.enter(&1);
            panic!("at work");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails)).is_err());
        assert!(lanes.enter(&1).is_some());
    }
}
