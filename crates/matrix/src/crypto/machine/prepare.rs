//! Seeing to it that everybody who may read a room's messages has the key before one is sent.

use std::{collections::BTreeSet, time::Duration};

use matrix_sdk_crypto::{CollectStrategy, EncryptionSettings};
use parlour_domain::visibility::Visibility;
use ruma::{OwnedRoomId, OwnedUserId, RoomId, UserId, events::room::history_visibility::HistoryVisibility};
use serde_json::value::RawValue;

use super::{Machine, guarded};
use crate::{
    crypto::{
        CryptoError,
        request::{Call, Outgoing},
    },
    json::Fields,
};

/// A query may be answered and be out of date at once. After so many we go on with what we know.
const QUERIES: u32 = 3;
/// Sharing again right after sharing happens when devices changed meanwhile, not for ever.
const SHARES: u32 = 3;
const MEGOLM: &str = "m.megolm.v1.aes-sha2";

/// Which of people's devices get room keys (`[encryption] trust`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    #[default]
    All,
    /// Only those that their owner has signed.
    CrossSigned,
}

/// How a room wants its keys: when they change, and who gets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    pub visibility: Visibility,
    pub trust: Trust,
    /// Milliseconds; the SDK uses no less than an hour.
    pub rotation_period_ms: Option<u64>,
    pub rotation_messages: Option<u64>,
}

impl Sharing {
    /// From the content of `m.room.encryption`.
    ///
    /// # Errors
    /// [`CryptoError::Algorithm`] for any other than Megolm version 1.
    pub fn of_room(encryption: &RawValue, visibility: Visibility, trust: Trust) -> Result<Self, CryptoError> {
        let fields = Fields::of(encryption).ok_or(CryptoError::Algorithm)?;
        if fields.str("algorithm").as_deref() != Some(MEGOLM) {
            return Err(CryptoError::Algorithm);
        }
        let positive = |name| fields.int(name).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        Ok(Self {
            visibility,
            trust,
            rotation_period_ms: positive("rotation_period_ms"),
            rotation_messages: positive("rotation_period_msgs"),
        })
    }

    fn settings(&self) -> EncryptionSettings {
        let mut settings = EncryptionSettings {
            history_visibility: HistoryVisibility::from(self.visibility.as_str()),
            sharing_strategy: match self.trust {
                Trust::All => CollectStrategy::AllDevices,
                Trust::CrossSigned => CollectStrategy::IdentityBasedStrategy,
            },
            ..EncryptionSettings::default()
        };
        if let Some(ms) = self.rotation_period_ms {
            settings.rotation_period = Duration::from_millis(ms);
        }
        if let Some(messages) = self.rotation_messages {
            settings.rotation_period_msgs = messages;
        }
        settings
    }
}

/// A room as it was when its key was last shared.
#[derive(Debug)]
pub(super) struct Prepared {
    people: BTreeSet<OwnedUserId>,
    sharing: Sharing,
    generation: u64,
}

/// A room's way to being ready. Make one, then call [`Machine::prepare`] until it asks for nothing more.
#[derive(Debug)]
pub struct Preparation {
    room: OwnedRoomId,
    people: BTreeSet<OwnedUserId>,
    sharing: Sharing,
    stage: Stage,
    queries: u32,
    shares: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Track,
    Query,
    Claim,
    Share,
}

impl Preparation {
    /// `members` are all who may read (joined, and invited where the room says so); `is_puppet` tells who of them is
    /// ours and gets no key.
    pub fn new(
        room: &RoomId,
        members: impl IntoIterator<Item = OwnedUserId>,
        is_puppet: impl Fn(&UserId) -> bool,
        sharing: Sharing,
    ) -> Self {
        let people = members.into_iter().filter(|user| !is_puppet(user)).collect();
        Self { room: room.to_owned(), people, sharing, stage: Stage::Track, queries: 0, shares: 0 }
    }

