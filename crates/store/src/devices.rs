//! The puppets' devices and cross-signing seeds. Tokens and seeds come and go sealed.

use ruma::{OwnedDeviceId, OwnedUserId, UserId};
use rusqlite::{OptionalExtension, Row};

use crate::{Reader, StoreError, Tx, value};

/// How far a device has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// Not all of its keys are known to be uploaded.
    Making,
    Live,
    /// Given up; its id is never used again.
    Gone,
}

/// A puppet's device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    /// What its crypto rows go by.
    pub account: i64,
    pub user_id: OwnedUserId,
    pub device_id: OwnedDeviceId,
    pub state: DeviceState,
    /// Sealed access token of its own, where it needs one.
    pub token: Option<Vec<u8>>,
    /// From where the next pull goes on.
    pub since: Option<String>,
    /// What the homeserver last said that it has left: one-time keys, and whether the fallback key is unused.
    pub one_time_keys: Option<u64>,
    pub fallback_unused: Option<bool>,
    pub created_at_ms: i64,
}

const COLUMNS: &str =
    "account, user_id, device_id, state, token, since, one_time_keys, fallback_unused, created_at_ms";

impl DeviceState {
    fn name(self) -> &'static str {
        match self {
            Self::Making => "making",
            Self::Live => "live",
            Self::Gone => "gone",
        }
    }
}

impl Tx<'_> {
    /// A new device in state [`DeviceState::Making`]; its number. Fails where the user has one that is not gone, and
    /// for an id that the user ever had.
    pub fn add_device(
        &self,
        user: &UserId,
        device: &ruma::DeviceId,
        created_at_ms: i64,
    ) -> Result<i64, StoreError> {
        let insert =
            "INSERT INTO devices (user_id, device_id, state, created_at_ms) VALUES (?1, ?2, 'making', ?3)";
        self.0.prepare_cached(insert)?.execute((user.as_str(), device.as_str(), created_at_ms))?;
        Ok(self.0.last_insert_rowid())
    }

    pub fn set_device_state(&self, account: i64, state: DeviceState) -> Result<(), StoreError> {
        let set = "UPDATE devices SET state = ?2 WHERE account = ?1";
        self.0.prepare_cached(set)?.execute((account, state.name()))?;
        Ok(())
    }

    /// Gives up all devices that are in use.
    pub fn give_up_devices(&self) -> Result<(), StoreError> {
        self.0.prepare_cached("UPDATE devices SET state = 'gone' WHERE state <> 'gone'")?.execute([])?;
        Ok(())
    }

    /// Keeps a sealed token; `None` takes it away.
    pub fn set_device_token(&self, account: i64, sealed: Option<&[u8]>) -> Result<(), StoreError> {
        let set = "UPDATE devices SET token = ?2 WHERE account = ?1";
        self.0.prepare_cached(set)?.execute((account, sealed))?;
        Ok(())
    }

    pub fn set_device_since(&self, account: i64, since: &str) -> Result<(), StoreError> {
        let set = "UPDATE devices SET since = ?2 WHERE account = ?1";
        self.0.prepare_cached(set)?.execute((account, since))?;
        Ok(())
    }

    /// What the homeserver said that it has left of this device.
    pub fn set_device_counts(
        &self,
        account: i64,
        one_time_keys: Option<u64>,
        fallback_unused: Option<bool>,
    ) -> Result<(), StoreError> {
        let set = "UPDATE devices SET one_time_keys = ?2, fallback_unused = ?3 WHERE account = ?1";
        self.0.prepare_cached(set)?.execute((account, one_time_keys, fallback_unused))?;
        Ok(())
    }

    /// Keeps a puppet's sealed seeds, instead of those it had.
    pub fn set_seeds(&self, user: &UserId, sealed: &[u8]) -> Result<(), StoreError> {
        let set =
            "INSERT INTO identities (user_id, seeds) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seeds = ?2";
        self.0.prepare_cached(set)?.execute((user.as_str(), sealed))?;
        Ok(())
    }
}

impl Reader<'_> {
    /// All devices, those that are gone included, by number.
    pub fn devices(&self) -> Result<Vec<DeviceRow>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM devices ORDER BY account");
        self.0.prepare_cached(&query)?.query_and_then([], device_row)?.collect()
    }

    /// The device that a puppet has now.
    pub fn device_of(&self, user: &UserId) -> Result<Option<DeviceRow>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM devices WHERE user_id = ?1 AND state <> 'gone'");
        let mut query = self.0.prepare_cached(&query)?;
        query.query_row([user.as_str()], |row| Ok(device_row(row))).optional()?.transpose()
    }

    /// Those that it had before, the oldest first.
    pub fn devices_before(&self, user: &UserId) -> Result<Vec<DeviceRow>, StoreError> {
        let query =
            format!("SELECT {COLUMNS} FROM devices WHERE user_id = ?1 AND state = 'gone' ORDER BY account");
        self.0.prepare_cached(&query)?.query_and_then([user.as_str()], device_row)?.collect()
    }

    /// A puppet's sealed seeds.
    pub fn seeds(&self, user: &UserId) -> Result<Option<Vec<u8>>, StoreError> {
        let mut query = self.0.prepare_cached("SELECT seeds FROM identities WHERE user_id = ?1")?;
        Ok(query.query_row([user.as_str()], |row| row.get(0)).optional()?)
    }
}

fn device_row(row: &Row<'_>) -> Result<DeviceRow, StoreError> {
    Ok(DeviceRow {
        account: row.get("account")?,
        user_id: value::id(&value::text(row, "user_id")?, "devices.user_id")?,
        device_id: value::text(row, "device_id")?.into(),
        state: state(&value::text(row, "state")?)?,
        token: row.get("token")?,
        since: row.get("since")?,
        one_time_keys: row.get("one_time_keys")?,
        fallback_unused: row.get("fallback_unused")?,
        created_at_ms: row.get("created_at_ms")?,
    })
}

fn state(name: &str) -> Result<DeviceState, StoreError> {
    match name {
        "making" => Ok(DeviceState::Making),
        "live" => Ok(DeviceState::Live),
        "gone" => Ok(DeviceState::Gone),
        _ => Err(value::corrupt("devices.state")),
    }
}
