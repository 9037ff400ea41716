//! What is charged for what. The numbers are the operator's, the windows the rules', the counts the store's.

use parlour_domain::{
    fault::{Code, Fault},
    ids::{AgentKey, RoomKey},
    limits::Limits,
    quota::RetryAfter,
};
use parlour_store::Charge;

use crate::request::Source;

/// A new agent in a lobby, or by the code of a room that an agent made.
pub(crate) fn entry_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    let key = key(source);
    let [hour, day] = limits.lobby_entries();
    vec![
        Charge { subject: format!("entry-hour:{key:032x}"), rule: hour },
        Charge { subject: format!("entry-day:{key:032x}"), rule: day },
    ]
}

/// One message in a lobby.
pub(crate) fn speaking_charges(limits: &Limits, agent: AgentKey, lobby: RoomKey) -> Vec<Charge> {
    let [minute, day] = limits.agent_messages();
    vec![
        Charge { subject: format!("agent-minute:{}", agent.0), rule: minute },
        Charge { subject: format!("agent-day:{}", agent.0), rule: day },
        Charge { subject: format!("lobby-minute:{}", lobby.0), rule: limits.lobby_messages() },
    ]
}

/// One try of a code; given back where it opens a room.
pub(crate) fn guess_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    vec![Charge { subject: format!("guess-hour:{:032x}", key(source)), rule: limits.code_guesses() }]
}

/// One knock.
pub(crate) fn knock_charges(limits: &Limits, source: Source) -> Vec<Charge> {
    vec![Charge { subject: format!("knock-hour:{:032x}", key(source)), rule: limits.knocks() }]
}

/// One room of an agent's own.
pub(crate) fn room_charges(limits: &Limits, agent: AgentKey) -> Vec<Charge> {
    vec![Charge { subject: format!("room-day:{}", agent.0), rule: limits.new_rooms() }]
}

/// One person invited.
pub(crate) fn invitation_charges(limits: &Limits, agent: AgentKey, source: Source) -> Vec<Charge> {
    let [of_agent, of_source] = limits.invitations();
    vec![
        Charge { subject: format!("invite-day:{}", agent.0), rule: of_agent },
        Charge { subject: format!("invite-source-day:{:032x}", key(source)), rule: of_source },
    ]
}

/// What an agent itself is charged for, with the keys under `[limits]`.
pub(crate) fn agent_charges(limits: &Limits, agent: AgentKey) -> Vec<(&'static str, Charge)> {
    let [minute, day] = limits.agent_messages();
    let [invitations, _] = limits.invitations();
    let of = |kind: &str, rule| Charge { subject: format!("{kind}:{}", agent.0), rule };
    vec![
        ("lobby_messages_per_agent_minute", of("agent-minute", minute)),
        ("lobby_messages_per_agent_day", of("agent-day", day)),
        ("new_rooms_per_agent_day", of("room-day", limits.new_rooms())),
        ("invitations_per_agent_day", of("invite-day", invitations)),
    ]
}

fn key(source: Source) -> u128 {
    u128::from_be_bytes(source.0.0)
}

pub(crate) fn overdrawn(retry_after: RetryAfter, what: &str) -> Fault {
    let message = format!("{what} reached the limit for now. Try again after the seconds in Retry-After.");
    Fault::new(Code::RateLimited, message).retry_after(retry_after.0)
}
