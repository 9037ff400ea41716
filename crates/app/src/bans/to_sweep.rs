//! Where somebody may have to go, or may come back.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use parlour_domain::ids::RoomKey;
use ruma::OwnedUserId;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct ToSweep {
    noted: Mutex<Noted>,
    pub(super) news: Notify,
}

#[derive(Debug, Default)]
pub(super) struct Noted {
    /// The rules changed.
    pub(super) all: bool,
    /// Where we may do more than before, or less.
    pub(super) rooms: BTreeSet<RoomKey>,
    /// Whom a list bans, and where they came.
    pub(super) came: BTreeSet<(RoomKey, OwnedUserId)>,
}

impl ToSweep {
    pub(crate) fn all(&self) {
        self.noted.lock().all = true;
        self.news.notify_one();
    }

    pub(crate) fn room(&self, room: RoomKey) {
        self.noted.lock().rooms.insert(room);
        self.news.notify_one();
    }

    /// Somebody came into a room whom a list bans.
    pub(crate) fn came(&self, room: RoomKey, user: OwnedUserId) {
        self.noted.lock().came.insert((room, user));
        self.news.notify_one();
    }

    pub(super) fn take(&self) -> Noted {
        std::mem::take(&mut *self.noted.lock())
    }
}
