//! Stories: the real binary against a real Synapse, spoken to only from outside.
//!
//! [`Stack`] is one homeserver with one bridge on it (and another homeserver beside it where the plan asks for one),
//! [`Agent`] speaks REST to the bridge as an agent would, and [`Person`] the client-server API to Synapse as a person's
//! client would; [`Human`] is a person whose client encrypts, [`Browser`] one who looks at the bridge's pages. [`Proxy`]
//! stands between bridge and homeserver where a story has to lose an answer. Nothing here links the bridge's own crates:
//! what a story sees is what everybody sees.
//!
//! Each story waits for events with a deadline. A pause is only ever the fault that is being injected, or the step
//! between two looks at a process that has no event to wait for.
#![allow(
    clippy::disallowed_methods,
    reason = "stories run in real time beside real processes; the bans are for the bridge's own rules"
)]

mod agent;
mod border;
mod bridge;
mod browser;
mod event_stream;
mod homeservers;
mod http;
mod human;
mod in_clear;
mod keys;
pub mod mcp;
mod person;
mod proxy;
pub mod raw;
mod stack;
mod time;
mod timeline;

pub use agent::{Agent, event_ids};
pub use border::Border;
pub use bridge::Bridge;
pub use browser::{Browser, Look, Tab};
pub use event_stream::{EventStream, StreamEvent};
pub use http::{Answer, encode};
pub use human::{Client, Human};
pub use keys::{Keys, keys_of};
pub use person::Person;
pub use proxy::{Fault, Proxy};
pub use stack::{Devices, Plan, SERVER_NAME, Stack};
pub use time::{Deadline, fresh_uuid, until};
pub use timeline::{count, said, stored, submission_ids};
