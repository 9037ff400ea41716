//! End-to-end encryption on the puppets' behalf: one device and one [`Machine`] per puppet, over rows of bytes that
//! somebody else keeps ([`Rows`]). Nothing here talks to a homeserver or writes to disk.
//!
//! # The order of calls
//! Every call of a machine may change what it has to remember. So each step goes like this:
//!
//! 1. lock the machine and call it ([`Machine::receive`], [`Machine::prepare`], [`Machine::encrypt`],
//!    [`Machine::answer`], ...);
//! 2. [`Machine::take_writes`], and commit them in one transaction with whatever else the step means: up to where
//!    the journal is worked off, the log's entries, the submission with its ciphertext;
//! 3. [`Machine::committed`], and unlock;
//! 4. only now act on it: send the requests, PUT the ciphertext, tell agents.
//!
//! The lock is held until the commit is known, since two batches of one machine that reach the disk in the wrong order
//! would put its ratchets back. It is let go while requests are under way, so that what is pushed can come in
//! meanwhile. Who commits for several machines at once locks them by account, smallest first.
//!
//! A second lock per machine covers whole conversations: [`Machine::prepare`] until it asks for nothing more, or
//! [`Machine::outgoing`] until all is answered. Two of them at once would forget each other's key queries and claims.
//! [`Machine::receive`] and [`Machine::decrypt`] do not need it.
//!
//! Where a commit fails, or an error says so ([`CryptoError::spoils_the_machine`]), drop the machine and open it anew.
//!
//! # A puppet's device
//! A device id that was never used before; its row; [`Machine::create`]; one commit with the row and
//! [`Machine::sealed_seeds`] after [`Machine::setup`]; the device made on the homeserver
//! ([`Client::put_device`](crate::Client::put_device) or a login of its own); then the requests of
//! [`Machine::setup`]. After a start in between, [`Machine::open`] and the same requests again. A puppet that had a
//! device gets the new one by [`Machine::create`], [`Machine::query`] for itself, [`Machine::adopt`], and last the old
//! one deleted. In doubt whether a database is an old one put back: a new device, never the old.
//!
//! # A message out
//! [`Preparation::new`] with everybody who may read, [`Machine::prepare`] until it is ready, [`Machine::encrypt`].
//! Between the last two the room can become unready again (a device was added): [`CryptoError::NotPrepared`], and once
//! more from the start. A room is prepared when a puppet joins and when the room becomes encrypted, so that the first
//! message does not wait for it; what has changed since, the next message sees to.
//!
//! # A message in
//! To-device messages first, then events. [`Machine::decrypt`] with the machine of one puppet in the room; the others
//! that were in the room then are given it where their own machine has the key too ([`Machine::can_read`]). What gives
//! [`Undecryptable::MissingKey`] is tried again when [`Received::room_keys`] names its session. The messages of our own
//! puppets are never decrypted: no key is shared with puppets, and what they say is known when they say it.

mod answer;
mod error;
mod machine;
pub(crate) mod parcels;
mod request;
mod rows;
mod sealing;
mod store;
#[cfg(test)]
mod testing;

pub use error::CryptoError;
pub use machine::{
    Bundle, Decrypted, DeviceAccount, Machine, Preparation, Received, RoomKey, SenderTrust, Sharing, Trust,
    Undecryptable, session_place,
};
pub use parcels::{DeviceKey, DeviceNews, KeyCounts, Parcels};
pub use request::{Call, Outgoing};
pub use rows::{Row, RowWrite, Rows, RowsError, WriteBuffer, Writes};
pub use sealing::{SealError, SealingKey};
pub use store::{CryptoRowError, PuppetStore, tracking_row};
