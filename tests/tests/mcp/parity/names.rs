//! Bodies of two runs become alike once what is drawn anew is named by its turn.

use serde_json::{Value, json};

/// What is drawn anew in each run, by the order in which it is first told.
#[derive(Default)]
pub(super) struct Names(Vec<(String, String)>);

const DRAWN: [&str; 11] = [
    "agentId",
    "token",
    "matrixRoomId",
    "catalogId",
    "displayName",
    "matrixUserId",
    "eventId",
    "messageId",
    "submissionId",
    "correlationId",
    "code",
];

impl Names {
    fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let drawn = DRAWN.contains(&key.as_str()).then(|| value.as_str()).flatten();
                    if let Some(drawn) = drawn.filter(|d| d.len() > 8 && !d.starts_with("network_agent.")) {
                        self.add(key, drawn);
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn add(&mut self, key: &str, drawn: &str) {
        if !self.0.iter().any(|(known, _)| known == drawn) {
            self.0.push((drawn.to_owned(), format!("<{key} {}>", self.0.len())));
        }
    }

    pub(super) fn hide(&mut self, mut body: Value) -> String {
        self.learn(&body);
        still(&mut body);
        self.0.iter().fold(body.to_string(), |text, (drawn, name)| text.replace(drawn.as_str(), name))
    }
}

/// Times, and what only one of the fronts can say.
fn still(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if key.ends_with("UnixMs") {
                    *value = json!(0);
                }
                still(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(still),
        _ => {}
    }
}
