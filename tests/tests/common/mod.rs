//! Short words that several stories use.
#![allow(dead_code, reason = "each story is a crate of its own and uses some of these")]

use anyhow::Result;
use parlour_tests::{Person, encode, until};
use reqwest::Method;
use serde_json::{Value, json};

/// A JSON text, or an empty one.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text message that mentions these.
pub(crate) fn mentioning(body: &str, users: &[&str]) -> Value {
    json!({"msgtype": "m.text", "body": body, "m.mentions": {"user_ids": users}})
}

/// Waits until somebody's membership is this; gives the event's content.
pub(crate) async fn becomes(seen_by: &Person, room: &str, user: &str, membership: &str) -> Result<Value> {
    let path = format!("/rooms/{}/state/m.room.member/{}", encode(room), encode(user));
    until(&format!("{user} to be: {membership}"), 60, async || {
        let content = seen_by.call(Method::GET, &path, None).await?.body;
        Ok((text(&content["membership"]) == membership).then_some(content))
    })
    .await
}

/// The Agent code in a letter of the bot's.
pub(crate) fn code_in(words: &str) -> Option<String> {
    let mut words = words.split_whitespace().map(|w| w.trim_matches([',', '.', ';', ':']));
    words.find(|w| w.len() == 14 && w.matches('-').count() == 2).map(str::to_owned)
}
