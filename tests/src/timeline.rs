//! What Synapse itself says was said: the authority for "exactly once".

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
