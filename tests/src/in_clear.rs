//! Whether anything of ours is in clear in an encrypted room, as the homeserver has it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, ensure};
use parlour_synapse::Synapse;
use rusqlite::{Connection, OpenFlags};

use crate::timeline::database;

/// What may stand in clear in an encrypted room: a deletion has no words, and the bot's two signs at the door are
/// reactions, which clients do not encrypt either. Synapse itself puts an empty event into a room that two homeservers
/// wrote to at once, in the name of somebody at home.
const IN_CLEAR: [&str; 4] = ["m.room.encrypted", "m.room.redaction", "m.reaction", "org.matrix.dummy_event"];

/// The bot's localpart, and what puppets' begin with.
type Names<'a> = (&'a str, &'a str);

struct Event {
    room_id: String,
    sender: String,
    event_type: String,
    event_id: String,
    is_state: bool,
    json: String,
}

/// Neither an event of ours that is no state, but for a few kinds, nor anything that was said in an encrypted room in any
/// event of ours, state included.
///
/// # Errors
/// A database cannot be read, or a puppet or the bot said something in clear after a room was encrypted.
pub(crate) fn nothing_in_clear(synapse: &Synapse, bridge: &Path, names: Names<'_>) -> Result<()> {
    look(&database(synapse)?, &said(bridge)?, names)
}

/// What the bridge has read and said in encrypted rooms, as it would stand in an event. A word by itself may be anywhere.
fn said(bridge: &Path) -> Result<Vec<String>> {
    let bridge = Connection::open_with_flags(bridge, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut texts = bridge.prepare("SELECT json_extract(body, '$.text') FROM log WHERE encrypted = 1")?;
    let texts = texts.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let quoted = texts.iter().filter(|text| text.len() >= 8 && text.contains(' ')).map(serde_json::to_string);
    Ok(quoted.map(|text| text.map(|text| text.trim_matches('"').to_owned())).collect::<Result<_, _>>()?)
}

fn look(database: &Connection, said: &[String], names: Names<'_>) -> Result<()> {
    let query = "SELECT type, room_id, sender, event_id, state_key IS NOT NULL, json FROM events JOIN event_json \
        USING (event_id, room_id) ORDER BY stream_ordering";
    let mut query = database.prepare(query)?;
    let events = query.query_map([], |row| {
        let (event_type, room_id, sender) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (event_id, is_state, json) = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(Event { room_id, sender, event_type, event_id, is_state, json })
    })?;
    let mut encrypted = BTreeSet::new();
    for event in events {
        let event = event?;
        if encrypted.contains(&event.room_id) {
            is_sealed(&event, said, names)?;
        }
        if event.is_state && event.event_type == "m.room.encryption" {
            encrypted.insert(event.room_id);
        }
    }
    Ok(())
}

fn is_sealed(event: &Event, said: &[String], (bot, prefix): Names<'_>) -> Result<()> {
    let puppet = event.sender.starts_with(&format!("@{prefix}"));
    if !puppet && !event.sender.starts_with(&format!("@{bot}:")) {
        return Ok(());
    }
    let allowed = IN_CLEAR.contains(&&*event.event_type) && !(puppet && event.event_type == "m.reaction");
    let clear = !event.is_state && !allowed || said.iter().any(|text| event.json.contains(text));
    let Event { event_type, sender, event_id, .. } = event;
    ensure!(!clear, "{event_type} of {sender} is in clear in an encrypted room: {event_id}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: (&str, Option<&str>, &str) = ("m.room.encryption", Some(""), "@ada:x");

    /// Type, state key and sender of each event of a room, in order; each says the same.
    fn found(events: &[(&str, Option<&str>, &str)]) -> bool {
        found_of(events, "nothing at all")
    }

    fn found_of(events: &[(&str, Option<&str>, &str)], text: &str) -> bool {
        let database = Connection::open_in_memory().unwrap();
        for table in [
            "events (stream_ordering INTEGER PRIMARY KEY, type, state_key, room_id, sender, event_id)",
            "event_json (event_id, room_id, json)",
        ] {
            database.execute(&format!("CREATE TABLE {table}"), []).unwrap();
        }
        for (n, (kind, state_key, sender)) in events.iter().enumerate() {
            let add = "INSERT INTO events (type, state_key, room_id, sender, event_id) VALUES (?1, ?2, '!r', ?3, ?4)";
            let id = format!("${n}");
            database.execute(add, (kind, state_key, sender, &id)).unwrap();
            let add = "INSERT INTO event_json VALUES (?1, '!r', ?2)";
            database.execute(add, (&id, format!(r#"{{"reason":"{text}"}}"#))).unwrap();
        }
        look(&database, &["the secret".to_owned()], ("parlour", "agent_")).is_err()
    }

    #[test]
    fn what_was_said_is_found_in_whatever_event() {
        for event in [
            ("m.room.member", Some("@agent_a:x"), "@agent_a:x"),
            ("m.room.topic", Some(""), "@parlour:x"),
            ("m.room.redaction", None, "@agent_a:x"),
        ] {
            assert!(found_of(&[SWITCH, event], "this is the secret"), "{event:?}");
            assert!(!found_of(&[SWITCH, event], "this is none"), "{event:?}");
            assert!(!found_of(&[event, SWITCH], "this is the secret"), "before the switch");
        }
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
