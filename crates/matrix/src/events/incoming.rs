//! An event from a transaction, `/messages` or `/state`, sorted into what the bridge does with it.

use parlour_domain::{ids::MessageId, message::Body};
use ruma::{OwnedEventId, OwnedRoomId, RoomId};
use serde_json::value::RawValue;

use super::{HOPS_KEY, Head, NOTICE_KEY, SUBMISSION_KEY, StateEvent, body, command, relation, state};
use crate::json::{Fields, event_id};

/// What an event is to us. Reading one never fails and never panics; what cannot be placed is [`Incoming::Poison`].
#[derive(Clone, Debug)]
pub enum Incoming {
    Message(NewMessage),
    Edit(Edit),
    Redaction(Redaction),
    Reaction(Reaction),
    State(StateEvent),
    /// Cannot be read here; kept for whoever has the keys.
    Encrypted {
        head: Head,
        /// By which the echo of an own message is known.
        ciphertext: Option<String>,
        /// Names the room key.
        session_id: Option<String>,
    },
    /// Calls, votes and other things that are no messages.
    Ignored {
        head: Head,
    },
    /// A message that was deleted before it came to us.
    Redacted {
        head: Head,
    },
    /// No event of a homeserver in its right mind. `why` is for the log and quotes nothing.
    Poison {
        event_id: Option<OwnedEventId>,
        why: &'static str,
    },
}

/// Something that was said: text, pictures, files, stickers, polls.
#[derive(Clone, Debug)]
pub struct NewMessage {
    pub head: Head,
    pub event_type: String,
    /// As it came.
    pub content: Box<RawValue>,
    pub body: Body,
    /// See [`SUBMISSION_KEY`].
    pub submission: Option<MessageId>,
    /// See [`HOPS_KEY`]; 0 where it is missing or odd.
    pub hops: u32,
    /// See [`NOTICE_KEY`].
    pub notice: bool,
    /// Typed words (`m.text`), not what a program notes or an emote: only these can be a command.
    pub typed: bool,
    /// A command as clients with a form for it send it (MSC4391).
    pub command: Option<String>,
}

/// New words for an earlier message. Whether its sender wrote that one is for the caller to check.
#[derive(Clone, Debug)]
pub struct Edit {
    pub head: Head,
    pub target: OwnedEventId,
    /// `m.new_content`.
    pub content: Box<RawValue>,
    /// Without reply and thread: an edit cannot change those of the message (spec, "Event replacements").
    pub body: Body,
}

/// Somebody deleted `redacts`. Whether they may is for the caller to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    pub head: Head,
    pub redacts: OwnedEventId,
}

/// Somebody put a sign beside a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    pub head: Head,
    pub target: OwnedEventId,
    /// The sign, such as an emoji.
    pub key: String,
}

/// An event whose outside is in order.
pub(super) struct Event<'a> {
    pub(super) head: Head,
    pub(super) event_type: String,
    pub(super) fields: Fields<'a>,
    pub(super) raw_content: &'a RawValue,
    pub(super) content: Fields<'a>,
}

impl Incoming {
    /// Reads an event. `room` is the room it was fetched from, for events that do not name it themselves.
    #[must_use]
    pub fn parse(raw: &RawValue, room: Option<&RoomId>) -> Self {
        let Some(fields) = Fields::of(raw) else {
            return Self::Poison { event_id: None, why: "no JSON object" };
        };
        let event_id = fields.event_id("event_id");
        match Event::read(fields, event_id.clone(), room) {
            Ok(event) => event.sort(),
            Err(why) => Self::Poison { event_id, why },
        }
    }
}

/// The largest whole number that JSON readers agree on (2^53 - 1); what is beyond is nobody's time.
const LATEST_MS: i64 = 9_007_199_254_740_991;

