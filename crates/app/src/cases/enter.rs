use std::sync::Arc;

use parlour_domain::{
    code::AgentCode,
    fault::{Code, Fault},
    ids::RoomKey,
    knock::Way,
};
use parlour_store::{Overdrawn, Who};

use super::join::one_of_room_and_code;
use crate::{
    app::App,
    caller::Caller,
    entering::Target,
    live::{AgentLive, RoomLive},
    quotas::{entry_charges, overdrawn},
    request::{Enter, Source},
    view::Entered,
};

impl App {
    /// Takes an agent into one more room, or before its door. In it already: nothing changes.
    ///
    /// # Errors
    /// `invalid_request`, `code_invalid`, `room_not_found`, `rate_limited`, `capacity_reached`, `forbidden`,
    /// `dependency_unavailable`.
    pub async fn enter(
        self: &Arc<Self>,
        caller: &Caller,
        ask: Enter,
        source: Source,
    ) -> Result<Entered, Fault> {
        self.put_back(caller).await;
        one_of_room_and_code(ask.room.as_deref(), ask.code.as_deref())?;
        let target = self.target(ask.room.as_deref(), ask.code.as_deref())?;
        let (app, agent) = (self.clone(), caller.0.clone());
        let entering = async move {
            match target {
                Target::Lobby(room) => app.enter_lobby(&agent, &room, source).await,
                Target::Door(room) => app.enter_by_knock(&agent, &room, source).await,
                Target::Code(code) => app.enter_by_code(&agent, code, source).await,
            }
        };
        self.to_the_end(entering, |_, _| {}).await
    }

    async fn enter_by_code(
        &self,
        agent: &AgentLive,
        code: AgentCode,
        source: Source,
    ) -> Result<Entered, Fault> {
        let _one = still_here(agent).await?;
        let room = self.room_of_code(code, Some(agent.key()), source).await?;
        if !agent.is_in(room.key) {
            self.let_in(agent, &room, Some(Way::Code), Who::Agent(agent.key())).await?;
        }
        Ok(Entered::Room(room.room()))
    }

    async fn enter_by_knock(
        self: &Arc<Self>,
        agent: &Arc<AgentLive>,
        room: &Arc<RoomLive>,
        source: Source,
    ) -> Result<Entered, Fault> {
        let _one = still_here(agent).await?;
        if agent.is_in(room.key) {
            return Ok(Entered::Room(room.room()));
        }
        self.knock(agent, room, source).await
    }

    async fn enter_lobby(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        source: Source,
    ) -> Result<Entered, Fault> {
        let _one = agent.moving.lock().await;
        if agent.is_in(room.key) {
            return Ok(Entered::Room(room.room()));
        }
        if self.is_in_a_lobby(agent) {
            self.take_seat(agent, room).await?;
        } else {
            let _place = self.reserve_place()?;
            self.enter_charged(agent, room, source).await?;
        }
        Ok(Entered::Room(room.room()))
    }

    async fn enter_charged(&self, agent: &AgentLive, room: &RoomLive, source: Source) -> Result<(), Fault> {
        let charges = entry_charges(&self.settings.limits, source);
        let (subjects, now) = (charges.clone(), self.now());
        let charged = self.store.write(move |tx| tx.charge(&subjects, now)).await?;
        let taken = charged.map_err(|Overdrawn(r)| overdrawn(r, "Lobby entries from your address"))?;
        let entered = self.take_seat(agent, room).await;
        if entered.is_err() {
            self.store.write(move |tx| tx.refund(&charges, &taken)).await?;
        }
        entered
    }

    /// Joins as the agent's puppet and remembers it. Call it with `agent.moving` held.
    pub(crate) async fn take_seat(&self, agent: &AgentLive, room: &RoomLive) -> Result<(), Fault> {
        let _entering = agent.enters(room.key);
        self.join_as(agent.user_id(), &room.room_id, &[]).await.map_err(|e| self.homeserver_fault(e))?;
        let (key, room) = (agent.key(), room.key);
        let seated = self.write_and_follow(move |tx| tx.seat_taken(key, room), App::seat);
        Ok(seated.await?)
    }

    /// Back into the lobbies that idleness took the agent out of, at no quota. Where that fails the call goes on
    /// without; the next one tries again.
    pub(crate) async fn put_back(self: &Arc<Self>, caller: &Caller) {
        if caller.0.away().is_empty() {
            return;
        }
        let (app, agent) = (self.clone(), caller.0.clone());
        let back = self.to_the_end(async move { app.put_back_into_all(&agent).await }, |_, ()| {});
        if let Err(fault) = back.await {
            tracing::info!(agent = %caller.0.agent.id, code = fault.code.as_str(), cause = fault.cause,
                "an agent that was idle could not be put back into its lobby");
        }
    }

    async fn put_back_into_all(&self, agent: &AgentLive) -> Result<(), Fault> {
        let _one = agent.moving.lock().await;
        for room in agent.away() {
            let Some(live) = self.rooms.get(room) else { continue };
            let _place = if self.is_in_a_lobby(agent) { None } else { Some(self.reserve_place()?) };
            match self.take_seat(agent, &live).await {
                // banned meanwhile: there is nothing to come back to
                Err(fault) if fault.code == Code::Forbidden => {
                    self.give_up_seat(agent, room).await?;
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn give_up_seat(&self, agent: &AgentLive, room: RoomKey) -> Result<(), Fault> {
        let key = agent.key();
        self.store.write(move |tx| tx.seat_given_up(key, room)).await?;
        agent.stay_out(room);
        Ok(())
    }
}

/// The agent, once it is its turn to be moved; it may have ended meanwhile.
pub(super) async fn still_here(agent: &AgentLive) -> Result<tokio::sync::MutexGuard<'_, ()>, Fault> {
    let turn = agent.moving.lock().await;
    if agent.ended() { Err(Fault::unauthorized()) } else { Ok(turn) }
}
