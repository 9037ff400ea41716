//! Moderators and ban lists: what they say holds for agents and for those who talk to them.
#![allow(clippy::disallowed_methods, reason = "a story runs in real time beside real processes")]

mod ban_lists;
#[path = "../common/mod.rs"]
mod common;
mod lobby;
#[allow(dead_code, reason = "another story uses the rest of it")]
#[path = "../encrypted/world.rs"]
mod world;

use anyhow::Result;
use parlour_tests::{Person, encode, until};
use reqwest::Method;
use serde_json::Value;

use crate::common::text;

/// Waits until somebody's membership is this; gives the event's content.
async fn becomes(seen_by: &Person, room: &str, user: &str, membership: &str) -> Result<Value> {
    let path = format!("/rooms/{}/state/m.room.member/{}", encode(room), encode(user));
    until(&format!("{user} to be: {membership}"), 60, async || {
        let content = seen_by.call(Method::GET, &path, None).await?.body;
        Ok((text(&content["membership"]) == membership).then_some(content))
    })
    .await
}
