//! A message as agents read it (wire contract, section 4).

use parlour_app::view::{self, Seen};
use parlour_domain::{agent::Author, limits::CUT_TEXT, message::cut};
use schemars::JsonSchema;
use serde::Serialize;

/// How much of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The first 1000 code points: inbox and history.
    Cut,
    /// All of it: lookup.
    Full,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    #[schemars(extend("format" = "uuid"))]
    message_id: String,
    event_id: String,
    room_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    room_name: Option<String>,
    actor: Actor,
    /// The event's `origin_server_ts`.
    created_at_unix_ms: i64,
    conversation: Conversation,
    /// Null where it answers nothing; never left out.
    reply_to_message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<Quote>,
    from_me: bool,
    /// I am among the mentions, or it answers a message of mine.
    mentions_me: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mentions_everyone: bool,
    /// From before I entered the room.
    before_join: bool,
}

impl Message {
    pub(crate) fn new(seen: &Seen, length: Length) -> Self {
        let message = &seen.message;
        Self {
            message_id: message.message_id.to_string(),
            event_id: message.event_id.to_string(),
            room_id: seen.room.room_id.to_string(),
            room_name: seen.room.name.clone(),
            actor: Actor::new(message.author.clone(), message.sender.to_string()),
            created_at_unix_ms: message.sent_at_ms,
            conversation: Conversation::new(&message.body, length),
            reply_to_message_id: seen.reply_to.clone(),
            reply_to: seen.quote.as_ref().map(Quote::from),
            from_me: seen.from_me,
            mentions_me: seen.mentions_me,
            mentions_everyone: seen.mentions_everyone,
            before_join: seen.before_join,
        }
    }

    pub(crate) fn all(seen: &[Seen], length: Length) -> Vec<Self> {
        seen.iter().map(|s| Self::new(s, length)).collect()
    }
}

/// Who wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Actor {
    Human {
        display_name: String,
        matrix_user_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        avatar_url: Option<String>,
    },
    Agent {
        agent: AgentActor,
        /// The same as in `agent`, where readers that know only people look.
        display_name: String,
        matrix_user_id: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentActor {
    #[schemars(extend("format" = "uuid"))]
    agent_id: String,
    display_name: String,
    matrix_user_id: String,
}

impl Actor {
    fn new(author: Author, matrix_user_id: String) -> Self {
        match author {
            Author::Person { display_name, avatar_url } => {
                Self::Human { display_name, matrix_user_id, avatar_url }
            }
            Author::Agent { id, display_name, .. } => Self::Agent {
                agent: AgentActor {
                    agent_id: id.to_string(),
                    display_name: display_name.clone(),
                    matrix_user_id: matrix_user_id.clone(),
                },
                display_name,
                matrix_user_id,
            },
        }
    }
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Conversation {
    text: String,
    /// Matrix user ids.
    mentions: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Code points of the whole text; only with `truncated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attachment_name: Option<String>,
}

impl Conversation {
    fn new(body: &parlour_domain::message::Body, length: Length) -> Self {
        let short = if length == Length::Cut { cut(&body.text, CUT_TEXT) } else { None };
        Self {
            text: short.unwrap_or(&body.text).to_owned(),
            mentions: body.mentions.iter().map(ToString::to_string).collect(),
            truncated: short.is_some(),
            full_length: short.map(|_| body.text.chars().count()),
            attachment_name: body.attachment_name.clone(),
        }
    }
}

/// The beginning of the message that it answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Quote {
    message_id: String,
    actor_name: String,
    excerpt: String,
}

impl From<&view::Quote> for Quote {
    fn from(quote: &view::Quote) -> Self {
        Self {
            message_id: quote.message_id.to_string(),
            actor_name: quote.actor_name.clone(),
            excerpt: quote.excerpt.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tests::samples;

    fn long(text: &str) -> Seen {
        let mut seen = samples::by_person();
        Arc::make_mut(&mut seen.message).body.text = text.to_owned();
        seen
    }

    #[test]
    fn by_a_person_by_an_agent_and_with_everything() {
        let all = [samples::by_person(), samples::by_agent(), samples::with_everything()];
        insta::assert_json_snapshot!(Message::all(&all, Length::Cut));
    }

    #[test]
    fn texts_are_cut_at_a_thousand_code_points() {
        let fits = "😀".repeat(CUT_TEXT);
        let kept = Message::new(&long(&fits), Length::Cut).conversation;
        assert_eq!((kept.text.as_str(), kept.truncated, kept.full_length), (fits.as_str(), false, None));

        let over = fits.clone() + "é";
        let cut = Message::new(&long(&over), Length::Cut).conversation;
        assert_eq!((cut.text, cut.truncated, cut.full_length), (fits, true, Some(CUT_TEXT + 1)));
        let full = Message::new(&long(&over), Length::Full).conversation;
        assert_eq!((full.text, full.truncated, full.full_length), (over, false, None));
    }
}
