use std::collections::BTreeMap;

use parking_lot::RwLock;
use parlour_domain::{
    ids::{AgentId, RoomKey},
    knock::Knock,
};
use parlour_store::PersonKnock;
use ruma::{OwnedUserId, UserId};

/// People who wait before the doors of agents' rooms. Lapsed knocks stay until they are taken back; they do not count.
#[derive(Debug, Default)]
pub(crate) struct Visitors(RwLock<BTreeMap<(RoomKey, OwnedUserId), PersonKnock>>);

impl Visitors {
    pub(crate) fn new(knocks: Vec<PersonKnock>) -> Self {
        let by_place = knocks.into_iter().map(|knock| ((knock.room, knock.user_id.clone()), knock));
        Self(RwLock::new(by_place.collect()))
    }

    pub(crate) fn put(&self, knock: PersonKnock) {
        self.0.write().insert((knock.room, knock.user_id.clone()), knock);
    }

    pub(crate) fn leave(&self, room: RoomKey, user: &UserId) {
        self.0.write().remove(&(room, user.to_owned()));
    }

    #[must_use]
    pub(crate) fn has(&self, room: RoomKey, user: &UserId) -> bool {
        self.0.read().contains_key(&(room, user.to_owned()))
    }

    /// Who waits before these rooms, earliest first.
    #[must_use]
    pub(crate) fn waiting(&self, is_meant: impl Fn(RoomKey) -> bool, now_ms: i64) -> Vec<PersonKnock> {
        let all = self.0.read();
        let here = all.values().filter(|knock| is_meant(knock.room) && Knock::new(knock.at_ms).waits(now_ms));
        let mut waiting: Vec<_> = here.cloned().collect();
        waiting.sort_by_key(|knock| (knock.at_ms, knock.id));
        waiting
    }

    /// Notes that the owner was told.
    pub(crate) fn tell(&self, told: &[AgentId]) {
        self.0.write().values_mut().filter(|k| told.contains(&k.id)).for_each(|k| k.told = true);
    }
}
