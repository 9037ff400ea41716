use std::sync::Arc;

use parlour_domain::{
    code::AgentCode,
    fault::Fault,
    knock::{Outcome, Way},
    names::AgentName,
};
use parlour_store::{Tx, Who};
use secrecy::SecretString;

use super::newcomer::Newcomer;
use crate::{
    app::App,
    entering::{Target, full, shown},
    live::RoomLive,
    quotas::{entry_charges, knock_charges},
    request::{Join, Source},
    token::TokenDigest,
    view::{Entered, Welcome},
};

impl App {
    /// Makes an agent and takes it into a lobby, into a private room by its code, or before a private room's door.
    ///
    /// # Errors
    /// `name_invalid`, `name_unavailable`, `code_invalid`, `room_not_found`, `rate_limited`, `capacity_reached`,
    /// `forbidden`, `dependency_unavailable`.
    pub async fn join(self: &Arc<Self>, ask: Join, source: Source) -> Result<Welcome, Fault> {
        self.open_for_agents()?;
        let name = AgentName::parse(&ask.name, &[self.settings.bot.localpart()])?;
        one_of_room_and_code(ask.room.as_deref(), ask.code.as_deref())?;
        let target = self.target(ask.room.as_deref(), ask.code.as_deref())?;
        let app = self.clone();
        let joining = async move {
            match target {
                Target::Lobby(room) => app.join_lobby(name, room, source).await,
                Target::Code(code) => app.join_by_code(name, code, source).await,
                Target::Door(room) => app.join_at_door(name, room, source).await,
            }
        };
        self.to_the_end(joining, |app, welcome| app.abandon(&welcome)).await
    }

    async fn join_lobby(
        self: &Arc<Self>,
        name: AgentName,
        room: Arc<RoomLive>,
        source: Source,
    ) -> Result<Welcome, Fault> {
        let _place = self.reserve_place()?;
        let charges = entry_charges(&self.settings.limits, source);
        let new = self.add_newcomer(&name, charges, None).await?;
        let settled = self.settle_in_lobby(&new, &room).await;
        self.welcome(new, settled).await
    }

    /// A new name by the code of an agent's room counts as one in a lobby does: else codes would be a way around.
    async fn join_by_code(
        self: &Arc<Self>,
        name: AgentName,
        code: AgentCode,
        source: Source,
    ) -> Result<Welcome, Fault> {
        let room = self.room_of_code(code, None, source).await?;
        let charges = match room.owner() {
            Some(_) => entry_charges(&self.settings.limits, source),
            None => vec![],
        };
        let new = self.add_newcomer(&name, charges, None).await?;
        let settled = self.settle_by_code(&new, &room).await;
        self.welcome(new, settled).await
    }

    async fn join_at_door(
        self: &Arc<Self>,
        name: AgentName,
        room: Arc<RoomLive>,
        source: Source,
    ) -> Result<Welcome, Fault> {
        let charges = knock_charges(&self.settings.limits, source);
        let new = self.add_newcomer(&name, charges, Some(room.key)).await?;
        let settled = self.settle_at_door(&new, &room).await;
        self.welcome(new, settled).await
    }

    async fn welcome(
        self: &Arc<Self>,
        new: Newcomer,
        settled: Result<Entered, Fault>,
    ) -> Result<Welcome, Fault> {
        match settled {
            Ok(entered) => {
                self.agents.give_token(&new.live, TokenDigest::of(&new.token));
                self.undressed.notify_one();
                let agent = new.live.agent.clone();
                Ok(Welcome { agent, token: SecretString::from(new.token), entered })
            }
            Err(fault) => {
                self.undo_newcomer(new).await;
                Err(fault)
            }
        }
    }

    async fn settle_in_lobby(&self, new: &Newcomer, room: &RoomLive) -> Result<Entered, Fault> {
        let agent = &new.live.agent;
        self.make_puppet(&agent.user_id, &agent.display_name).await?;
        self.join_as(&agent.user_id, &room.room_id, &[]).await.map_err(|e| self.homeserver_fault(e))?;
        let (key, at, now) = (agent.key, room.key, self.now());
        let seated = move |tx: &Tx<'_>| {
            tx.agent_is_live(key, now)?;
            tx.seat_taken(key, at)
        };
        self.write_and_follow(seated, Self::seat).await?;
        Ok(Entered::Room(room.room()))
    }

    async fn settle_by_code(&self, new: &Newcomer, room: &RoomLive) -> Result<Entered, Fault> {
        let agent = &new.live.agent;
        self.make_puppet_for(room, &agent.user_id, &agent.display_name).await?;
        let _one = new.live.moving.lock().await;
        self.let_in(&new.live, room, Some(Way::Code), Who::Agent(agent.key)).await?;
        let (key, now) = (agent.key, self.now());
        self.store.write(move |tx| tx.agent_is_live(key, now)).await?;
        Ok(Entered::Room(room.room()))
    }

    async fn settle_at_door(
        self: &Arc<Self>,
        new: &Newcomer,
        room: &Arc<RoomLive>,
    ) -> Result<Entered, Fault> {
        let agent = &new.live.agent;
        self.make_puppet(&agent.user_id, &agent.display_name).await?;
        let (key, at, now) = (agent.key, room.key, self.now());
        let (places, door) = (self.settings.limits.waiting_knocks_per_room, room.clone());
        let write = move |tx: &Tx<'_>| {
            tx.agent_is_live(key, now)?;
            tx.knock(key, at, places, now)
        };
        let follow = move |app: &Arc<Self>, outcome: Outcome| {
            app.heard_at_door(&door, (at, key), outcome);
            outcome
        };
        match self.write_and_follow(write, follow).await? {
            Outcome::Waits { knock, .. } | Outcome::Declined(knock) => {
                Ok(Entered::Knock(shown(room.room().catalog_id, knock, now)))
            }
            Outcome::Full(retry_after) => Err(full(retry_after)),
            Outcome::Enter => Err(Fault::internal("an agent that is new was let in before")),
        }
    }

    /// Nobody was there any more to be told the token.
    fn abandon(self: &Arc<Self>, welcome: &Welcome) {
        let Some(live) = self.agents.get(welcome.agent.key) else { return };
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Err(fault) = app.end_agent(&live, Who::Bridge).await {
                tracing::warn!(%fault, cause = fault.cause, "cannot end an agent whose maker went away");
            }
        });
    }
}

pub(crate) fn one_of_room_and_code(room: Option<&str>, code: Option<&str>) -> Result<(), Fault> {
    if room.is_some() && code.is_some() {
        return Err(Fault::invalid(
            "code",
            "Give room or code, not both: a code says by itself which room it opens.",
        ));
    }
    Ok(())
}
