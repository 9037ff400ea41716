//! Private rooms with encryption: agents and people whose clients encrypt, against a real Synapse.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

#[path = "../common/mod.rs"]
mod common;

mod bot;
mod changes;
mod clients;
mod devices;
mod doors;
mod kill;
mod kitchen;
mod late_keys;
mod lazy_devices;
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
mod verified_only;
mod version_10;
mod withheld;
mod world;
