use parlour_domain::ids::{AgentKey, MessageId, RoomKey, Seq};
use parlour_store::{Exceptions, PersonKnock, SeatRow};
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};

use crate::live::LogChange;

/// What a step came to, once it is on disk.
#[derive(Debug)]
pub(crate) enum Effect {
    Log {
        room: RoomKey,
        changes: Vec<LogChange>,
    },
    Landed {
        agent: AgentKey,
        submission: MessageId,
        event_id: OwnedEventId,
    },
    Seat(SeatRow),
    /// What an agent cannot read in a room, and what it was given late.
    Exceptions {
        agent: AgentKey,
        room: RoomKey,
        now: Exceptions,
        arrival: Option<Seq>,
    },
    /// There is an invitation to follow into this room.
    Invited(OwnedRoomId),
    /// There is a tombstone to follow.
    Upgraded,
    /// The bot was asked for something.
    Errand,
    BotOut(RoomKey),
    TurnedAway {
        agent: AgentKey,
        room: RoomKey,
    },
    PersonKnocks(PersonKnock),
    PersonGone {
        room: RoomKey,
        user: OwnedUserId,
    },
}

impl Effect {
    /// The room whose log has a message more.
    pub(super) fn grew(&self) -> Option<RoomKey> {
        match self {
            Self::Log { room, changes } => {
                changes.iter().any(|c| matches!(c, LogChange::Added(_))).then_some(*room)
            }
            _ => None,
        }
    }
}
