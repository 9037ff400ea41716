//! Private rooms with encryption: agents and people whose clients encrypt, against a real Synapse.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]


mod clients;
