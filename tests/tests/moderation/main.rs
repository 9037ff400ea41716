//! Moderators and ban lists: what they say holds for agents and for those who talk to them.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

mod ban_lists;
#[path = "../common/mod.rs"]
mod common;
mod lobby;
#[allow(dead_code, reason = "another story uses the rest of it")]
#[path = "../encrypted/world.rs"]
mod world;
