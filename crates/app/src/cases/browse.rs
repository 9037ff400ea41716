use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    history::{Anchor, page},
    ids::MessageRef,
    limits::{DEFAULT_PAGE, MAX_PAGE},
    message::Message,
};

use crate::{app::App, caller::Caller, inbox::up_to_date, request::Browse, seen::see, view::Browsed};

impl App {
    /// Pages through a room's kept messages.
    ///
    /// # Errors
    /// `invalid_request` (limit, after, around, id), `room_required`, `room_not_joined`, `message_not_found`.
    pub async fn browse(self: &Arc<Self>, caller: &Caller, ask: Browse) -> Result<Browsed, Fault> {
        let limit = limit(ask.limit)?;
        let ends = Ends::read(&ask)?;
        self.put_back(caller).await;
        let agent = &caller.0;
        let (seat, room) = self.my_room(agent, ask.room_id.as_deref())?;
        room.load(&self.store, self.now()).await?;
        let mut messages = room.with_log(|log| log.in_order());
        let seat = up_to_date(agent, &seat);
        messages.retain(|m| seat.sees(m));
        let anchor = ends.find(&messages)?;
        let keep = |i: usize| {
            let m = &messages[i];
            ask.from.as_deref().is_none_or(|who| is_by(m, who))
                && (!ask.mentions_me || m.mentions(agent.user_id(), room.kind()))
        };
        let page = page(messages.len(), anchor, limit, keep);
        Ok(Browsed {
            messages: page.given.iter().filter_map(|&i| see(agent, &seat, &room, &messages[i])).collect(),
            next_cursor: page.next.map(|i| messages[i].event_id.clone()),
        })
    }
}

fn limit(limit: Option<u64>) -> Result<usize, Fault> {
    let limit = limit.map_or(Some(DEFAULT_PAGE), |l| usize::try_from(l).ok());
    limit
        .filter(|l| (1..=MAX_PAGE).contains(l))
        .ok_or_else(|| Fault::invalid("limit", "limit goes from 1 to 50."))
}

/// Where the caller wants to begin.
enum Ends {
    Newest,
    Before(MessageRef),
    After(MessageRef),
    Around(MessageRef),
}

impl Ends {
    fn read(ask: &Browse) -> Result<Self, Fault> {
        let filtered = ask.from.is_some() || ask.mentions_me;
        match (&ask.around, &ask.before, &ask.after) {
            (Some(around), None, None) if !filtered => Ok(Self::Around(reference(around)?)),
            (Some(_), ..) => Err(Fault::invalid(
                "around",
                "around shows one message with those next to it: leave out before, after, from and mentionsMe.",
            )),
            (None, Some(_), Some(_)) => {
                Err(Fault::invalid("after", "Give before or after, not both: a page goes in one direction."))
            }
            (None, Some(before), None) => Ok(Self::Before(reference(before)?)),
            (None, None, Some(after)) => Ok(Self::After(reference(after)?)),
            (None, None, None) => Ok(Self::Newest),
        }
    }

    fn find(&self, messages: &[Arc<Message>]) -> Result<Anchor, Fault> {
        let place = |reference| position(messages, reference).ok_or_else(not_found);
        Ok(match self {
            Self::Newest => Anchor::Newest,
            Self::Before(r) => Anchor::Before(place(r)?),
            Self::After(r) => Anchor::After(place(r)?),
            Self::Around(r) => Anchor::Around(place(r)?),
        })
    }
}

fn reference(text: &str) -> Result<MessageRef, Fault> {
    MessageRef::parse(text).ok_or_else(|| {
        Fault::invalid("id", "Give an eventId (it begins with $) or a messageId, copied from a message.")
    })
}

fn position(messages: &[Arc<Message>], reference: &MessageRef) -> Option<usize> {
    messages.iter().position(|m| match reference {
        MessageRef::Event(id) => m.event_id == *id,
        MessageRef::Message(id) => m.message_id == *id,
    })
}

fn not_found() -> Fault {
    Fault::new(
        Code::MessageNotFound,
        "That message is not among the room's newest 500 that you may see. Begin at the newest and page back.",
    )
}

/// By Matrix id, or by display name whatever its case.
fn is_by(message: &Message, who: &str) -> bool {
    if who.starts_with('@') {
        return message.sender == who;
    }
    message.author.display_name().to_lowercase() == who.to_lowercase()
}
