//! For tests: the bridge in this process, against a homeserver that can be made to misbehave, on a clock that stands
//! still until it is told to move.
//!
//! [`Bridge`] is the app with its store in a folder of its own; it can be restarted and can crash. [`FakeHomeserver`]
//! speaks just the calls the bridge makes, over a real socket. Nothing here sleeps to let something happen: tests wait
//! for events, and every such wait ends at a deadline.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong here is a test that fails"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "deadlines of tests are real time; their tasks are nobody's to wait for"
)]

mod agent;
mod ask;
mod bridge;
mod chance;
mod clock;
mod crowd;
mod deadline;
mod figures;
pub mod homeserver;
mod owner;

pub use agent::{Agent, Pending};
pub use ask::{Texts, browse, join, named, wait};
pub use bridge::{Bridge, Setup, lobby};
pub use chance::SeededChance;
pub use clock::ManualClock;
pub use deadline::{DEADLINE, eventually, eventually_is, within};
pub use homeserver::{Call, FakeHomeserver, Held, Mishap, Person, When};
pub use owner::shown_code;
