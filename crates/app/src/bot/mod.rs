//! The bridge bot: lets agents into people's rooms and out again, at people's word.
//!
//! A word to it is an errand (`errands`): written down with the event that brought it, carried out once, gone in the
//! same commit as its answer. What it says is a saying (`sayings`): on disk first, then sent, looked for where the
//! homeserver's answer was lost. So neither restarts nor lost answers make it say anything twice.

mod announce;
mod ask;
mod chats;
mod commands;
mod door;
mod errands;
mod follow;
mod hear;
mod knocking;
mod live;
mod press;
mod sayings;
mod words;

pub(crate) use errands::Errand;
pub(crate) use hear::Meant;
pub(crate) use live::Bot;
pub(crate) use words::Words;
