use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::CatalogId,
    names::RoomName,
    share,
};
use parlour_matrix::{CreateRoom, HsError, events::CATALOG_KEY};
use parlour_store::{OpenRooms, Overdrawn, RoomClaim, RoomClaimed, RoomRow, SeatRow, Tx};
use ruma::{OwnedRoomId, RoomId, UserId};
use serde_json::json;

use crate::{
    app::App,
    caller::Caller,
    live::{AgentLive, Members, RoomLive},
    quotas::{overdrawn, room_charges},
    view::OwnRoom,
};

impl App {
    /// A room of the agent's own, or the open one that has this name already, however often it is asked for.
    ///
    /// # Errors
    /// `room_name_invalid`, `room_limit_reached`, `room_capacity_reached`, `rate_limited`, `dependency_unavailable`.
    pub async fn create_private_room(
        self: &Arc<Self>,
        caller: &Caller,
        name: &str,
    ) -> Result<OwnRoom, Fault> {
        let name = RoomName::parse(name)?;
        self.put_back(caller).await;
        let (app, agent) = (self.clone(), caller.0.clone());
        self.to_the_end(async move { app.find_or_make(&agent, &name).await }, |_, _| {}).await
    }

    async fn find_or_make(&self, agent: &AgentLive, name: &RoomName) -> Result<OwnRoom, Fault> {
        let _one = crate::cases::enter::still_here(agent).await?;
        let same = |r: &&Arc<RoomLive>| !r.closed() && r.room().name.as_deref() == Some(name.as_str());
        if let Some(room) = self.rooms.of_owner(agent.key()).iter().find(same) {
            return Ok(OwnRoom { created: false, access: self.access(room).await? });
        }
        // before there is a room, so that everybody who comes finds it
        self.device_for_room(agent.user_id()).await?;
        let (claim, new) = self.claim(agent, name).await?;
        if !new && let Some(room) = self.look_for_room(agent, &claim).await? {
            return Ok(OwnRoom { created: false, access: self.access(&room).await? });
        }
        let room = self.make_room(agent, claim).await?;
        Ok(OwnRoom { created: true, access: self.access(&room).await? })
    }

    /// Noted down before the homeserver is asked. `false`: asked for before, and nobody knows what came of it.
    async fn claim(&self, agent: &AgentLive, name: &RoomName) -> Result<(RoomClaim, bool), Fault> {
        let limits = &self.settings.limits;
        let charges = room_charges(limits, agent.key());
        let claim = RoomClaim {
            catalog_id: CatalogId::new(self.now(), self.chance.bytes()),
            owner: agent.key(),
            name: name.as_str().to_owned(),
            claimed_at_ms: self.now(),
        };
        let open = OpenRooms { of_one_agent: limits.open_rooms_per_agent, overall: limits.open_rooms };
        let wanted = claim.clone();
        match self.store.write(move |tx| tx.claim_room(&wanted, open, &charges)).await? {
            RoomClaimed::New => Ok((claim, true)),
            RoomClaimed::Before(before) => Ok((before, false)),
            RoomClaimed::TooMany => Err(too_many(open.of_one_agent)),
            RoomClaimed::Full => Err(full()),
            RoomClaimed::Overdrawn(Overdrawn(retry_after)) => {
                Err(overdrawn(retry_after, "New private rooms of yours"))
            }
        }
    }

    async fn make_room(&self, agent: &AgentLive, claim: RoomClaim) -> Result<Arc<RoomLive>, Fault> {
        let asked = self.client.create_room(agent.user_id(), self.ordered(&claim)).await;
        let room_id = match asked {
            Ok(room_id) => room_id,
            Err(HsError::Unknown(cause)) => {
                tracing::info!(cause, room = %claim.catalog_id, "making a room has no clear answer; looking for it");
                let found = self.look_for_room(agent, &claim).await?;
                return found.ok_or_else(|| Fault::unavailable(cause));
            }
            Err(error) => {
                self.not_made(&claim).await;
                return Err(self.homeserver_fault(error));
            }
        };
        let room = self.take_over(claim.catalog_id, &room_id).await?;
        let room = room.ok_or_else(|| Fault::internal("a room that was made is claimed by nobody"))?;
        if let Err(error) = self.survey(&room, agent.user_id()).await {
            // its state comes by transaction as well
            tracing::info!(%error, room = %room.room_id, "cannot read the state of a new room yet");
        }
        Ok(room)
    }

