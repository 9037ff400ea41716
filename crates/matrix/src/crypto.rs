//! End-to-end encryption on the puppets' behalf.

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
    Undecryptable,
};
pub use parcels::{DeviceKey, DeviceNews, KeyCounts, Parcels};
pub use request::{Call, Outgoing, SharedQuery, merge_queries};
pub use rows::{RowWrite, Rows, RowsError, WriteBuffer, Writes};
pub use sealing::{SealError, SealingKey};
pub use store::{CryptoRowError, PuppetStore};
