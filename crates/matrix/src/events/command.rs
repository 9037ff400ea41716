//! Commands in the form that clients begin to know (MSC4391, as mautrix and gomuks have it): announced by one state
//! event each, sent as a key of an ordinary message.

use base64::{Engine, engine::general_purpose::STANDARD};
use ruma::UserId;
use serde_json::{Value, json, value::RawValue};
use sha2::{Digest, Sha256};

use crate::json::{Entries, Fields, int, string};

/// Key of the command in a message.
const SENT: &str = "org.matrix.msc4391.command";
/// Type of the state event that announces one.
const DESCRIPTION: &str = "org.matrix.msc4391.command_description";

/// A command that clients may offer.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    /// As it is typed, without a slash; may be several words.
    pub command: &'static str,
    pub description: &'static str,
    pub parameter: Option<Parameter>,
}

/// What a command takes: text to the end of the line.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub key: &'static str,
    pub description: &'static str,
    pub optional: bool,
}

impl Announced {
    /// Type of the state event.
    #[must_use]
    pub fn event_type() -> &'static str {
        DESCRIPTION
    }

    /// A hash over command and owner, so that nobody can announce a command in another's name.
    #[must_use]
    pub fn state_key(&self, owner: &UserId) -> String {
        STANDARD.encode(Sha256::digest(format!("{}{owner}", self.command)))
    }

    #[must_use]
    pub fn content(&self) -> Value {
        let text = |text: &str| json!({"m.text": [{"body": text}]});
        let parameters: Vec<Value> =
            self.parameter.iter().map(|p| parameter(p, text(p.description))).collect();
        let mut content = json!({
            "command": self.command,
            "description": text(self.description),
            "parameters": parameters,
        });
        if let Some(parameter) = self.parameter {
            content["fi.mau.tail_parameter"] = parameter.key.into();
        }
        content
    }
}

fn parameter(parameter: &Parameter, description: Value) -> Value {
    let mut described = json!({
        "key": parameter.key,
        "schema": {"schema_type": "primitive", "type": "string"},
        "description": description,
    });
    if parameter.optional {
        described["optional"] = true.into();
    }
    described
}

/// The command in a message as one would type it: its name and what it is given.
pub(super) fn read(content: &Fields<'_>) -> Option<String> {
    let sent = content.object(SENT)?;
    let mut typed = sent.text("command")?;
    let given = sent.get("arguments").and_then(|raw| serde_json::from_str::<Entries<'_>>(raw.get()).ok());
    for value in given.into_iter().flat_map(|entries| entries.0).filter_map(|(_, value)| plain(value)) {
        typed.push(' ');
        typed.push_str(&value);
    }
    Some(typed)
}

/// Text, a number, or the id in a reference to a room.
fn plain(value: &RawValue) -> Option<String> {
    let number = || int(value).map(|n| n.to_string());
    string(value).or_else(|| Fields::of(value)?.text("id")).or_else(number)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use ruma::user_id;
    use serde_json::value::to_raw_value;

    use super::*;

    #[rstest]
    #[case(json!({"command": "agents admit", "arguments": {"who": "Scout #2316"}}), Some("agents admit Scout #2316"))]
    #[case(json!({"command": "agents help"}), Some("agents help"))]
    #[case(json!({"command": "agents admit", "arguments": {"who": 2316}}), Some("agents admit 2316"))]
    #[case(json!({"command": "agents code", "arguments": {"room": {"type": "room_id", "id": "!r:x"}}}), Some("agents code !r:x"))]
    #[case(json!({"command": "agents code", "arguments": [1]}), Some("agents code"))]
    #[case(json!({"command": 7}), None)]
    #[case(json!([]), None)]
    fn as_one_would_type_it(#[case] sent: Value, #[case] typed: Option<&str>) {
        let raw = to_raw_value(&json!({SENT: sent})).unwrap();
        assert_eq!(read(&Fields::of(&raw).unwrap()).as_deref(), typed);
    }

    #[test]
    fn announced_under_a_hash_of_its_own() {
        let code = Announced {
            command: "agents code",
            description: "The code",
            parameter: Some(Parameter { key: "room", description: "Which room", optional: true }),
        };
        assert_eq!(code.state_key(user_id!("@bot:x")), "hyGloIhO/la24frFXeHumx25wo3+Tt69kogvD75tffY=");
        let expected = json!({
            "command": "agents code",
            "description": {"m.text": [{"body": "The code"}]},
            "fi.mau.tail_parameter": "room",
            "parameters": [{"key": "room", "optional": true, "schema": {"schema_type": "primitive", "type": "string"},
                "description": {"m.text": [{"body": "Which room"}]}}],
        });
        assert_eq!(code.content(), expected);
    }
}
