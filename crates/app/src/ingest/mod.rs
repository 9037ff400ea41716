//! What the homeserver brings: into the journal, answered, then worked off in order.

mod apply;
mod inbound;
mod keys;
mod people;
mod plan;
mod processor;
mod sealed;

pub(crate) use apply::carry_out;
pub use inbound::Intake;
pub(crate) use plan::{Plan, Planner, Step};
pub(crate) use processor::Handover;
