//! How many calls of a kind are inside at the same moment, room by room.

use super::{Call, FakeHomeserver, request::Request};

/// Now, and at most so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    now: usize,
    most: usize,
}

/// A call from when it comes in until it is answered or cut.
pub(super) struct Entered {
    hs: FakeHomeserver,
    place: (Call, String),
}

impl FakeHomeserver {
    pub(super) fn enter(&self, request: &Request) -> Entered {
        let place = self.world(|w| {
            let named = request.args.first().cloned().unwrap_or_default();
            // by an alias it is the same room
            let place = (request.call, w.aliases.get(&named).cloned().unwrap_or(named));
            let inside = w.inside.entry(place.clone()).or_default();
            inside.now += 1;
            inside.most = inside.most.max(inside.now);
            place
        });
        Entered { hs: self.clone(), place }
    }

    /// How many calls of a kind were inside at once, at most, for one room (or whatever comes first in their path).
    #[must_use]
    pub fn most_at_once(&self, call: Call, room: &str) -> usize {
        self.look(|w| w.inside.get(&(call, room.to_owned())).map_or(0, |inside| inside.most))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.hs.world(|w| w.inside.entry(self.place.clone()).or_default().now -= 1);
    }
}
