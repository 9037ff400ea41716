//! A message as agents read it, and what follows from its content alone.

use ruma::{OwnedEventId, OwnedUserId, UserId};
use serde::{Deserialize, Serialize};

use crate::{
    agent::Author,
    ids::{MessageId, Pos, RoomKey, Seq},
    room::RoomKind,
    visibility::Visibility,
};

/// One message of a room's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub seq: Seq,
    pub pos: Pos,
    pub room: RoomKey,
    pub event_id: OwnedEventId,
    pub message_id: MessageId,
    pub sender: OwnedUserId,
    pub author: Author,
    /// The event's `origin_server_ts`.
    pub sent_at_ms: i64,
    /// When the bridge got it: what settling and digests count from.
    pub received_at_ms: i64,
    pub visibility: Visibility,
    /// Came encrypted, or was sent so: who was not in then cannot read it, whatever the visibility.
    pub encrypted: bool,
    pub body: Body,
    /// See [`crate::hops`]; 0 for what people say.
    pub hops: u32,
    /// What `body.reply_to` was when this message came in; `None` where that message was not kept.
    pub replied: Option<Replied>,
    /// Its author's later wordings, oldest first. Who may read the message may not be allowed to read them.
    pub edits: Vec<Edit>,
}

/// New words for a message, by its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub event_id: OwnedEventId,
    pub told: Told,
    pub text: String,
    pub attachment_name: Option<String>,
}

/// When and how something came to be known: what decides who may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub seq: Seq,
    pub pos: Pos,
    pub visibility: Visibility,
    pub encrypted: bool,
}

/// What a message says, read from its content. Whom it mentions and what it answers is not changed by edits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<OwnedUserId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mentions_everyone: bool,
    /// These are not the first words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// A real reply; the fallback reply of a thread is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<OwnedEventId>,
    /// The root of the thread it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<OwnedEventId>,
}

/// The message that another one answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replied {
    pub message_id: MessageId,
    pub sender: OwnedUserId,
}

impl Message {
    #[must_use]
    pub fn told(&self) -> Told {
        Told { seq: self.seq, pos: self.pos, visibility: self.visibility, encrypted: self.encrypted }
    }

    /// The message as it reads after one of its edits.
    #[must_use]
    pub fn worded(&self, edit: &Edit) -> Self {
        let (text, attachment_name) = (edit.text.clone(), edit.attachment_name.clone());
        Self {
            body: Body { text, attachment_name, edited: true, ..self.body.clone() },
            edits: vec![],
            ..self.clone()
        }
    }

    /// Contract section 4, `mentionsMe`.
    #[must_use]
    pub fn mentions(&self, me: &UserId, kind: RoomKind) -> bool {
        self.body.mentions.iter().any(|m| m == me)
            || self.replied.as_ref().is_some_and(|r| r.sender == me)
            || (self.body.mentions_everyone && kind == RoomKind::Private && self.sender != me)
    }

    /// Mentions somebody without `me`, or answers somebody else: a word between others.
    #[must_use]
    pub fn addressed_to_others(&self, me: &UserId) -> bool {
        let named = !self.body.mentions.is_empty() && !self.body.mentions.iter().any(|m| m == me);
        named || self.replied.as_ref().is_some_and(|r| r.sender != me)
    }
}

/// The first `limit` code points of a text; `None` where it is not longer.
#[must_use]
pub fn cut(text: &str, limit: usize) -> Option<&str> {
    text.char_indices().nth(limit).map(|(at, _)| &text[..at])
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    pub(crate) const ADA: &str = "@ada:x";
    pub(crate) const BOB: &str = "@bob:x";

    /// Message `n` of room 1, by `sender`, `n` seconds after the epoch, at position `n`. Senders that begin with
    /// `@agent_` are agents.
    pub(crate) fn said(n: i64, sender: &str) -> Message {
        let display_name = sender.to_owned();
        let id = crate::ids::AgentId::new(0, [0; 10]);
        let author = if sender.starts_with("@agent_") {
            Author::Agent { key: crate::ids::AgentKey(7), id, display_name }
        } else {
            Author::Person { display_name, avatar_url: None }
        };
        Message {
            seq: Seq(n),
            pos: Pos(n),
            room: RoomKey(1),
            event_id: event(n),
            message_id: message_id(n),
            sender: UserId::parse(sender).unwrap(),
            author,
            sent_at_ms: n * 1_000,
            received_at_ms: n * 1_000,
            visibility: Visibility::Shared,
            encrypted: false,
            hops: 0,
            body: Body { text: format!("message {n}"), ..Body::default() },
            replied: None,
            edits: vec![],
        }
    }

    /// Edit `n` of it, made like the message but at place and arrival `n`.
    pub(crate) fn edit(n: i64, of: &Message) -> Edit {
        Edit {
            event_id: event(n),
            told: Told { seq: Seq(n), pos: Pos(n), ..of.told() },
            text: format!("edit {n}"),
            attachment_name: None,
        }
    }

    pub(crate) fn event(n: i64) -> OwnedEventId {
        ruma::EventId::parse(format!("$event{n}")).unwrap()
    }

    pub(crate) fn message_id(n: i64) -> MessageId {
        MessageId::of_event(n, &event(n))
    }

    impl Message {
        pub(crate) fn mentioning(mut self, users: &[&str]) -> Self {
            self.body.mentions = users.iter().map(|u| UserId::parse(*u).unwrap()).collect();
            self
        }

        pub(crate) fn replying(mut self, n: i64, to: &str) -> Self {
            self.body.reply_to = Some(event(n));
            self.replied = Some(Replied { message_id: message_id(n), sender: UserId::parse(to).unwrap() });
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::{samples::*, *};

    #[test]
    fn a_mention_is_by_name_by_reply_or_by_everyone_in_a_private_room() {
        let me = user_id!("@agent_me:x");
        let mine = |m: Message, kind| m.mentions(me, kind);
        assert!(!mine(said(1, ADA), RoomKind::Lobby));
        assert!(mine(said(1, ADA).mentioning(&["@agent_me:x"]), RoomKind::Lobby));
        assert!(mine(said(2, ADA).replying(1, "@agent_me:x"), RoomKind::Lobby));
        assert!(!mine(said(2, ADA).replying(1, BOB), RoomKind::Lobby));
        let mut everyone = said(3, ADA);
        everyone.body.mentions_everyone = true;
        assert!(mine(everyone.clone(), RoomKind::Private));
        assert!(!mine(everyone.clone(), RoomKind::Lobby));
        everyone.sender = me.to_owned();
        assert!(!mine(everyone, RoomKind::Private));
    }

    #[test]
    fn texts_are_cut_between_code_points() {
        assert_eq!(cut("añ😀b", 3), Some("añ😀"));
        assert_eq!(cut("añ😀", 3), None);
        assert_eq!(cut("", 0), None);
    }
}
