//! The routes over the real use cases, with a homeserver in this process: a conversation, and every refusal that agents
//! can provoke in lobbies.
#![allow(clippy::unwrap_used, reason = "what goes wrong here is a test that fails")]

mod conversation;
mod documented;
mod front;
mod refusals;
mod rubbish;
mod sources;
