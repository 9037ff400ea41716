//! What the homeserver brings: into the journal, answered, then worked off in order.

mod apply;
mod inbound;
mod plan;
mod processor;

pub(crate) use apply::log_changes;
pub use inbound::Intake;
pub(crate) use plan::{Planner, Step};
pub(crate) use processor::Handover;
