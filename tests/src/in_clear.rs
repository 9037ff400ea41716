//! Whether anything of ours is in clear in an encrypted room, as the homeserver has it.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use parlour_synapse::Synapse;
use rusqlite::Connection;

use crate::timeline::database;

/// What may stand in clear in an encrypted room: a deletion has no words, and the bot's two signs at the door are
/// reactions, which clients do not encrypt either.
const IN_CLEAR: [&str; 3] = ["m.room.encrypted", "m.room.redaction", "m.reaction"];

/// An event that is no state.
struct Event {
    room_id: String,
    sender: String,
    event_type: String,
    event_id: String,
}

/// # Errors
/// The database cannot be read, or a puppet or the bot said something in clear after a room was encrypted.
pub fn nothing_in_clear(synapse: &Synapse) -> Result<()> {
    look(&database(synapse)?)
}

fn look(database: &Connection) -> Result<()> {
    let query =
        "SELECT type, state_key IS NOT NULL, room_id, sender, event_id FROM events ORDER BY stream_ordering";
    let mut query = database.prepare(query)?;
    let mut rows = query.query([])?;
    let mut encrypted = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let (event_type, is_state): (String, bool) = (row.get(0)?, row.get(1)?);
        let event = Event { event_type, room_id: row.get(2)?, sender: row.get(3)?, event_id: row.get(4)? };
        match is_state {
            true if event.event_type == "m.room.encryption" => drop(encrypted.insert(event.room_id)),
            true => {}
            false => ensure!(
                !encrypted.contains(&event.room_id) || may_be_in_clear(&event),
                "{} of {} is in clear in an encrypted room: {}",
                event.event_type,
                event.sender,
                event.event_id
            ),
        }
    }
    Ok(())
}

fn may_be_in_clear(event: &Event) -> bool {
    let puppet = event.sender.starts_with("@agent_");
    let ours = puppet || event.sender.starts_with("@parlour:");
    let allowed = IN_CLEAR.contains(&&*event.event_type) && !(puppet && event.event_type == "m.reaction");
    !ours || allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: (&str, Option<&str>, &str) = ("m.room.encryption", Some(""), "@ada:x");

    /// Type, state key and sender of each event of a room, in order.
    fn found(events: &[(&str, Option<&str>, &str)]) -> bool {
        let database = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE events (stream_ordering INTEGER PRIMARY KEY, type, state_key, room_id, sender, event_id)";
        database.execute(table, []).unwrap();
        for event in events {
            let add = "INSERT INTO events (type, state_key, room_id, sender, event_id) VALUES (?1, ?2, '!r', ?3, '$e')";
            database.execute(add, *event).unwrap();
        }
        look(&database).is_err()
    }

    #[test]
    fn a_word_of_ours_in_clear_is_found() {
        assert!(found(&[SWITCH, ("m.room.message", None, "@agent_a:x")]));
        assert!(found(&[SWITCH, ("m.room.message", None, "@parlour:x")]));
        assert!(found(&[SWITCH, ("m.reaction", None, "@agent_a:x")]));
        assert!(!found(&[("m.room.message", None, "@agent_a:x"), SWITCH]), "before the switch");
        assert!(!found(&[
            SWITCH,
            ("m.room.encrypted", None, "@agent_a:x"),
            ("m.reaction", None, "@parlour:x")
        ]));
        assert!(!found(&[SWITCH, ("m.room.message", None, "@ada:x")]), "what people do is theirs");
        assert!(!found(&[SWITCH, ("m.room.member", Some("@agent_a:x"), "@agent_a:x")]));
    }
}
