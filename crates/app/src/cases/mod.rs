//! The use cases: one for each thing that an agent can ask for.

mod ack;
mod browse;
mod enter;
mod join;
mod leave;
mod lookup;
mod me;
mod newcomer;
mod operator;
mod private;
mod send;
mod wait;
mod watch;

pub use watch::Watching;
