//! The product's rules, pure: no I/O, no clock, no randomness. Time comes in as UTC milliseconds, chance as bytes.
//!
//! Everything that decides something lives here (who is woken, what an inbox holds, what a name may be, when a quota
//! is used up), so that each rule is a function one can test with a table.

pub mod agent;
pub mod ban_list;
pub mod bot;
pub mod code;
pub mod fault;
pub mod gaps;
pub mod history;
pub mod hops;
pub mod ids;
pub mod inbox;
pub mod knock;
pub mod limits;
pub mod manners;
pub mod message;
pub mod names;
pub mod people;
pub mod picture;
pub mod quota;
pub mod room;
pub mod room_ref;
pub mod seat;
pub mod share;
pub mod source;
pub mod typing;
pub mod visibility;
pub mod wait;
pub mod wake;
pub mod window;
