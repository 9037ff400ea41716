//! What Synapse keeps of a user's keys.

use anyhow::Result;
use parlour_synapse::Synapse;

use crate::timeline::database;

/// How many of each there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    pub devices: usize,
    /// Devices with keys.
    pub device_keys: usize,
    pub one_time_keys: usize,
    /// Public cross-signing keys: of an identity there are three.
    pub identity_keys: usize,
}

/// # Errors
/// Synapse's database cannot be read.
pub fn keys_of(synapse: &Synapse, user: &str) -> Result<Keys> {
    let database = database(synapse)?;
    let count = |rows: &str| {
        let query = format!("SELECT count(*) FROM {rows} AND user_id = ?1");
        database.query_row(&query, [user], |row| row.get::<_, usize>(0))
    };
    Ok(Keys {
        // Synapse keeps cross-signing keys as hidden devices
        devices: count("devices WHERE NOT hidden")?,
        device_keys: count("e2e_device_keys_json WHERE true")?,
        one_time_keys: count("e2e_one_time_keys_json WHERE true")?,
        identity_keys: count("(SELECT DISTINCT user_id, keytype FROM e2e_cross_signing_keys) WHERE true")?,
    })
}
