//! What is missing before the messages that an answer hands over, as far as it concerns the agent.

use parlour_domain::{
    gaps::{Hole, undecryptable},
    ids::Seq,
    inbox::Entry,
    seat::Seat,
};

use crate::{
    inbox::{Scope, up_to_date},
    live::{AgentLive, RoomLive, RoomLog},
    view::Gap,
};

pub(crate) fn gaps(agent: &AgentLive, scope: &Scope, given: &[&Entry]) -> Vec<Gap> {
    let mut gaps = vec![];
    for (seat, room) in scope {
        let here: Vec<Seq> =
            given.iter().filter(|e| e.message.room == room.key).map(|e| e.message.seq).collect();
        if !here.is_empty() {
            let seat = up_to_date(agent, seat);
            room.with_log(|log| gaps.extend(of_room(agent, &seat, room, log, &here)));
        }
    }
    gaps
}

/// `given` by arrival.
fn of_room(agent: &AgentLive, seat: &Seat, room: &RoomLive, log: &RoomLog, given: &[Seq]) -> Vec<Gap> {
    let first = given.first().filter(|_| seat.hides).copied();
    let hidden = first.map(|before| (Hole { after: None, before }, "undecryptable_before_join".to_owned()));
    let lost = given.iter().filter_map(|seq| log.gap(*seq)).map(|gap| {
        // one that the agent may not see is as if it were not there
        let after = gap.after_event_id.clone();
        let after = after.filter(|id| log.event(id).is_none_or(|m| seat.sees(m)));
        (Hole { after, before: gap.before }, gap.reason.clone())
    });
    let messages = log.by_arrival().map(|m| &**m);
    let unread = undecryptable(seat, agent.user_id(), messages, log.unread()).into_iter();
    let unread = unread.map(|hole| (hole, "undecryptable".to_owned()));
    let all = hidden.into_iter().chain(lost).chain(unread);
    let gap = |(hole, reason): (Hole, String)| {
        let before = log.by_seq(hole.before).filter(|m| given.contains(&m.seq))?;
        Some(Gap {
            room_id: room.room_id.clone(),
            after_event_id: hole.after,
            before_event_id: before.event_id.clone(),
            reason,
        })
    };
    all.filter_map(gap).collect()
}
