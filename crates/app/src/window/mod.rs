//! The window: what strangers see of the public lobbies, and how they are kept up to date.
//!
//! A look is made from the room logs in memory. Whoever follows remembers what was told and compares it with what is
//! there when something changes, so nothing is lost where several changes come at once, and nothing waits in a queue.

mod cursor;
mod pane;
mod places;
mod told;

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use parlour_domain::ids::RoomKey;

pub(crate) use cursor::Cursor;
pub(crate) use pane::{Pane, in_order};
pub(crate) use places::{Place, Places};
pub(crate) use told::Told;

/// What the looks of all who follow have in common.
#[derive(Debug, Default)]
pub(crate) struct Window {
    panes: Mutex<HashMap<RoomKey, Arc<Pane>>>,
    pub(crate) places: Arc<Places>,
}

impl Window {
    /// A lobby as it is now. `make` is given how it was, to take over what is the same.
    pub(crate) fn pane(&self, room: RoomKey, at: u64, make: impl FnOnce(Option<&Pane>) -> Pane) -> Arc<Pane> {
        let mut panes = self.panes.lock();
        if let Some(pane) = panes.get(&room).filter(|p| p.at == at) {
            return pane.clone();
        }
        let pane = Arc::new(make(panes.get(&room).map(|p| &**p)));
        panes.insert(room, pane.clone());
        pane
    }

    /// Nobody follows: what the looks had in common is made again when asked for.
    pub(crate) fn forget_unused(&self) {
        if self.places.taken() == 0 {
            self.panes.lock().clear();
        }
    }
}
