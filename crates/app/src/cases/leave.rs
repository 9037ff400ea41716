use std::sync::Arc;

use parlour_domain::{fault::Fault, ids::RoomKey};
use parlour_matrix::HsError;
use parlour_store::{Tx, Who};
use ruma::OwnedRoomId;

use crate::{
    app::App,
    caller::Caller,
    live::{AgentLive, RoomLive},
    manners::News,
};

/// How long a caller waits for its puppet to be out of the rooms. It goes on in the background after that.
const PATIENCE_MS: i64 = 5_000;
const FIRST_PAUSE_MS: i64 = 2_000;
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;

impl App {
    /// Ends an agent: its token is void and its rooms are closed from here on, whatever the homeserver says to leaving
    /// the rooms.
    ///
    /// # Errors
    /// `dependency_unavailable`: the store could not void the token.
    pub async fn leave(self: &Arc<Self>, caller: &Caller) -> Result<(), Fault> {
        let (app, agent) = (self.clone(), caller.0.clone());
        self.to_the_end(async move { app.end_agent(&agent, Who::Agent(agent.key())).await }, |_, ()| {}).await
    }

    pub(crate) async fn end_agent(self: &Arc<Self>, agent: &Arc<AgentLive>, who: Who) -> Result<(), Fault> {
        let _one = agent.moving.lock().await;
        let (key, by) = (agent.key(), self.by(who));
        let write = move |tx: &Tx<'_>| {
            tx.agent_leaves(key, &by)?;
            tx.forget_knocks(key)?;
            tx.close_rooms_of(key, &by)
        };
        let follow = move |app: &Arc<Self>, closed: Vec<RoomKey>| {
            app.doors.forget(key);
            app.bot.at_door.notify_one();
            closed.into_iter().for_each(|room| app.closed(room));
        };
        self.write_and_follow(write, follow).await?;
        self.agents.end(agent);
        self.hub.nudge(key);
        self.manners.tell(News::Ended(key));
        let out = self.start_leaving(agent.clone());
        // a look at the rooms right after sees it gone, unless the homeserver is slow
        tokio::select! {
            _ = out => {}
            () = self.clock.sleep_until(self.now() + PATIENCE_MS) => {}
        }
        Ok(())
    }

    /// Takes a puppet out of its rooms, however long that takes.
    pub(crate) fn start_leaving(self: &Arc<Self>, agent: Arc<AgentLive>) -> tokio::task::JoinHandle<()> {
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut pause_ms = FIRST_PAUSE_MS;
            while !app.leave_all(&agent).await {
                let wake = app.clock.sleep_until(app.now() + pause_ms);
                tokio::select! {
                    () = wake => pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS),
                    // the next start goes on where this one ends
                    () = app.tasks.stopped() => return,
                }
            }
        })
    }

    /// Whether it is out of all of them.
    async fn leave_all(&self, agent: &AgentLive) -> bool {
        // while it can still say so
        if !self.silence_rooms_of(agent).await {
            return false;
        }
        if let Err(error) = self.leave_rooms(agent).await {
            tracing::info!(%error, agent = %agent.agent.id, "cannot leave a room yet");
            self.outage.notify_one();
            return false;
        }
        let key = agent.key();
        let gone = self.store.write(move |tx| tx.agent_is_gone(key)).await;
        if gone.is_ok() {
            self.agents.forget(agent);
        }
        gone.is_ok()
    }

    async fn leave_rooms(&self, agent: &AgentLive) -> Result<(), HsError> {
        for room in self.rooms_to_leave(agent).await? {
            self.client.leave(agent.user_id(), &room, None).await?;
        }
        Ok(())
    }

    /// Where it has a seat, and where the homeserver says its puppet is: a join may have succeeded that nobody noted,
    /// and its event may not have come yet.
    async fn rooms_to_leave(&self, agent: &AgentLive) -> Result<Vec<OwnedRoomId>, HsError> {
        let stands = |membership: &str| membership == "join" || membership == "knock";
        let there = |r: &Arc<RoomLive>| {
            r.with_members(|m| m.get(agent.user_id()).is_some_and(|m| stands(&m.membership)))
        };
        let known = self.rooms.all().into_iter().filter(|r| agent.is_in(r.key) || there(r));
        let known: Vec<_> = known.map(|r| r.room_id.clone()).collect();
        if !known.is_empty() {
            return Ok(known);
        }
        match self.client.joined_rooms(agent.user_id()).await {
            // there is no such user: the join was cut off before the puppet was made, or somebody deactivated it
            Err(error) if error.is_forbidden() || error.has_code("M_USER_DEACTIVATED") => Ok(vec![]),
            joined => joined,
        }
    }
}
