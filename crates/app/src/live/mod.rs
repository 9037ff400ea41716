//! The bridge's memory: what the store holds, kept at hand so that waking and answering need no disk.
//!
//! The store is the truth. Memory follows it: a change is applied here once its commit is done, never before, and
//! every change is idempotent, since several paths may tell of it.

mod agents;
mod doors;
mod index;
mod log;
mod members;
mod rooms;
mod visitors;

pub(crate) use agents::{AgentLive, Agents, Handed};
pub(crate) use doors::{Doors, Place};
pub(crate) use index::Rooms;
pub(crate) use log::{LogChange, RoomLog, StoredLog};
pub(crate) use members::Members;
pub(crate) use rooms::RoomLive;
pub(crate) use visitors::Visitors;
