//! Short words that several stories use.
#![allow(dead_code, reason = "each story is a crate of its own and uses some of these")]

use serde_json::{Value, json};

/// A JSON text, or an empty one.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text message that mentions these.
pub(crate) fn mentioning(body: &str, users: &[&str]) -> Value {
    json!({"msgtype": "m.text", "body": body, "m.mentions": {"user_ids": users}})
}
