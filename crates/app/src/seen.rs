//! A message as one agent sees it.

use std::sync::Arc;

use parlour_domain::{
    limits::EXCERPT,
    message::{Message, cut},
    room::RoomKind,
    seat::Seat,
};

use crate::{
    inbox::up_to_date,
    live::{AgentLive, RoomLive},
    view::{Quote, Seen},
};

/// `None`: not for this agent after all.
pub(crate) fn see(agent: &AgentLive, seat: &Seat, room: &RoomLive, message: &Arc<Message>) -> Option<Seen> {
    let me = agent.user_id();
    let kind = room.kind();
    let answered = room.with_log(|log| log.event(message.body.reply_to.as_ref()?).cloned());
    let seat = up_to_date(agent, seat);
    let message = seat.read(message)?;
    let hidden = answered.as_ref().is_some_and(|m| !seat.sees(m));
    let answered = answered.and_then(|m| seat.read(&m));
    Some(Seen {
        room: room.room(),
        from_me: message.sender == me,
        mentions_me: message.mentions(me, kind),
        mentions_everyone: message.body.mentions_everyone && kind == RoomKind::Private,
        before_join: seat.before_join(&message),
        reply_to: reply_to(&message, answered.as_deref(), hidden),
        quote: answered.as_deref().map(quote),
        message,
    })
}

/// Where what it answers is not known any more, or not to the agent, its event id is all that is left to say.
fn reply_to(message: &Message, answered: Option<&Message>, hidden: bool) -> Option<String> {
    let event_id = message.body.reply_to.as_ref()?;
    let before = message.replied.as_ref().filter(|_| !hidden).map(|r| r.message_id);
    let message_id = answered.map(|m| m.message_id).or(before);
    Some(message_id.map_or_else(|| event_id.to_string(), |id| id.to_string()))
}

fn quote(message: &Message) -> Quote {
    let text = &message.body.text;
    Quote {
        message_id: message.message_id,
        actor_name: message.author.display_name().to_owned(),
        excerpt: cut(text, EXCERPT).unwrap_or(text).to_owned(),
    }
}
