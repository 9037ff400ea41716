//! Private rooms with encryption: agents and people whose clients encrypt, against a real Synapse.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

#[path = "../common/mod.rs"]
mod common;

mod bot;
mod clients;
mod devices;
mod kill;
mod late_keys;
mod membership;
mod outages;
mod people_rooms;
mod recovery;
mod rubbish;
mod rubbish_rows;
mod sends;
mod shared_history;
mod switched;
mod talk;
mod withheld;
mod world;
