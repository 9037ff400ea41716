use std::collections::{BTreeMap, HashMap};

use parking_lot::RwLock;
use parlour_domain::{
    ids::{AgentKey, RoomKey},
    knock::{Knock, queue},
};

/// Who waits before the doors of private rooms. Lapsed knocks stay until somebody knocks again; they do not count.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    by_owner: RwLock<HashMap<Owner, BTreeMap<Place, Standing>>>,
}

/// The agent that answers; `None`: people do, by the bridge bot.
type Owner = Option<AgentKey>;

/// A door, and who knocked on it.
pub(crate) type Place = (RoomKey, AgentKey);

#[derive(Clone, Copy, Debug)]
struct Standing {
    knock: Knock,
    told: bool,
}

impl Doors {
    pub(crate) fn put(&self, owner: Owner, place: Place, knock: Knock, told: bool) {
        self.by_owner.write().entry(owner).or_default().insert(place, Standing { knock, told });
    }

    /// The same knock, at the back of the queue; the owner was told of it or not, as before.
    pub(crate) fn put_again(&self, owner: Owner, place: Place, knock: Knock) {
        let told = self.by_owner.read().get(&owner).and_then(|o| o.get(&place)).is_some_and(|s| s.told);
        self.put(owner, place, knock, told);
    }

    /// Answered, or in by another way.
    pub(crate) fn leave(&self, room: RoomKey, agent: AgentKey) {
        self.keep(|place| place != (room, agent));
    }

    pub(crate) fn shut(&self, room: RoomKey) {
        self.keep(|place| place.0 != room);
    }

    /// An agent that ended stands before no door.
    pub(crate) fn forget(&self, agent: AgentKey) {
        self.keep(|place| place.1 != agent);
    }

    fn keep(&self, stays: impl Fn(Place) -> bool) {
        let mut by_owner = self.by_owner.write();
        by_owner.values_mut().for_each(|places| places.retain(|place, _| stays(*place)));
        by_owner.retain(|_, places| !places.is_empty());
    }

    /// Who waits before the rooms of an owner, or the one room, earliest first.
    #[must_use]
    pub(crate) fn waiting(&self, owner: Owner, room: Option<RoomKey>, now_ms: i64) -> Vec<(Place, Knock)> {
        let by_owner = self.by_owner.read();
        let places = by_owner.get(&owner).into_iter().flatten();
        let here = places.filter(|(place, _)| room.is_none_or(|r| r == place.0));
        queue(here.map(|(place, standing)| (*place, standing.knock)), now_ms)
    }

    /// Whether somebody waits there whom the owner was not told of.
    #[must_use]
    pub(crate) fn untold(&self, owner: Owner, room: Option<RoomKey>, now_ms: i64) -> bool {
        let by_owner = self.by_owner.read();
        let Some(places) = by_owner.get(&owner) else { return false };
        let new = |(place, s): (&Place, &Standing)| {
            room.is_none_or(|r| r == place.0) && !s.told && s.knock.waits(now_ms)
        };
        places.iter().any(new)
    }

    /// Notes that the owner was told; gives those that were news.
    #[must_use]
    pub(crate) fn tell(&self, owner: Owner, places: &[Place]) -> Vec<Place> {
        let mut by_owner = self.by_owner.write();
        let Some(known) = by_owner.get_mut(&owner) else { return vec![] };
        let mut news = vec![];
        for place in places {
            if let Some(standing) = known.get_mut(place).filter(|s| !s.told) {
                standing.told = true;
                news.push(*place);
            }
        }
        news
    }
}
