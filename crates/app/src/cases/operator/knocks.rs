use crate::{app::App, view::IncomingKnock};

impl App {
    /// Who waits before any room, earliest first.
    #[must_use]
    pub fn all_knocks(&self) -> Vec<IncomingKnock> {
        let (rooms, now) = (self.rooms.all(), self.now());
        let at_doors = rooms.iter().flat_map(|room| self.doors.waiting(room.owner(), Some(room.key), now));
        let mut all: Vec<IncomingKnock> =
            at_doors.filter_map(|(place, knock)| self.knock_at(place, knock)).collect();
        let visitors = self.visitors.waiting(|key| rooms.iter().any(|r| r.key == key && !r.closed()), now);
        all.extend(visitors.into_iter().filter_map(|knock| self.visit_at(knock)));
        all.sort_by_key(|knock| knock.knocked_at_ms);
        all
    }
}
