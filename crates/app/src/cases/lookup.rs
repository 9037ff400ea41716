use std::{collections::HashSet, sync::Arc};

use parlour_domain::{
    fault::Fault,
    ids::{MessageRef, Seq},
    limits::MAX_LOOKUP_IDS,
    message::Message,
    seat::Seat,
};

use crate::{app::App, caller::Caller, inbox::Scope, live::RoomLive, seen::see, view::Looked};

impl App {
    /// Messages by id, from whichever room.
    ///
    /// # Errors
    /// `invalid_request` (ids).
    pub async fn lookup(self: &Arc<Self>, caller: &Caller, ids: Vec<String>) -> Result<Looked, Fault> {
        if ids.is_empty() {
            return Err(Fault::invalid("ids", "ids is empty. Give 1 to 20 eventIds or messageIds."));
        }
        if ids.len() > MAX_LOOKUP_IDS {
            return Err(Fault::too_many_ids("ids", MAX_LOOKUP_IDS));
        }
        self.put_back(caller).await;
        let agent = &caller.0;
        let scope = self.scope(agent, None).await?;
        let mut looked = Looked { messages: vec![], missing: vec![] };
        let mut given: HashSet<Seq> = HashSet::new();
        for id in ids {
            let found = MessageRef::parse(&id).and_then(|r| find(&scope, &r));
            match found.and_then(|(seat, room, message)| see(agent, seat, room, &message)) {
                None => looked.missing.push(id),
                Some(seen) if given.insert(seen.message.seq) => looked.messages.push(seen),
                Some(_) => {}
            }
        }
        Ok(looked)
    }
}

/// The earliest that the agent may see, where several messages share an id.
fn find<'a>(scope: &'a Scope, reference: &MessageRef) -> Option<(&'a Seat, &'a RoomLive, Arc<Message>)> {
    let found = scope.iter().flat_map(|(seat, room)| {
        let seen =
            room.with_log(|log| log.all(reference).filter(|m| seat.sees(m)).cloned().collect::<Vec<_>>());
        seen.into_iter().map(move |m| (seat, &**room, m))
    });
    found.min_by_key(|(_, _, m)| (m.sent_at_ms, m.seq))
}