    fn is_for(&self, prepared: &Prepared) -> bool {
        prepared.people == self.people && prepared.sharing == self.sharing
    }

    fn people(&self) -> impl Iterator<Item = &UserId> {
        self.people.iter().map(|user| &**user)
    }
}

impl Machine {
    /// Keeps track of people's devices from now on, puppets left out. [`Self::outgoing`] has the query then. Whether a
    /// sender's device is signed is known only of people who are tracked: do it when a puppet joins a room.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn track<'a>(
        &mut self,
        people: impl IntoIterator<Item = &'a UserId>,
    ) -> Result<(), CryptoError> {
        guarded(self.olm.update_tracked_users(people)).await
    }

    /// Takes nothing for granted that is known of people's devices: after a gap in what the homeserver told us, such as
    /// a first pull or a database that was put back. Everybody is queried anew.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn recheck_people(&mut self) -> Result<(), CryptoError> {
        self.generation += 1;
        guarded(self.olm.mark_all_tracked_users_as_dirty()).await
    }

    /// The next requests on the way to a ready room; none: it is ready. Commit, carry them all, give the answers to
    /// [`Self::answer`], then call again. Costs nothing where nothing has changed since the last time.
    ///
    /// # Errors
    /// See [`CryptoError`]. Where a request fails, drop the preparation; the room is not ready.
    pub async fn prepare(&mut self, way: &mut Preparation) -> Result<Vec<Outgoing>, CryptoError> {
        if self.is_prepared_for(way) {
            return Ok(vec![]);
        }
        if way.stage == Stage::Track {
            self.track(way.people()).await?;
            way.stage = Stage::Query;
        }
        if way.stage == Stage::Query {
            let queries = self.queries(way).await?;
            if !queries.is_empty() {
                return Ok(queries);
            }
            way.stage = Stage::Claim;
        }
        if way.stage == Stage::Claim {
            way.stage = Stage::Share;
            if let Some(claim) = self.claim(way.people()).await? {
                return Ok(vec![claim]);
            }
        }
        self.share(way).await
    }

    /// Whether [`Self::encrypt`] would work now.
    #[must_use]
    pub fn is_prepared(&self, room: &RoomId) -> bool {
        self.prepared.get(room).is_some_and(|prepared| prepared.generation == self.generation)
            && self.has_live_key(room)
    }

    fn is_prepared_for(&self, way: &Preparation) -> bool {
        self.is_prepared(&way.room) && self.prepared.get(&way.room).is_some_and(|p| way.is_for(p))
    }

    fn has_live_key(&self, room: &RoomId) -> bool {
        let keys = self.own_room_keys.lock();
        keys.get(room).is_some_and(|key| key.shared() && !key.expired() && !key.invalidated())
    }

    /// Key queries that are due. Without their answers the SDK would wait for them, up to five seconds a user.
    async fn queries(&mut self, way: &mut Preparation) -> Result<Vec<Outgoing>, CryptoError> {
        if way.queries == QUERIES {
            return Ok(vec![]);
        }
        way.queries += 1;
        let all = self.due().await?;
        Ok(all.into_iter().filter(|request| matches!(request.call, Call::KeysQuery(_))).collect())
    }

    async fn share(&mut self, way: &mut Preparation) -> Result<Vec<Outgoing>, CryptoError> {
        if way.shares == SHARES {
            return Err(CryptoError::NotPrepared);
        }
        way.shares += 1;
        let generation = self.generation;
        let requests =
            guarded(self.olm.share_room_key(&way.room, way.people(), way.sharing.settings())).await?;
        if requests.is_empty() {
            let (people, sharing) = (way.people.clone(), way.sharing.clone());
            self.prepared.insert(way.room.clone(), Prepared { people, sharing, generation });
            return Ok(vec![]);
        }
        requests
            .iter()
            .map(|request| Ok(Outgoing { id: request.txn_id.clone(), call: Call::to_device(request)? }))
            .collect()
    }
}
