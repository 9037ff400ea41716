//! Reading an agent's inbox out of the room logs.

use std::sync::Arc;

use parlour_domain::{
    fault::Fault,
    ids::{RoomKey, Seq},
    inbox::Entry,
    message::Message,
    seat::Seat,
    wake::Watch,
};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

/// The rooms that a call looks at, with the agent's seats in them.
pub(crate) type Scope = Vec<(Seat, Arc<RoomLive>)>;

/// An inbox at one moment.
pub(crate) struct Contents {
    pub(crate) scope: Scope,
    /// By arrival.
    pub(crate) entries: Vec<Entry>,
    /// What arrived later is not in it.
    through: Seq,
}

impl App {
    /// The rooms of an agent, or the one; their logs are in memory afterwards.
    pub(crate) async fn scope(&self, agent: &AgentLive, room: Option<RoomKey>) -> Result<Scope, Fault> {
        let seats = agent.mine().into_iter().filter(|s| room.is_none_or(|r| r == s.room));
        let scope: Scope = seats.filter_map(|s| Some((s.clone(), self.rooms.get(s.room)?))).collect();
        for (_, room) in &scope {
            room.load(&self.store, self.now()).await?;
        }
        Ok(scope)
    }

    /// What is in the inbox.
    pub(crate) fn contents(&self, agent: &AgentLive, scope: Scope, watch: &Watch) -> Contents {
        let (me, through) = (agent.user_id(), self.arrived_through());
        let mut entries = vec![];
        for (seat, room) in &scope {
            let setting = self.setting(room);
            let seat = &up_to_date(agent, seat);
            room.with_log(|log| {
                let held = log.arrived(seat.read_after(), through).filter(|m| seat.holds(m, me));
                entries.extend(held.map(|m| Entry::new(m.clone(), seat, watch, me, setting)));
            });
        }
        // what came late may have come after we began to look
        entries.retain(|e| e.arrival <= through);
        entries.sort_by_key(|e| e.arrival);
        Contents { scope, entries, through }
    }

    /// How much is in the inbox.
    pub(crate) fn pending(&self, agent: &AgentLive, scope: &Scope) -> usize {
        let (me, through) = (agent.user_id(), self.arrived_through());
        let held = |(seat, room): &(Seat, Arc<RoomLive>)| {
            let seat = up_to_date(agent, seat);
            let held = |m: &&Arc<Message>| seat.holds(m, me) && seat.arrival(m) <= through;
            room.with_log(|log| log.arrived(seat.read_after(), through).filter(held).count())
        };
        scope.iter().map(held).sum()
    }

    /// How many messages had left the logs at that moment before the agent acknowledged them. The disk is asked later:
    /// what has left since is still among the contents.
    pub(crate) async fn dropped(&self, agent: &AgentLive, contents: &Contents) -> Result<usize, Fault> {
        let (key, through) = (agent.key(), contents.through);
        let mut dropped = 0;
        for (seat, room) in &contents.scope {
            if room.with_log(|log| log.evicted_through()) > seat.acked {
                let (seat, held) = (seat.clone(), contents.held_in(seat.room));
                dropped += self.store.read(move |r| r.dropped(key, &seat, through, &held)).await?;
            }
        }
        Ok(dropped)
    }
}

impl Contents {
    fn held_in(&self, room: RoomKey) -> Vec<Seq> {
        self.entries.iter().map(|e| &e.message).filter(|m| m.room == room).map(|m| m.seq).collect()
    }
}

/// With what is withheld from the agent by now. Ask after having looked into the log, or after
/// [`App::arrived_through`]: both are told of a message only after it is known who may not read it.
pub(crate) fn up_to_date(agent: &AgentLive, seat: &Seat) -> Seat {
    let now = agent.seat_in(seat.room);
    now.map_or_else(
        || seat.clone(),
        |now| Seat { withheld: now.withheld, shown: now.shown, late: now.late, ..seat.clone() },
    )
}