impl<'a> Event<'a> {
    fn read(
        fields: Fields<'a>,
        id: Option<OwnedEventId>,
        room: Option<&RoomId>,
    ) -> Result<Self, &'static str> {
        let event_id = id.ok_or("no event id, or one that is none")?;
        let event_type = fields.str("type").ok_or("no type")?;
        let room_id = room_id(&fields, room, &event_type, &event_id)?;
        let sender = fields.user_id("sender").ok_or("no sender, or one that is none")?;
        let raw_content = fields.get("content").ok_or("no content")?;
        let content = Fields::of(raw_content).ok_or("its content is no object")?;
        let sent_at_ms = fields.int("origin_server_ts").unwrap_or(0).clamp(0, LATEST_MS);
        let head = Head { event_id, room_id, sender, sent_at_ms };
        Ok(Self { head, event_type, fields, raw_content, content })
    }

    fn sort(self) -> Incoming {
        if self.fields.has("state_key") {
            return state::read(self);
        }
        let said = body::is_message(&self.event_type) || self.event_type == "m.room.encrypted";
        match self.event_type.as_str() {
            _ if said && self.content.is_empty() => Incoming::Redacted { head: self.head },
            "m.room.encrypted" => Incoming::Encrypted {
                ciphertext: self.content.str("ciphertext"),
                session_id: self.content.str("session_id"),
                head: self.head,
            },
            "m.room.redaction" => self.redaction(),
            "m.reaction" => self.reaction(),
            _ if said => self.message(),
            _ => Incoming::Ignored { head: self.head },
        }
    }

    /// Room version 11 moved the key into the content; homeservers put it in both places, and in older rooms the one
    /// in the content is just what somebody wrote there.
    fn redaction(self) -> Incoming {
        let redacts = self.fields.str("redacts").or_else(|| self.content.str("redacts"));
        match redacts.as_deref().map(event_id) {
            Some(Some(redacts)) => Incoming::Redaction(Redaction { head: self.head, redacts }),
            Some(None) => {
                Incoming::Poison { event_id: Some(self.head.event_id), why: "redacts what is no event id" }
            }
            // Redacted itself.
            None => Incoming::Ignored { head: self.head },
        }
    }

    fn reaction(self) -> Incoming {
        match relation::annotation(&self.content) {
            Some((target, key)) => Incoming::Reaction(Reaction { head: self.head, target, key }),
            None => Incoming::Ignored { head: self.head },
        }
    }

    fn message(self) -> Incoming {
        if let Some((target, new)) = relation::edit(&self.content) {
            return self.edit(target, new);
        }
        Incoming::Message(NewMessage {
            body: body::read(&self.event_type, &self.content),
            submission: self.content.str(SUBMISSION_KEY).as_deref().and_then(MessageId::parse),
            hops: hops_in(&self.content),
            notice: self.content.is_true(NOTICE_KEY),
            typed: self.event_type == "m.room.message"
                && self.content.str("msgtype").as_deref() == Some("m.text"),
            command: command::read(&self.content),
            content: self.raw_content.to_owned(),
            event_type: self.event_type,
            head: self.head,
        })
    }

    fn edit(self, target: OwnedEventId, new: &RawValue) -> Incoming {
        let fields = Fields::of(new).unwrap_or_default();
        let body = Body { reply_to: None, thread: None, ..body::read(&self.event_type, &fields) };
        Incoming::Edit(Edit { head: self.head, target, content: new.to_owned(), body })
    }
}

/// The count in a message's content; see [`HOPS_KEY`].
#[must_use]
pub fn hops(content: &RawValue) -> u32 {
    Fields::of(content).as_ref().map_or(0, hops_in)
}

fn hops_in(content: &Fields<'_>) -> u32 {
    parlour_domain::hops::read(content.int(HOPS_KEY))
}

/// Since version 12 a room's id is that of its first event, which therefore need not name it (MSC4291).
fn room_id(
    fields: &Fields<'_>,
    room: Option<&RoomId>,
    event_type: &str,
    event_id: &OwnedEventId,
) -> Result<OwnedRoomId, &'static str> {
    if fields.has("room_id") {
        return fields.room_id("room_id").ok_or("its room id is none");
    }
    let own = || RoomId::parse(event_id.as_str().replacen('$', "!", 1)).ok();
    let first = event_type == "m.room.create";
    room.map(ToOwned::to_owned).or_else(|| own().filter(|_| first)).ok_or("no room id")
}
