//! How our types stand in columns. Reading is strict: what does not parse was not written by us.

use parlour_domain::ids::{AgentId, CatalogId, MessageId};
use rusqlite::Row;
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::StoreError;

pub(crate) fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|e| corrupt(&e.to_string()))
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| corrupt(what))
}

/// A Matrix identifier or anything else that parses from text.
pub(crate) fn id<T: for<'a> TryFrom<&'a str>>(text: &str, what: &str) -> Result<T, StoreError> {
    T::try_from(text).map_err(|_| corrupt(what))
}

/// A column that may be NULL.
pub(crate) fn optional_id<T: for<'a> TryFrom<&'a str>>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, StoreError> {
    row.get::<_, Option<String>>(column)?.map(|text| id(&text, column)).transpose()
}

pub(crate) fn text(row: &Row<'_>, column: &str) -> Result<String, StoreError> {
    Ok(row.get(column)?)
}

fn uuid(row: &Row<'_>, column: &str) -> Result<Uuid, StoreError> {
    let bytes: [u8; 16] = row.get(column)?;
    Ok(Uuid::from_bytes(bytes))
}

pub(crate) fn agent_id(row: &Row<'_>, column: &str) -> Result<AgentId, StoreError> {
    uuid(row, column).map(AgentId)
}

pub(crate) fn catalog_id(row: &Row<'_>, column: &str) -> Result<CatalogId, StoreError> {
    uuid(row, column).map(CatalogId)
}

pub(crate) fn message_id(row: &Row<'_>, column: &str) -> Result<MessageId, StoreError> {
    uuid(row, column).map(MessageId)
}

/// Sixteen bytes stand for an event id where only "had it before" is asked.
pub(crate) fn event_digest(event_id: &str) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&Sha256::digest(event_id.as_bytes())[..16]);
    digest
}
