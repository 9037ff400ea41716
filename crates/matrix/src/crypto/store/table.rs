//! Typed values over rows of bytes: keys put together, values serialised and sealed.

use std::sync::Arc;

use matrix_sdk_crypto::CryptoStoreError;
use serde::{Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use crate::crypto::{
    rows::{RowWrite, Rows, RowsError, WriteBuffer},
    sealing::{SealError, SealingKey},
};

/// Which table a row belongs to. The numbers are on disk: never used again for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Account = 1,
    /// The private halves of the cross-signing keys.
    Identity = 2,
    /// Olm sessions, by sender key and session id.
    Session = 3,
    /// Room keys of others, by room and session id.
    Inbound = 4,
    /// The sender key's room keys: their state of trust and room, by sender key and session id.
    InboundBySender = 5,
    /// The room key of our own, by room.
    Outbound = 6,
    Device = 7,
    UserIdentity = 8,
    TrackedUser = 9,
    /// Olm messages that were had before, by sender key and hash.
    MessageHash = 10,
    /// Requests for keys and secrets, by request id.
    Request = 11,
    /// Word that a room key is withheld, by room and session id.
    Withheld = 12,
    RoomSettings = 13,
    Custom = 14,
    /// Secrets that came in, by name and number.
    Secret = 15,
    BackupKey = 16,
    BackupVersion = 17,
    DehydratedKey = 18,
    NextBatch = 19,
    /// Word of a room's history, by room and who shared it (MSC4268).
    Bundle = 20,
    BundlePending = 21,
    HistoryComplete = 22,
}

impl Kind {
    /// These hold raw JSON somewhere, which survives in JSON only. The rest is MessagePack: a third of the size.
    fn is_json(self) -> bool {
        matches!(self, Self::Outbound | Self::Withheld)
    }
}

/// Why the SDK's store fails. Holds nothing of what is stored.
#[derive(Debug, thiserror::Error)]
pub enum CryptoRowError {
    #[error(transparent)]
    Rows(#[from] RowsError),
    #[error(transparent)]
    Sealed(#[from] SealError),
    /// serde's words could quote what they are about, so they are left out.
    #[error("a stored {0} cannot be read; it was written by a newer version or is damaged")]
    Unreadable(&'static str),
    #[error("a {0} cannot be written down")]
    Unwritable(&'static str),
    #[error("the store has no account yet")]
    NoAccount,
}

impl From<CryptoRowError> for CryptoStoreError {
    fn from(error: CryptoRowError) -> Self {
        Self::backend(error)
    }
}

pub(super) type Outcome<T> = Result<T, CryptoRowError>;

/// A key of several parts, each but the last with its length before it, so that the first ones make a prefix.
pub(super) fn key(first: &[&str], last: &str) -> Vec<u8> {
    let mut key = prefix(first);
    key.extend_from_slice(last.as_bytes());
    key
}

pub(super) fn prefix(parts: &[&str]) -> Vec<u8> {
    let mut key = vec![];
    for part in parts {
        // Four bytes: nothing that a homeserver sends us is longer than that counts.
        key.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        key.extend_from_slice(part.as_bytes());
    }
    key
}

/// The rows of one account.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Arc<dyn Rows>,
    pub(super) buffer: Arc<WriteBuffer>,
    pub(super) sealing: SealingKey,
    pub(super) account: i64,
}

impl Table {
    pub(super) async fn get<T: DeserializeOwned>(&self, kind: Kind, key: &[u8]) -> Outcome<Option<T>> {
        let sealed = self.buffer.read(&*self.rows, self.account, kind as u8, key).await?;
        sealed.map(|sealed| self.open(kind, key, &sealed)).transpose()
    }

    pub(super) async fn has(&self, kind: Kind, key: &[u8]) -> Outcome<bool> {
        Ok(self.buffer.read(&*self.rows, self.account, kind as u8, key).await?.is_some())
    }

    /// Values by key, of the keys that begin with `prefix`.
    pub(super) async fn scan<T: DeserializeOwned>(
        &self,
        kind: Kind,
        prefix: &[u8],
    ) -> Outcome<Vec<(Vec<u8>, T)>> {
        let sealed = self.buffer.read_all(&*self.rows, self.account, kind as u8, prefix).await?;
        let open = |(key, sealed): (Vec<u8>, Vec<u8>)| {
            let value = self.open(kind, &key, &sealed)?;
            Ok((key, value))
        };
        sealed.into_iter().map(open).collect()
    }

    /// All values of a kind that open.
    pub(super) async fn scan_readable<T: DeserializeOwned>(&self, kind: Kind) -> Outcome<Vec<T>> {
        let sealed = self.buffer.read_all(&*self.rows, self.account, kind as u8, b"").await?;
        Ok(sealed.into_iter().filter_map(|(key, sealed)| self.open(kind, &key, &sealed).ok()).collect())
    }

    pub(super) async fn all<T: DeserializeOwned>(&self, kind: Kind, prefix: &[u8]) -> Outcome<Vec<T>> {
        Ok(self.scan(kind, prefix).await?.into_iter().map(|(_, value)| value).collect())
    }

    pub(super) fn write<T: Serialize>(&self, kind: Kind, key: Vec<u8>, value: &T) -> Outcome<RowWrite> {
        let plain = serialise(kind, value)?;
        let sealed = self.sealing.seal(&[b"crypto", &self.head(kind), &key], &plain);
        Ok(RowWrite { kind: kind as u8, key, value: Some(sealed) })
    }

    pub(super) fn put<T: Serialize>(&self, kind: Kind, key: Vec<u8>, value: &T) -> Outcome<()> {
        self.buffer.put([self.write(kind, key, value)?]);
        Ok(())
    }

    pub(super) fn delete(&self, kind: Kind, key: Vec<u8>) {
        self.buffer.put([erase(kind, key)]);
    }

    /// Account and kind, as a part of a row's place.
    fn head(&self, kind: Kind) -> [u8; 9] {
        let mut head = [kind as u8; 9];
        head[..8].copy_from_slice(&self.account.to_be_bytes());
        head
    }

    fn open<T: DeserializeOwned>(&self, kind: Kind, key: &[u8], sealed: &[u8]) -> Outcome<T> {
        let plain = self.sealing.open(&[b"crypto", &self.head(kind), key], sealed)?;
        let value = if kind.is_json() {
            serde_json::from_slice(&plain).ok()
        } else {
            rmp_serde::from_slice(&plain).ok()
        };
        value.ok_or(CryptoRowError::Unreadable(std::any::type_name::<T>()))
    }
}

pub(super) fn erase(kind: Kind, key: Vec<u8>) -> RowWrite {
    RowWrite { kind: kind as u8, key, value: None }
}

fn serialise<T: Serialize>(kind: Kind, value: &T) -> Outcome<Zeroizing<Vec<u8>>> {
    let bytes =
        if kind.is_json() { serde_json::to_vec(value).ok() } else { rmp_serde::to_vec_named(value).ok() };
    bytes.map(Zeroizing::new).ok_or(CryptoRowError::Unwritable(std::any::type_name::<T>()))
}
