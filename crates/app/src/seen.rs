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
    live::{AgentLive, RoomLive, RoomLog},
    view::{Quote, Seen},
};

pub(crate) fn see(agent: &AgentLive, seat: &Seat, room: &RoomLive, message: &Arc<Message>) -> Seen {
    let me = agent.user_id();
    let kind = room.kind();
    let answered = room.with_log(|log| answered(log, seat, message));
    let answered = answered.filter(|m| up_to_date(agent, seat).sees(m));
    Seen {
        room: room.room(),
        from_me: message.sender == me,
        mentions_me: message.mentions(me, kind),
        mentions_everyone: message.body.mentions_everyone && kind == RoomKind::Private,
        before_join: seat.before_join(message),
        reply_to: reply_to(message, answered.as_deref()),
        quote: answered.as_deref().map(quote),
        message: message.clone(),
    }
}

/// The message it answers, where that is kept and the agent may see it.
fn answered(log: &RoomLog, seat: &Seat, message: &Message) -> Option<Arc<Message>> {
    log.event(message.body.reply_to.as_ref()?).filter(|m| seat.sees(m)).cloned()
}

/// Where what it answers is not known any more, its event id is all that is left to say.
fn reply_to(message: &Message, answered: Option<&Message>) -> Option<String> {
    let event_id = message.body.reply_to.as_ref()?;
    let message_id = answered.map(|m| m.message_id).or(message.replied.as_ref().map(|r| r.message_id));
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
