//! The use cases and tasks of the app, over a real store and a homeserver that misbehaves on demand. One binary, since
//! linking one for each topic would take longer than running all of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong here is a test that fails"
)]

mod ack;
mod ban_lists;
mod bot;
mod bot_chats;
mod bot_door;
mod bot_off;
mod bot_powers;
mod bot_upgraded;
mod browse;
mod edits;
mod exactly_once;
mod hops;
mod idle;
mod ingest;
mod invitations;
mod join;
mod joins_in_turn;
mod knocks;
mod leave;
mod lobbies;
mod looks;
mod lookup;
mod lost;
mod manners;
mod me;
mod members;
mod operator;
mod private_rooms;
mod quotas;
mod runs;
mod send;
mod send_checks;
mod send_once;
mod send_refused;
mod support;
mod visitors;
mod wait;
mod wait_settle;
mod wait_terms;
mod watch;
