use std::sync::Arc;

use parlour_domain::{fault::Fault, ids::RoomKey};
use parlour_store::{Tx, Who};

use crate::{
    app::App,
    caller::Caller,
    live::{AgentLive, RoomLive},
};

impl App {
    /// Closes a room for good: nobody speaks in it any more, what was said stays readable. Closed already: nothing
    /// changes.
    ///
    /// # Errors
    /// `room_not_owned`; `dependency_unavailable` where the homeserver could not be told yet. The bridge lets no agent
    /// speak there from then on, and goes on telling the homeserver in the background.
    pub async fn close_private_room(self: &Arc<Self>, caller: &Caller, room: &str) -> Result<(), Fault> {
        self.put_back(caller).await;
        let room = self.own_room_open_or_not(&caller.0, room)?;
        self.close_own(room, &caller.0, Who::Agent(caller.0.key())).await
    }

    /// The same, whoever wants it.
    pub(crate) async fn close_own(
        self: &Arc<Self>,
        room: Arc<RoomLive>,
        owner: &Arc<AgentLive>,
        who: Who,
    ) -> Result<(), Fault> {
        let (at, by) = (room.key, self.by(who));
        if !room.closed() {
            let write = move |tx: &Tx<'_>| tx.close_room(at, &by);
            self.write_and_follow(write, move |app, ()| app.closed(at)).await?;
        }
        let (app, agent) = (self.clone(), owner.clone());
        let silencing =
            async move { app.silence(&room, agent.user_id()).await.map_err(|e| app.homeserver_fault(e)) };
        let silenced = self.to_the_end(silencing, |_, ()| {}).await;
        if silenced.is_err() {
            self.start_silencing();
        }
        silenced
    }

    /// Memory follows the end of a room.
    pub(crate) fn closed(&self, room: RoomKey) {
        if let Some(room) = self.rooms.get(room) {
            room.set_closed();
        }
        self.doors.shut(room);
    }
}
