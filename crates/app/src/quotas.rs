//! What is charged for what. The numbers are the operator's, the windows the rules', the counts the store's.

mod subject;

use parlour_domain::{
    fault::{Code, Fault},
    ids::{AgentKey, RoomKey},
    limits::Limits,
    quota::RetryAfter,
};
use parlour_store::Charge;

pub(crate) use subject::{Kind, Whose};

use crate::request::Source;

/// A new agent in a lobby, or by the code of a room that an agent made.
pub(crate) fn entry_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    [Kind::EntryHour, Kind::EntryDay].map(|kind| kind.charge(limits, source)).into()
}

/// One message in a lobby.
pub(crate) fn speaking_charges(limits: &Limits, agent: AgentKey, lobby: RoomKey) -> Vec<Charge> {
    vec![
        Kind::AgentMinute.charge(limits, agent),
        Kind::AgentDay.charge(limits, agent),
        Kind::LobbyMinute.charge(limits, lobby),
    ]
}

/// One try of a code; given back where it opens a room.
pub(crate) fn guess_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    vec![Kind::GuessHour.charge(limits, source)]
}

/// One knock.
pub(crate) fn knock_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    vec![Kind::KnockHour.charge(limits, source)]
}

/// One room of an agent's own.
pub(crate) fn room_charges(limits: &Limits, agent: AgentKey) -> Vec<Charge> {
    vec![Kind::RoomDay.charge(limits, agent)]
}

/// One person invited.
pub(crate) fn invitation_charges(limits: &Limits, agent: AgentKey, source: Source) -> Vec<Charge> {
    vec![Kind::InviteDay.charge(limits, agent), Kind::InviteSourceDay.charge(limits, source)]
}

pub(crate) fn overdrawn(retry_after: RetryAfter, what: &str) -> Fault {
    let message = format!("{what} reached the limit for now. Try again after the seconds in Retry-After.");
    Fault::new(Code::RateLimited, message).retry_after(retry_after.0)
}
