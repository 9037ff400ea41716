//! Work that is done room by room: one after the other in each, side by side in several.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use parlour_domain::ids::RoomKey;
use tokio::sync::Semaphore;

/// Rooms in which something is under way at the same time.
const AT_ONCE: usize = 8;

#[derive(Debug)]
pub(crate) struct Lanes {
    busy: Mutex<BTreeSet<RoomKey>>,
    pub(super) places: Semaphore,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { busy: Mutex::default(), places: Semaphore::new(AT_ONCE) }
    }
}

impl Lanes {
    /// `false`: somebody is at work in this room already.
    pub(super) fn enter(&self, room: RoomKey) -> bool {
        self.busy.lock().insert(room)
    }

    /// Call it before the last look for work: whoever brings some meanwhile finds the lane free.
    pub(super) fn leave(&self, room: RoomKey) {
        self.busy.lock().remove(&room);
    }
}
