use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::AgentKey,
};
use parlour_matrix::HsError;
use parlour_store::{SeatRow, Tx, Who};
use ruma::UserId;

use super::agent_id;
use crate::{app::App, caller::Caller, live::RoomLive};

impl App {
    /// Puts out an agent that came by code or by knocking. Out already: nothing changes.
    ///
    /// # Errors
    /// `room_not_owned`, `agent_not_in_room`, `forbidden`, `dependency_unavailable`.
    pub async fn remove_agent(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
        agent: &str,
    ) -> Result<(), Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        let id = agent_id(agent, not_in_room)?;
        let key = self.store.read(move |r| r.agent_key(id)).await?.ok_or_else(not_in_room)?;
        let at = room.key;
        let pass = self.store.read(move |r| r.pass(key, at)).await?;
        pass.filter(|p| p.way.may_be_removed()).ok_or_else(not_in_room)?;
        let (app, owner) = (self.clone(), caller.0.clone());
        let removing = async move { app.put_out(&room, owner.user_id(), key, Who::Agent(owner.key())).await };
        self.to_the_end(removing, |_, ()| {}).await
    }

    /// Our own word first, the homeserver's after: whatever that says, the agent reads and says nothing more here.
    /// `kicker`: who does it on the homeserver; `who`: whose will it is.
    pub(crate) async fn put_out(
        &self,
        room: &RoomLive,
        kicker: &UserId,
        key: AgentKey,
        who: Who,
    ) -> Result<(), Fault> {
        let agent = self.agents.get(key);
        let _one = match &agent {
            Some(agent) => Some(agent.moving.lock().await),
            None => None,
        };
        let (at, by) = (room.key, self.by(who));
        let write = move |tx: &Tx<'_>| tx.put_out(key, at, false, &by);
        let follow =
            move |app: &Arc<Self>, left: Option<SeatRow>| left.into_iter().for_each(|row| app.seat(row));
        self.write_and_follow(write, follow).await?;
        self.hub.nudge(key);
        match &agent {
            // also where no event has told of its join yet
            Some(agent) => self.kick(room, kicker, agent.user_id()).await,
            None => Ok(()),
        }
    }

    async fn kick(&self, room: &RoomLive, by: &UserId, puppet: &UserId) -> Result<(), Fault> {
        match self.client.kick(by, &room.room_id, puppet, None).await {
            // no power (any more), or the puppet was faster: then it goes by itself, if it is still there
            Err(HsError::Refused { .. }) => {
                let left = self.client.leave(puppet, &room.room_id, None).await;
                left.map_err(|e| self.homeserver_fault(e))
            }
            kicked => kicked.map_err(|e| self.homeserver_fault(e)),
        }
    }
}

fn not_in_room() -> Fault {
    Fault::new(
        Code::AgentNotInRoom,
        "This agent did not come into the room by code or by knocking, so there is nobody to remove. Copy the agentId from \
         the actor of one of its messages.",
    )
}
