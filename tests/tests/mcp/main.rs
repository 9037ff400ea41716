//! MCP against a real Synapse: whole conversations with the official clients, and the same bodies as REST.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

#[path = "../common/mod.rs"]
mod common;
mod conduct;
mod hosts;
mod parity;
