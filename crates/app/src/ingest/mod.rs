//! What the homeserver brings: into the journal, answered, then worked off in order.

mod afterwards;
mod apply;
mod effect;
mod inbound;
mod keys;
mod people;
mod plan;
mod processor;
mod sealed;
mod state;
mod step;
mod unseal;

pub(crate) use apply::carry_out_at;
pub(crate) use effect::Effect;
pub use inbound::Intake;
pub(crate) use keys::Reception;
pub(crate) use plan::{Plan, Planner};
pub(crate) use processor::Handover;
pub(crate) use step::Step;

#[cfg(test)]
mod properties;
