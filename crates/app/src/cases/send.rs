use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    fault::{Code, Fault},
    ids::{MessageId, MessageRef},
    limits::{MAX_MENTIONS, MAX_TEXT},
    message::{Body, Message},
    names::is_blank,
    room::RoomKind,
    seat::Seat,
};
use parlour_matrix::events::{Outgoing, Reply, content};
use parlour_store::Claim;
use ruma::{OwnedUserId, UserId};
use sha2::{Digest, Sha256};

use crate::{
    app::App,
    caller::Caller,
    inbox::up_to_date,
    live::{AgentLive, RoomLive},
    lobbies::lobbies_full,
    manners::News,
    quotas::speaking_charges,
    request::Send,
    sending::Order,
    view::Sent,
};

impl App {
    /// Says something, once, however often it is asked with the same submission id.
    ///
    /// # Errors
    /// In this order: `room_required`, `room_not_joined`, `invalid_message` (submissionId), `submission_conflict`,
    /// `forbidden` (closed), `dependency_unavailable` (encrypted), `invalid_message` (mentionsEveryone, text, mentions, replyTo),
    /// `rate_limited`, `capacity_reached`, `forbidden`, `dependency_unavailable`.
    pub async fn send(self: &Arc<Self>, caller: &Caller, ask: Send) -> Result<Sent, Fault> {
        self.put_back(caller).await;
        let agent = caller.0.clone();
        let (seat, room) = self.my_room(&agent, ask.room_id.as_deref())?;
        let id = self.submission_id(ask.submission_id.as_deref())?;
        let digest = digest(&room, &ask);
        // one that we have just drawn was not used before
        if ask.submission_id.is_some()
            && let Some(sent) = self.submitted_before(&agent, id, digest, &room).await?
        {
            return Ok(sent);
        }
        if room.closed() {
            return Err(closed());
        }
        self.ready_to_encrypt(agent.user_id(), &room).await?;
        room.load(&self.store, self.now()).await?;
        let order = self.order(&agent, &seat, &room, &ask, (id, digest))?;
        let sent = self.publish(order).await;
        if sent.is_ok() {
            self.manners.tell(News::Spoke(agent.key(), room.key));
        }
        sent
    }

    fn submission_id(&self, text: Option<&str>) -> Result<MessageId, Fault> {
        let Some(text) = text else { return Ok(MessageId::new(self.now(), self.chance.bytes())) };
        let v7 = MessageId::parse(text).filter(|id| id.0.get_version_num() == 7);
        v7.ok_or_else(|| {
            invalid("submissionId", "submissionId must be a version 7 UUID, a new one for each message.")
        })
    }

    /// Everything about a message that is checked before it costs anything.
    fn order(
        &self,
        agent: &Arc<AgentLive>,
        seat: &Seat,
        room: &Arc<RoomLive>,
        ask: &Send,
        (id, digest): (MessageId, [u8; 32]),
    ) -> Result<Order, Fault> {
        everyone_allowed(ask, room.kind())?;
        text_allowed(&ask.text)?;
        let mentions = mentions(&ask.mentions)?;
        let answered =
            ask.reply_to.as_deref().map(|r| answered(r, &up_to_date(agent, seat), room)).transpose()?;
        if !seat.present() {
            return Err(lobbies_full());
        }
        let outgoing = Outgoing {
            text: ask.text.clone(),
            mentions: mentions.clone(),
            mentions_everyone: ask.mentions_everyone,
            reply: answered.as_deref().map(reply),
            submission: id,
            hops: self.hops(agent, room, answered.as_deref()),
        };
        let content = content(&outgoing, agent.user_id())
            .map_err(|e| invalid(e.field, "The message is too large for Matrix. Shorten it."))?;
        let body = serde_json::to_string(&body(outgoing, agent.user_id())).map_err(Fault::internal)?;
        Ok(Order {
            claim: Claim {
                agent: agent.key(),
                id,
                room: room.key,
                digest,
                content: content.get().to_owned(),
                body,
                sealed: None,
                mentions,
                claimed_at_ms: self.now(),
            },
            charges: match room.kind() {
                RoomKind::Lobby => speaking_charges(&self.settings.limits, agent.key(), room.key),
                RoomKind::Private => vec![],
            },
            agent: agent.clone(),
            room: room.clone(),
        })
    }
}

