//! The bridge's memory: what the store holds, kept at hand so that waking and answering need no disk.
//!
//! The store is the truth. Memory follows it: a change is applied here once its commit is done, never before, and
//! every change is idempotent, since several paths may tell of it.

mod agents;
mod doors;
mod log;
mod members;
mod rooms;
mod visitors;

pub(crate) use agents::{AgentLive, Agents, Handed};
pub(crate) use doors::{Doors, Place};
pub(crate) use log::{LogChange, RoomLog};
pub(crate) use members::Members;
pub(crate) use rooms::{RoomLive, Rooms};
pub(crate) use visitors::Visitors;
