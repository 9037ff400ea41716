//! What an event comes to, before it is written down.

use parlour_domain::{
    agent::Author,
    ids::{AgentKey, MessageId, RoomKey},
    knock::Answer,
    visibility::Visibility,
};
use parlour_matrix::crypto::KeyCounts;
use parlour_store::{
    BotInvitation, By, Invitation, KeyFrom, ListedBan, Member, NewEdit, NewEntry, NewErrand, PersonKnock,
    SealedEcho, Waiting,
};
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};

use super::sealed::Unsealed;

/// One thing to write down.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A message; and the submission that its arrival settles.
    Append {
        entry: NewEntry,
        settles: Option<(AgentKey, MessageId)>,
    },
    Edit(NewEdit),
    Redact {
        room: RoomKey,
        event_id: OwnedEventId,
        by: OwnedUserId,
        any: bool,
    },
    Member {
        room: RoomKey,
        member: Member,
    },
    Joined {
        agent: AgentKey,
        room: RoomKey,
    },
    /// Out of a room, by itself.
    Left {
        agent: AgentKey,
        room: RoomKey,
    },
    /// Out of a room, by somebody else.
    PutOut {
        agent: AgentKey,
        room: RoomKey,
        banned: bool,
        by: By,
    },
    /// A person knocks on a room that an agent made.
    PersonKnocks(PersonKnock),
    /// And does so no more.
    PersonGone {
        room: RoomKey,
        user: OwnedUserId,
        answer: Answer,
        by: By,
    },
    /// Put out by somebody before it was let in.
    TurnedAway {
        agent: AgentKey,
        room: RoomKey,
        by: OwnedUserId,
        at_ms: i64,
    },
    /// A person invited a puppet.
    Invited(Invitation),
    /// A person invited the bot, by this event.
    BotInvited {
        event_id: OwnedEventId,
        invitation: BotInvitation,
    },
    /// The bot is out of a room.
    BotOut {
        room: RoomKey,
        by: By,
    },
    /// Something was said to the bot, or a sign of its was pressed.
    Errand(NewErrand),
    /// Meant for the bot, and nothing to be done about (any more); or said by somebody whom nobody is to hear.
    Heard {
        event_id: OwnedEventId,
    },
    /// A moderator decided about somebody whom the bridge had banned because of a list.
    BanNotOurs(ListedBan),
    /// The room goes on elsewhere.
    Successor {
        room: RoomKey,
        to: OwnedRoomId,
    },
    /// `by`: `None` where it was read, and not done just now.
    Name {
        room: RoomKey,
        name: Option<String>,
        by: Option<By>,
    },
    Visibility {
        room: RoomKey,
        visibility: Visibility,
    },
    Power {
        room: RoomKey,
        power: String,
    },
    Encrypted {
        room: RoomKey,
    },
    /// Anybody may join, or not any more.
    Open {
        room: RoomKey,
        open: bool,
    },
    /// A person's event, decrypted.
    Unsealed(Unsealed),
    /// One that nobody can read yet.
    Wait(Waiting),
    /// One that no key will ever open.
    GiveUp {
        event_id: OwnedEventId,
    },
    /// A key came for an agent that could not read what others could: a message or an edit.
    Readable {
        agent: AgentKey,
        room: RoomKey,
        event_id: OwnedEventId,
    },
    /// An agent has a room key: what was said with it before it came may be shared history.
    HasKey {
        agent: AgentKey,
        room: RoomKey,
        key: KeyFrom,
    },
    /// An own encrypted message has come back.
    OwnEcho {
        agent: AgentKey,
        author: Author,
        sender: OwnedUserId,
        room: RoomKey,
        digest: [u8; 32],
        echo: SealedEcho,
        /// Its room key, and its place in that.
        session: Option<(String, u32)>,
        received_at_ms: i64,
    },
    /// What waited for a device was taken up to here.
    Pulled {
        account: i64,
        since: String,
    },
    /// What the homeserver has left of a device's keys.
    Counts {
        account: i64,
        counts: KeyCounts,
    },
}

impl Step {
    /// The event that it is about, where that takes a place in the room's order.
    pub(crate) fn event(&self) -> Option<&OwnedEventId> {
        match self {
            Self::Append { entry, .. } => Some(&entry.event_id),
            Self::Edit(edit) => Some(&edit.event_id),
            Self::Unsealed(unsealed) => Some(&unsealed.event_id),
            Self::Wait(waiting) => Some(&waiting.event_id),
            _ => None,
        }
    }
}