fn invalid(field: &str, message: &str) -> Fault {
    Fault::new(Code::InvalidMessage, message).field(field)
}

/// Also where the homeserver would let its maker speak: creators of room version 12 stand above all power levels.
fn closed() -> Fault {
    Fault::new(
        Code::Forbidden,
        "This room is closed: it can be read, but nobody speaks in it any more. Speak in another room.",
    )
}

fn everyone_allowed(ask: &Send, kind: RoomKind) -> Result<(), Fault> {
    if ask.mentions_everyone && kind == RoomKind::Lobby {
        return Err(invalid(
            "mentionsEveryone",
            "Public lobbies have no @everyone. Mention those you mean by Matrix user id.",
        ));
    }
    Ok(())
}

fn text_allowed(text: &str) -> Result<(), Fault> {
    let length = text.chars().count();
    if length > MAX_TEXT {
        return Err(invalid(
            "text",
            "text is longer than 4000 characters. Shorten it or split it into several messages.",
        ));
    }
    if is_blank(text) {
        return Err(invalid("text", "text is empty. Say something in 1 to 4000 characters."));
    }
    if text.contains('\0') {
        return Err(invalid("text", "text contains U+0000, which Matrix servers refuse. Leave it out."));
    }
    Ok(())
}

fn mentions(ids: &[String]) -> Result<Vec<OwnedUserId>, Fault> {
    if ids.len() > MAX_MENTIONS {
        return Err(invalid("mentions", "mentions takes at most 200 Matrix user ids."));
    }
    let user = |id: &String| {
        UserId::parse(id).map_err(|_| {
            invalid(
                "mentions",
                "mentions takes Matrix user ids such as @ada:example.org, copied from messages' actor.",
            )
        })
    };
    let all = ids.iter().map(user).collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    Ok(all.into_iter().filter(|u| seen.insert(u.clone())).collect())
}

fn answered(text: &str, seat: &Seat, room: &RoomLive) -> Result<Arc<Message>, Fault> {
    let unknown = || {
        invalid(
            "replyTo",
            "replyTo names no message of this room that is kept. Copy the messageId of the message you answer.",
        )
    };
    let reference = MessageRef::parse(text).ok_or_else(unknown)?;
    room.with_log(|log| log.find(&reference).filter(|m| seat.sees(m)).cloned()).ok_or_else(unknown)
}

fn reply(message: &Message) -> Reply {
    Reply {
        event_id: message.event_id.clone(),
        sender: message.sender.clone(),
        thread: message.body.thread.clone(),
    }
}

/// What the message will read like in the log, without waiting for its echo.
fn body(outgoing: Outgoing, me: &UserId) -> Body {
    let mut mentions = outgoing.mentions;
    let (mut reply_to, mut thread) = (None, None);
    if let Some(reply) = outgoing.reply {
        if reply.sender != me && !mentions.contains(&reply.sender) {
            mentions.push(reply.sender);
        }
        reply_to = Some(reply.event_id);
        thread = reply.thread;
    }
    Body {
        text: outgoing.text,
        attachment_name: None,
        mentions,
        mentions_everyone: outgoing.mentions_everyone,
        edited: false,
        reply_to,
        thread,
    }
}

/// Tells whether two requests with one submission id ask for the same.
fn digest(room: &RoomLive, ask: &Send) -> [u8; 32] {
    let mut hash = Sha256::new();
    let parts = [room.room_id.as_str(), &ask.text, ask.reply_to.as_deref().unwrap_or_default()];
    for part in parts.into_iter().chain(ask.mentions.iter().map(String::as_str)) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update([u8::from(ask.mentions_everyone)]);
    hash.finalize().into()
}
