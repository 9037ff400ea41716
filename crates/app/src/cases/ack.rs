use std::sync::Arc;

use parlour_domain::{
    fault::Fault,
    ids::RoomKey,
    inbox::{Ack, acknowledge},
    seat::Seat,
};
use parlour_store::Tx;
use ruma::EventId;

use crate::{
    app::App,
    caller::Caller,
    inbox::{Scope, up_to_date},
    live::{AgentLive, RoomLog},
    manners::News,
    view::Acked,
};

impl App {
    /// Acknowledges everything that arrived up to and with a message, in all rooms or in one.
    ///
    /// # Errors
    /// `room_not_joined`.
    pub async fn ack(
        self: &Arc<Self>,
        caller: &Caller,
        event_id: &str,
        room_id: Option<&str>,
    ) -> Result<Acked, Fault> {
        self.put_back(caller).await;
        let agent = &caller.0;
        let room = room_id.map(|r| self.my_room(agent, Some(r))).transpose()?.map(|(seat, _)| seat.room);
        let _one = agent.moving.lock().await;
        let scope = self.scope(agent, room).await?;
        let ack = EventId::parse(event_id).ok();
        let ack = ack.and_then(|id| find(&id, agent, &scope).or_else(|| gone(&id, agent, &scope)));
        let Some(ack) = ack.map(|ack| Ack { room, ..ack }) else {
            return Ok(Acked { acknowledged: false, pending: self.pending(agent, &scope) });
        };
        let (key, live) = (agent.key(), agent.clone());
        let told = hiding_told(agent, &scope, ack);
        let write = move |tx: &Tx<'_>| {
            told.iter().try_for_each(|room| tx.hiding_told(key, *room))?;
            tx.acknowledge(key, ack)?;
            Ok(told)
        };
        let follow = move |_: &Arc<Self>, told: Vec<RoomKey>| {
            live.acknowledged(ack);
            told.into_iter().for_each(|room| live.hiding_told(room));
        };
        self.write_and_follow(write, follow).await?;
        self.manners.tell(News::Acknowledged(agent.key(), ack));
        let scope = self.scope(agent, room).await?;
        Ok(Acked { acknowledged: true, pending: self.pending(agent, &scope) })
    }
}

/// The rooms of which a message is acknowledged on which was told that something is hidden.
fn hiding_told(agent: &AgentLive, scope: &Scope, ack: Ack) -> Vec<RoomKey> {
    let me = agent.user_id();
    let told = |seat: &Seat, log: &RoomLog| {
        log.by_arrival().any(|m| seat.holds(m, me) && seat.arrival(m) <= ack.up_to)
    };
    let hiding = scope.iter().filter(|(seat, _)| seat.hides);
    let hiding = hiding.filter(|(seat, room)| room.with_log(|log| told(&up_to_date(agent, seat), log)));
    hiding.map(|(seat, _)| seat.room).collect()
}

fn find(event_id: &EventId, agent: &AgentLive, scope: &Scope) -> Option<Ack> {
    scope.iter().find_map(|(seat, room)| {
        let message = room.with_log(|log| log.event(event_id).cloned())?;
        acknowledge(&message, seat, None, agent.user_id())
    })
}

/// One that left the inbox since it was handed over, redacted say: what came with it and before it was read all the same,
/// and would be handed over for ever to an agent that acknowledges the last it was given.
fn gone(event_id: &EventId, agent: &AgentLive, scope: &Scope) -> Option<Ack> {
    let (room, up_to) = agent.handed(event_id)?;
    let (seat, _) = scope.iter().find(|(seat, _)| seat.room == room)?;
    (seat.read_after() < up_to).then_some(Ack { up_to, room: None })
}
