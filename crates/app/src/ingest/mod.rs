//! What the homeserver brings: into the journal, answered, then worked off in order.

mod apply;
mod inbound;
mod keys;
mod people;
mod plan;
mod processor;
mod sealed;
mod unseal;

pub(crate) use apply::{Effect, carry_out_at};
pub use inbound::Intake;
pub(crate) use plan::{Plan, Planner, Step};
pub(crate) use processor::Handover;

#[cfg(test)]
mod properties;
