use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::RoomKey,
    knock::{self, Way},
    limits::KNOCKS_SHOWN_MS,
};
use parlour_store::{PersonKnock, Tx, Who};

use super::agent_id;
use crate::{
    app::App,
    caller::Caller,
    entering::shown,
    live::{AgentLive, Place, RoomLive},
    view::{Admitted, IncomingKnock, Knock},
};

impl App {
    /// Who waits before a room of one's own, earliest first.
    ///
    /// # Errors
    /// `room_not_owned`.
    pub async fn list_knocks(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
    ) -> Result<Vec<IncomingKnock>, Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        Ok(self.incoming_knocks(&caller.0, Some(room.key)))
    }

    /// Lets an agent in that knocks. Done once it is really inside.
    ///
    /// # Errors
    /// `room_not_owned`, `knock_not_found`, `forbidden`, `dependency_unavailable`.
    pub async fn admit(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
        agent: &str,
    ) -> Result<Admitted, Fault> {
        if let Some((room, visitor)) = self.own_visitor(caller, room, agent).await? {
            let (app, owner) = (self.clone(), caller.0.clone());
            let admitting = async move { app.admit_visitor(&owner, &room, visitor).await };
            return self.to_the_end(admitting, |_, _| {}).await;
        }
        let (room, knocker) = self.knocker(caller, room, agent).await?;
        let (app, owner) = (self.clone(), Who::Agent(caller.0.key()));
        self.to_the_end(async move { app.admit_one(&room, &knocker, owner).await }, |_, _| {}).await
    }

    pub(crate) async fn admit_one(
        &self,
        room: &RoomLive,
        knocker: &AgentLive,
        who: Who,
    ) -> Result<Admitted, Fault> {
        let _one = knocker.moving.lock().await;
        if knocker.ended() || room.closed() || !self.waits_at(room, knocker) {
            return Err(knock_not_found());
        }
        self.let_in(knocker, room, Some(Way::Knock), who).await?;
        self.hub.admit(knocker.key());
        self.bot.at_door.notify_one();
        Ok(Admitted { agent_id: knocker.agent.id, display_name: knocker.agent.display_name.clone() })
    }

    /// Turns an agent away that knocks, for good.
    ///
    /// # Errors
    /// `room_not_owned`, `knock_not_found`; of a person `forbidden`, `rate_limited`, `dependency_unavailable` as well.
    pub async fn decline(self: &Arc<Self>, caller: &Caller, room: &str, agent: &str) -> Result<(), Fault> {
        if let Some((room, visitor)) = self.own_visitor(caller, room, agent).await? {
            let (app, owner) = (self.clone(), caller.0.clone());
            let declining = async move { app.decline_visitor(&owner, &room, visitor).await };
            return self.to_the_end(declining, |_, ()| {}).await;
        }
        let (room, knocker) = self.knocker(caller, room, agent).await?;
        self.decline_one(&room, &knocker, Who::Agent(caller.0.key())).await
    }

    pub(crate) async fn decline_one(
        &self,
        room: &RoomLive,
        knocker: &AgentLive,
        who: Who,
    ) -> Result<(), Fault> {
        let _one = knocker.moving.lock().await;
        let (key, at, by) = (knocker.key(), room.key, self.by(who));
        let write = move |tx: &Tx<'_>| tx.decline_knock(key, at, &by);
        let follow = move |app: &Arc<Self>, answered: bool| {
            app.doors.leave(at, key);
            app.bot.at_door.notify_one();
            answered
        };
        let answered = self.write_and_follow(write, follow).await?;
        if answered { Ok(()) } else { Err(knock_not_found()) }
    }

    /// A person before a room of one's own, if it is one.
    async fn own_visitor(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
        id: &str,
    ) -> Result<Option<(Arc<RoomLive>, PersonKnock)>, Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        let id = agent_id(id, knock_not_found)?;
        Ok(self.visitor(&room, id).map(|visitor| (room, visitor)))
    }

    async fn knocker(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
        agent: &str,
    ) -> Result<(Arc<RoomLive>, Arc<AgentLive>), Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        let id = agent_id(agent, knock_not_found)?;
        let knocker = self.agents.by_id(id).ok_or_else(knock_not_found)?;
        if self.waits_at(&room, &knocker) { Ok((room, knocker)) } else { Err(knock_not_found()) }
    }

    pub(crate) fn waits_at(&self, room: &RoomLive, agent: &AgentLive) -> bool {
        let waiting = self.doors.waiting(room.owner(), Some(room.key), self.now());
        waiting.iter().any(|(place, _)| place.1 == agent.key())
    }

    /// Who waits before the agent's rooms, or the one room.
    pub(crate) fn incoming_knocks(&self, agent: &AgentLive, room: Option<RoomKey>) -> Vec<IncomingKnock> {
        let waiting = self.doors.waiting(Some(agent.key()), room, self.now());
        let incoming = waiting.into_iter().filter_map(|(place, knock)| self.knock_at(place, knock));
        let mut all: Vec<IncomingKnock> = incoming.collect();
        all.extend(self.incoming_visitors(agent, room));
        all.sort_by_key(|knock| knock.knocked_at_ms);
        all
    }

    pub(crate) fn knock_at(&self, (room, knocker): Place, knock: knock::Knock) -> Option<IncomingKnock> {
        let knocker = self.agents.get(knocker)?;
        Some(IncomingKnock {
            room: self.rooms.get(room)?.room(),
            agent_id: knocker.agent.id,
            display_name: knocker.agent.display_name.clone(),
            knocked_at_ms: knock.at_ms,
            expires_at_ms: knock.expires_at_ms(),
            person: None,
        })
    }

    /// The same for a wait that tells of them: they wake no further wait.
    pub(crate) async fn tell_knocks(
        &self,
        agent: &AgentLive,
        room: Option<RoomKey>,
    ) -> Result<Vec<IncomingKnock>, Fault> {
        let waiting = self.doors.waiting(Some(agent.key()), room, self.now());
        let places: Vec<Place> = waiting.into_iter().map(|(place, _)| place).collect();
        let news = self.doors.tell(Some(agent.key()), &places);
        if !news.is_empty() {
            self.store.write(move |tx| tx.knocks_told(&news)).await?;
        }
        self.tell_visitors(agent, room).await?;
        Ok(self.incoming_knocks(agent, room))
    }

    /// Doors that an agent knocked on within a day and was not let in by.
    pub(crate) async fn knocks_of(&self, agent: &AgentLive) -> Result<Vec<Knock>, Fault> {
        let (key, now) = (agent.key(), self.now());
        let knocks = self.store.read(move |r| r.knocks_of(key, now - KNOCKS_SHOWN_MS)).await?;
        let outside = knocks.into_iter().filter(|(number, _)| {
            let room = self.rooms.by_number(*number);
            room.is_some_and(|r| !agent.is_in(r.key) && !r.closed())
        });
        Ok(outside.map(|(number, knock)| shown(number, knock, now)).collect())
    }
}

pub(super) fn knock_not_found() -> Fault {
    Fault::new(
        Code::KnockNotFound,
        "This agent does not knock (any more): the knock lapsed, was answered, or the agent is gone. List the knocks again.",
    )
}
