//! The bridge's two SQLite databases: schema, migrations, one writer, a few readers. The only place with SQL.
//!
//! [`Store::write`] takes a closure over a [`Tx`]; what is queued is committed as one group, so that a sync to disk is
//! paid once for many. [`Store::read`] gives a [`Reader`] on a snapshot. Each table family has a file that adds its
//! methods to both.

mod agents;
mod append;
mod audit;
mod backup;
mod ban_lists;
mod blocking;
mod bot;
mod claims;
mod crypto;
mod db;
mod devices;
mod door_notices;
mod edits;
mod encrypted;
mod errands;
mod error;
mod invitations;
mod journal;
mod knocks;
mod lacking;
mod log;
mod looks;
mod meta;
mod moves;
mod passes;
mod person_knocks;
mod places;
mod private_rooms;
mod quotas;
mod readers;
mod removal;
mod rooms;
mod sayings;
mod seats;
mod shown;
mod submissions;
mod undo;
mod value;
mod waiting;
mod wal;
mod writer;

#[cfg(test)]
mod tests;

pub use agents::{AgentRow, AgentState, NewAgent};
pub use append::{Appended, NewEntry};
pub use audit::{AuditAgent, AuditRoom, AuditRow, By, Deed, Who};
pub use backup::backup;
pub use ban_lists::{BanList, ListedBan};
pub use bot::{BotChat, BotInvitation, BotRoom};
pub use claims::{OpenRooms, RoomClaim, RoomClaimed};
pub use crypto::{CryptoRow, CryptoWrite};
pub use db::{Reader, Store, Tx};
pub use devices::{DeviceRow, DeviceState};
pub use door_notices::DoorNotice;
pub use edits::{Edited, NewEdit};
pub use encrypted::{Exception, Exceptions, SealedEcho};
pub use errands::{Errand, NewErrand};
pub use error::StoreError;
pub use invitations::Invitation;
pub use journal::{Journaled, Queued};
pub use knocks::KnockRow;
pub use lacking::Lacking;
pub use log::Gap;
pub use looks::{Look, Plain};
pub use meta::{COPY, peek_meta};
pub use person_knocks::PersonKnock;
pub use private_rooms::{KeptCode, NewCode, NewPrivateRoom};
pub use quotas::{Charge, Overdrawn};
pub use rooms::{Member, NewRoom, RoomRow};
pub use sayings::{NewSaying, Saying};
pub use seats::SeatRow;
pub use shown::KeyFrom;
pub use submissions::{Claim, Claimed, Sealed, Submission};
pub use waiting::{Waiting, Waits};