    /// Encrypted from birth. History is seen from the invitation on: whoever is let in later, agent or person, must not
    /// read what was said before, but a person wants to know what was said until they came to accept. Only the agent
    /// that made it invites.
    fn ordered(&self, claim: &RoomClaim) -> CreateRoom {
        let state = |kind: &str, content| json!({"type": kind, "state_key": "", "content": content});
        CreateRoom {
            name: Some(claim.name.clone()),
            topic: Some(share::topic(self.settings.server_name.as_str())),
            alias_localpart: None,
            public: false,
            room_version: None,
            initial_state: vec![
                state("m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"})),
                state("m.room.join_rules", json!({"join_rule": "knock"})),
                state("m.room.history_visibility", json!({"history_visibility": "invited"})),
                state("m.room.guest_access", json!({"guest_access": "forbidden"})),
            ],
            creation_content: json!({CATALOG_KEY: claim.catalog_id}),
            power_levels: json!({"invite": 50, "notifications": {"room": 0}}),
            ..CreateRoom::default()
        }
    }

    /// Certain not to have been made: the claim goes, the quota comes back.
    async fn not_made(&self, claim: &RoomClaim) {
        let number = claim.catalog_id;
        if let Err(error) = self.store.write(move |tx| tx.room_not_made(number)).await {
            tracing::warn!(%error, room = %number, "cannot take back the claim of a room that was not made");
        }
    }

    /// The room of a claim whose answer was lost: known by now from its m.room.create, or among the puppet's rooms.
    async fn look_for_room(
        &self,
        agent: &AgentLive,
        claim: &RoomClaim,
    ) -> Result<Option<Arc<RoomLive>>, Fault> {
        if let Some(room) = self.rooms.by_number(claim.catalog_id) {
            return Ok(Some(room));
        }
        let joined = self.client.joined_rooms(agent.user_id()).await.map_err(|e| self.homeserver_fault(e))?;
        for room_id in joined.iter().filter(|id| self.rooms.by_id(id).is_none()) {
            if self.is_of(agent.user_id(), room_id, claim).await.map_err(|e| self.homeserver_fault(e))? {
                return self.take_over(claim.catalog_id, room_id).await;
            }
        }
        Ok(None)
    }

    async fn is_of(&self, user: &UserId, room_id: &RoomId, claim: &RoomClaim) -> Result<bool, HsError> {
        let create = self.client.state_content(user, room_id, "m.room.create").await?.unwrap_or_default();
        let number = create[CATALOG_KEY].as_str().and_then(CatalogId::parse);
        Ok(number == Some(claim.catalog_id))
    }

    /// A room with a number of ours is there: by the homeserver's answer or by its m.room.create, whichever is first.
    /// `None`: nobody asked for it (any more).
    pub(crate) async fn take_over(
        &self,
        number: CatalogId,
        room_id: &RoomId,
    ) -> Result<Option<Arc<RoomLive>>, Fault> {
        let (code, id, now) = (self.new_code(number), room_id.to_owned(), self.now());
        let write = move |tx: &Tx<'_>| tx.settle_room_claim(number, &id, &code, now);
        let follow = |app: &Arc<Self>, settled: Option<(RoomRow, Option<SeatRow>)>| {
            let (row, seat) = settled?;
            let room = app.rooms.put(row, Members::default());
            seat.into_iter().for_each(|seat| app.seat(seat));
            Some(room)
        };
        Ok(self.write_and_follow(write, follow).await?)
    }

    /// A puppet made a room that nobody asked for any more, or asked for twice since its answer was lost.
    pub(crate) fn stray(&self, puppet: &UserId, room_id: &OwnedRoomId) {
        self.strays.lock().push((puppet.to_owned(), room_id.clone()));
    }
}

fn too_many(limit: u32) -> Fault {
    Fault::new(
        Code::RoomLimitReached,
        format!(
            "You have {limit} open rooms, which is as many as you may. Close one, or use one that you have."
        ),
    )
}

fn full() -> Fault {
    Fault::new(
        Code::RoomCapacityReached,
        "All agents together have as many private rooms as this server allows. Try later, or ask a person to make a room.",
    )
}
