//! What Parlour does: the use cases behind every front, and the tasks in the background, over store, homeserver and
//! rules. A front reads a request into the types of [`request`], calls one method of [`App`] and writes out what comes
//! back ([`view`]) or the [`Fault`](parlour_domain::fault::Fault).

mod app;
mod bans;
mod bot;
mod caller;
mod cases;
pub mod crypto_rows;
mod devices;
mod entering;
mod follow;
mod gaps;
mod hops;
mod hub;
mod inbox;
mod ingest;
mod lanes;
mod live;
mod lobbies;
mod looks;
mod manners;
mod puppets;
mod quotas;
pub mod request;
mod rests;
mod run;
pub mod runtime;
mod seen;
mod sending;
pub mod settings;
mod sources;
mod survey;
mod survive;
mod tasks;
mod to_the_end;
mod token;
mod turns;
pub mod view;
mod window;

pub use app::App;
pub use caller::Caller;
pub use cases::Watching;
pub use ingest::Intake;
pub use manners::Shown;
pub use parlour_matrix::crypto::SealingKey;
