//! What a message says, as text for agents. None is lost: what has no words gets some.

use parlour_domain::message::Body;

use super::{fallback, mentions, poll, relation};
use crate::json::Fields;

/// How much of a type's name goes into a placeholder.
const TYPE_CHARS: usize = 64;

const POLLS: [&str; 2] = ["m.poll.start", "org.matrix.msc3381.poll.start"];

/// Whether events of this type are messages.
pub(super) fn is_message(event_type: &str) -> bool {
    matches!(event_type, "m.room.message" | "m.sticker") || POLLS.contains(&event_type)
}

/// Reads a message's content; of the relations only what makes a reply or a thread.
pub(super) fn read(event_type: &str, content: &Fields<'_>) -> Body {
    let relation = relation::read(content);
    let mut said = Said::of(event_type, content);
    if relation.quotes {
        said.text = fallback::without_quotation(&said.text).to_owned();
    }
    let mentions = mentions::read(content, &said.text);
    Body {
        text: said.text,
        attachment_name: said.attachment_name,
        mentions: mentions.users,
        mentions_everyone: mentions.everyone,
        edited: false,
        reply_to: relation.reply_to,
        thread: relation.thread,
    }
}

#[derive(Default)]
struct Said {
    text: String,
    attachment_name: Option<String>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, attachment_name: None }
    }
}

impl Said {
    fn of(event_type: &str, content: &Fields<'_>) -> Self {
        if POLLS.contains(&event_type) {
            return poll::text(content).unwrap_or_else(|| "[poll]".to_owned()).into();
        }
        if event_type == "m.sticker" {
            return words(content).unwrap_or_else(|| "[sticker]".to_owned()).into();
        }
        let msgtype = content.text("msgtype").unwrap_or_default();
        match msgtype.as_str() {
            "m.image" => attachment(content, "[image]"),
            "m.file" => attachment(content, "[file]"),
            "m.audio" => attachment(content, "[audio]"),
            "m.video" => attachment(content, "[video]"),
            "m.location" => location(content).into(),
            "m.text" | "m.notice" => plain(content).into(),
            // As in IRC. Who it is that waves stands beside the text anyway.
            "m.emote" => format!("* {}", plain(content)).into(),
            _ => words(content).unwrap_or_else(|| unsupported(&msgtype)).into(),
        }
    }
}

/// The body, unless there is nothing to read in it.
fn words(content: &Fields<'_>) -> Option<String> {
    content.text("body").filter(|body| !body.trim().is_empty())
}

fn plain(content: &Fields<'_>) -> String {
    words(content).unwrap_or_else(|| "[empty message]".to_owned())
}

fn unsupported(msgtype: &str) -> String {
    match msgtype.chars().take(TYPE_CHARS).filter(|c| !c.is_control()).collect::<String>() {
        name if name.is_empty() => "[unsupported message]".to_owned(),
        name => format!("[unsupported message: {name}]"),
    }
}

/// The caption if there is one, else the file's name (spec, "Media captions": only beside a `filename` that differs is
/// the body a caption).
fn attachment(content: &Fields<'_>, placeholder: &str) -> Said {
    let body = words(content);
    let name = content.text("filename").filter(|name| !name.trim().is_empty()).or_else(|| body.clone());
    let text = body.or_else(|| name.clone()).unwrap_or_else(|| placeholder.to_owned());
    Said { text, attachment_name: name }
}

/// The description, with the coordinates unless they are part of it already.
fn location(content: &Fields<'_>) -> String {
    let place = content.text("geo_uri").filter(|uri| uri.starts_with("geo:"));
    match (words(content), place) {
        (Some(words), Some(place)) if !words.contains(&place) => format!("{words} ({place})"),
        (Some(words), _) => words,
        (None, Some(place)) => place,
        (None, None) => "[location]".to_owned(),
    }
}
