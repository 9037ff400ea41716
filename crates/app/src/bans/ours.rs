//! Whom the bridge banned.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use parlour_domain::ids::RoomKey;
use parlour_store::ListedBan;
use ruma::{OwnedUserId, UserId};

/// `true`: and the homeserver took it, and nobody came again since.
#[derive(Debug)]
pub(crate) struct Ours(Mutex<BTreeMap<(RoomKey, OwnedUserId), bool>>);

impl Ours {
    pub(super) fn new(bans: Vec<ListedBan>) -> Self {
        Self(Mutex::new(bans.into_iter().map(|ban| ((ban.room, ban.user_id), false)).collect()))
    }

    /// Somebody came into a room, or wants to: a ban that was set there holds no more.
    pub(crate) fn comes(&self, room: RoomKey, user: &UserId) {
        if let Some(done) = self.0.lock().get_mut(&(room, user.to_owned())) {
            *done = false;
        }
    }

    /// Somebody's ban is not ours to lift (any more). Whether it was.
    pub(crate) fn give_up(&self, room: RoomKey, user: &UserId) -> bool {
        self.0.lock().remove(&(room, user.to_owned())).is_some()
    }

    pub(super) fn is_done(&self, ban: &ListedBan) -> bool {
        self.0.lock().get(&(ban.room, ban.user_id.clone())) == Some(&true)
    }

    pub(super) fn note(&self, ban: &ListedBan, done: bool) {
        self.0.lock().insert((ban.room, ban.user_id.clone()), done);
    }
}
