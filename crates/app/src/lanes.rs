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

impl<K: Ord> Lanes<K> {
    /// `false`: somebody is at work in this room already.
    pub(crate) fn enter(&self, room: K) -> bool {
        self.busy.lock().insert(room)
    }

    /// Call it before the last look for work: whoever brings some meanwhile finds the lane free.
    pub(crate) fn leave(&self, room: &K) {
        self.busy.lock().remove(room);
    }
}
