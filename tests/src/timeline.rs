//! What Synapse itself says was said: the authority for "exactly once".

use anyhow::Result;
use parlour_synapse::Synapse;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// The content key under which the bridge puts the submission id.
const SUBMISSION: &str = "io.parlour.submission_id";

/// Sender and text of each message, oldest first.
pub fn said(timeline: &[Value]) -> Vec<(&str, &str)> {
    let messages = timeline.iter().filter(|e| e["type"] == "m.room.message");
    messages.filter_map(|e| Some((e["sender"].as_str()?, e["content"]["body"].as_str()?))).collect()
}

/// How many messages have exactly this text.
pub fn count(timeline: &[Value], text: &str) -> usize {
    said(timeline).iter().filter(|(_, body)| *body == text).count()
}

/// Sender and submission id of each message that an agent sent.
pub fn submission_ids(timeline: &[Value]) -> Vec<(&str, &str)> {
    let ids =
        timeline.iter().filter_map(|e| Some((e["sender"].as_str()?, e["content"][SUBMISSION].as_str()?)));
    ids.collect()
}

/// Every event of a room out of Synapse's database, state and what nobody may see included; in no order.
///
/// # Errors
/// The database cannot be read.
pub fn stored(synapse: &Synapse, room: &str) -> Result<Vec<Value>> {
    let database = database(synapse)?;
    let mut query = database.prepare("SELECT json FROM event_json WHERE room_id = ?1")?;
    let rows = query.query_map([room], |row| row.get::<_, String>(0))?;
    rows.map(|json| Ok(serde_json::from_str(&json?)?)).collect()
}

pub(crate) fn database(synapse: &Synapse) -> Result<Connection> {
    let path = synapse.data().join("homeserver.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    database.busy_timeout(std::time::Duration::from_secs(20))?;
    Ok(database)
}
