//! What the bridge bot says: notices, which no bot answers, with a plain and an HTML body.

use parlour_domain::ids::MessageId;
use ruma::{EventId, OwnedEventId};
use serde_json::{Value, json};

use super::SUBMISSION_KEY;

/// The same words twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub plain: String,
    pub html: String,
}

/// Where an answer belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// What is answered.
    pub event_id: OwnedEventId,
    /// The root of the thread that it is in.
    pub root: Option<OwnedEventId>,
}

/// Mentions nobody: it must wake neither people nor agents.
#[must_use]
pub fn bot_notice(said: &Said, answers: Option<&Thread>, mark: MessageId) -> Value {
    let mut content = words(said);
    content[SUBMISSION_KEY] = json!(mark);
    if let Some(Thread { event_id, root }) = answers {
        let answered = json!({"event_id": event_id});
        content["m.relates_to"] = match root {
            None => json!({"m.in_reply_to": answered}),
            Some(root) => json!({"rel_type": "m.thread", "event_id": root, "is_falling_back": false,
                "m.in_reply_to": answered}),
        };
    }
    content
}

/// Other words for an earlier notice.
#[must_use]
pub fn bot_edit(target: &EventId, said: &Said, mark: MessageId) -> Value {
    let fallback = Said { plain: format!("* {}", said.plain), html: format!("* {}", said.html) };
    let mut content = words(&fallback);
    content[SUBMISSION_KEY] = json!(mark);
    content["m.new_content"] = words(said);
    content["m.relates_to"] = json!({"rel_type": "m.replace", "event_id": target});
    content
}

/// A sign beside a message.
#[must_use]
pub fn reaction(target: &EventId, key: &str, mark: MessageId) -> Value {
    let relates_to = json!({"rel_type": "m.annotation", "event_id": target, "key": key});
    json!({"m.relates_to": relates_to, SUBMISSION_KEY: mark})
}

fn words(said: &Said) -> Value {
    json!({
        "msgtype": "m.notice",
        "body": said.plain,
        "format": "org.matrix.custom.html",
        "formatted_body": said.html,
        "m.mentions": {},
    })
}
