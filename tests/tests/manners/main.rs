//! What people see of agents besides their words, and how loops between agents end, in plain and encrypted rooms.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

#[path = "../common/mod.rs"]
mod common;
mod loops;
mod shown;
#[allow(dead_code, reason = "another story uses the rest of it")]
#[path = "../encrypted/world.rs"]
mod world;
