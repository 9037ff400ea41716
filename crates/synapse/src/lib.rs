//! A real Synapse on loopback, for tests, benches and `cargo xtask up`.
//!
//! [`install`] puts a pinned Synapse from PyPI into a virtual environment, [`Synapse::start`] runs one from it:
//! SQLite, plain registration open, nothing but 127.0.0.1, no federation but with those that [`Federation`] names. All
//! calls block; an async test wraps them in `spawn_blocking`. Dropping a [`Synapse`] kills it, and a killed test process
//! takes its Synapse along (see `run.py`).
//!
//! This crate waits for processes and makes keys for throw-away homeservers. It is never part of the bridge, so the
//! workspace's ban on the global clock and on randomness does not reach it; the exceptions are marked one by one.

mod certificate;
mod client;
mod config;
mod homeserver_yaml;
mod install;
mod nursery;
mod port;
mod process;
mod secrets;
mod synapse;
mod wait;

pub use client::User;
pub use config::{Config, Federation};
pub use install::{VERSION, install, shared_venv};
pub use port::free_port;
pub use secrets::{keep_secret, random_hex};
pub use synapse::Synapse;
pub use wait::Deadline;
