//! Whether anything of ours is in clear in an encrypted room, as the homeserver has it.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use parlour_synapse::Synapse;
use rusqlite::Connection;

use crate::timeline::database;

/// What may stand in clear in an encrypted room: a deletion has no words, and the bot's two signs at the door are
/// reactions, which clients do not encrypt either. Synapse itself puts an empty event into a room that two homeservers
/// wrote to at once, in the name of somebody at home.
const IN_CLEAR: [&str; 4] = ["m.room.encrypted", "m.room.redaction", "m.reaction", "org.matrix.dummy_event"];

/// The bot's localpart, and what puppets' begin with.
type Names<'a> = (&'a str, &'a str);

/// An event that is no state.
struct Event {
    room_id: String,
    sender: String,
    event_type: String,
    event_id: String,
}

/// # Errors
/// The database cannot be read, or a puppet or the bot said something in clear after a room was encrypted.
pub fn nothing_in_clear(synapse: &Synapse, names: Names<'_>) -> Result<()> {
    look(&database(synapse)?, names)
}

fn look(database: &Connection, names: Names<'_>) -> Result<()> {
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
                !encrypted.contains(&event.room_id) || may_be_in_clear(&event, names),
                "{} of {} is in clear in an encrypted room: {}",
                event.event_type,
                event.sender,
                event.event_id
            ),
        }
    }
    Ok(())
}

fn may_be_in_clear(event: &Event, (bot, prefix): Names<'_>) -> bool {
    let puppet = event.sender.starts_with(&format!("@{prefix}"));
    let ours = puppet || event.sender.starts_with(&format!("@{bot}:"));
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
        look(&database, ("parlour", "agent_")).is_err()
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
