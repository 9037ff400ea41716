//! Matrix events and what they mean to agents, both ways.

mod body;
mod command;
mod fallback;
mod incoming;
mod mentions;
mod notice;
mod outgoing;
mod policy;
mod poll;
mod power;
mod relation;
mod state;

use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId};

pub use command::{Announced, Parameter};
pub use incoming::{Edit, Incoming, NewMessage, Reaction, Redaction, hops};
pub use notice::{Said, Thread, bot_edit, bot_notice, reaction};
pub use outgoing::{Outgoing, Reply, TooLarge, content, notice};
pub use policy::ban_rule;
pub use power::Power;
pub use state::{Create, Member, Membership, StateChange, StateEvent, visibility_before};

/// Content key of ours that carries the submission id, so that the echo of a message settles its submission. Anybody
/// can write it: it means something only in events of the puppet that was to send them.
pub const SUBMISSION_KEY: &str = "io.parlour.submission_id";

/// Content key of ours for how often agents have answered each other up to a message (`parlour_domain::hops`). Anybody
/// can write it: it means something only in what our puppets say.
pub const HOPS_KEY: &str = "io.parlour.hops";

/// Content key of ours: `true` in what a puppet says to people on the bridge's behalf. It is no word of its agent.
pub const NOTICE_KEY: &str = "io.parlour.notice";

/// Key of ours in the content of `m.room.create`: the room's number. By it a room is found whose making was never
/// answered. Anybody can write it: it means something only in a room that a puppet made, and that was asked for.
pub const CATALOG_KEY: &str = "io.parlour.catalog_id";

/// What all events have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub event_id: OwnedEventId,
    pub room_id: OwnedRoomId,
    pub sender: OwnedUserId,
    /// `origin_server_ts`, UTC milliseconds as the sender's homeserver has it; 0 where it is missing.
    pub sent_at_ms: i64,
}

#[cfg(test)]
mod tests;
