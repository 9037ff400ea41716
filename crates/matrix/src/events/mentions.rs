//! Whom a message mentions: `m.mentions`, and where that is absent (clients before Matrix 1.7) links to people and full
//! Matrix ids.

use percent_encoding::percent_decode_str;
use ruma::OwnedUserId;

use super::fallback;
use crate::json::{Fields, string, user_id};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    pub(super) users: Vec<OwnedUserId>,
    pub(super) everyone: bool,
}

/// `text` is the body without a reply's quotation, which mentions whom it quotes.
pub(super) fn read(content: &Fields<'_>, text: &str) -> Mentions {
    let mut mentions = match content.object("m.mentions") {
        Some(declared) => declared_in(&declared),
        None => Mentions { users: written_in(content, text), everyone: false },
    };
    let mut seen = std::collections::HashSet::new();
    mentions.users.retain(|user| seen.insert(user.clone()));
    mentions
}

fn declared_in(mentions: &Fields<'_>) -> Mentions {
    let ids = mentions.list("user_ids").unwrap_or_default();
    let users = ids.into_iter().filter_map(|id| user_id(&string(id)?)).collect();
    Mentions { users, everyone: mentions.is_true("room") }
}

fn written_in(content: &Fields<'_>, text: &str) -> Vec<OwnedUserId> {
    let html = content.text("formatted_body").unwrap_or_default();
    let mut users = linked(fallback::html_without_quotation(&html));
    users.extend(linked(text));
    users.extend(named(text));
    users
}

/// People in `https://matrix.to/#/@name:server` and `matrix:u/name:server`.
fn linked(text: &str) -> Vec<OwnedUserId> {
    let mut users = vec![];
    for (mark, sigil) in [("matrix.to/#/", ""), ("matrix:u/", "@")] {
        for (at, _) in text.match_indices(mark) {
            let target = until(&text[at + mark.len()..], LINK_ENDS);
            let id = format!("{sigil}{}", percent_decode_str(target).decode_utf8_lossy());
            users.extend(user_id(trimmed(&id)));
        }
    }
    users
}

const LINK_ENDS: &[char] = &['"', '\'', '<', '>', ')', ']', '?', '&', '/', ' ', '\n', '\r', '\t'];

/// Full Matrix ids. Only the characters that ids are made of today: prose holds too much else.
fn named(text: &str) -> Vec<OwnedUserId> {
    let mut users = vec![];
    for (at, _) in text.match_indices('@') {
        let in_a_word =
            text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "@._/-+=".contains(c));
        if in_a_word {
            continue;
        }
        // Ends before the next `@`, so that a text full of them is still looked at only once.
        let rest = while_in(&text[at + 1..], |c| c.is_ascii_alphanumeric() || ":._=/+-[]".contains(c));
        if !rest.starts_with(':') {
            users.extend(user_id(trimmed(&text[at..at + 1 + rest.len()])));
        }
    }
    users
}

/// Without what ends a sentence rather than an id.
fn trimmed(id: &str) -> &str {
    let id = id.trim_end_matches(|c: char| ".,;:!?-_=+/".contains(c));
    // An address in brackets is closed by one; any other bracket belongs to the sentence.
    if id.contains(":[") { id } else { id.trim_end_matches(']') }
}

fn until<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

fn while_in(text: &str, good: impl Fn(char) -> bool) -> &str {
    text.find(|c| !good(c)).map_or(text, |end| &text[..end])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;

    fn users(content: &Value) -> Vec<String> {
        let raw = to_raw_value(content).unwrap();
        let fields = Fields::of(&raw).unwrap();
        let text = fields.text("body").unwrap_or_default();
        read(&fields, &text).users.into_iter().map(Into::into).collect()
    }

    #[rstest]
    #[case("hello @ada:example.org", &["@ada:example.org"])]
    #[case("@ada:example.org: look", &["@ada:example.org"])]
    #[case("(@ada:example.org) and @bob:x.", &["@ada:example.org", "@bob:x"])]
    #[case("@ada:x @ada:x", &["@ada:x"])]
    #[case("@ada:localhost:8448!", &["@ada:localhost:8448"])]
    #[case("@ada:[::1]:80 hi", &["@ada:[::1]:80"])]
    #[case("你好@ada:x", &[])]
    #[case("write to me@ada:80", &[])]
    #[case("@room @ada @:x @a: b", &[])]
    #[case("see https://matrix.to/#/@ada:x?via=y or <https://matrix.to/#/%40bob%3Ax>", &["@ada:x", "@bob:x"])]
    #[case("matrix:u/ada:x?action=chat", &["@ada:x"])]
    #[case("https://matrix.to/#/#room:x https://matrix.to/#/!r:x/$e", &[])]
    fn written(#[case] body: &str, #[case] expected: &[&str]) {
        assert_eq!(users(&json!({"body": body})), expected);
    }

    #[test]
    fn links_in_html_count_but_not_those_of_the_quotation() {
        let html = "<mx-reply><a href=\"https://matrix.to/#/@quoted:x\">q</a></mx-reply>\
                    <a href=\"https://matrix.to/#/%40ada%3Ax\">Ada</a>, hi";
        assert_eq!(users(&json!({"body": "Ada, hi", "formatted_body": html})), ["@ada:x"]);
    }

    #[rstest]
    #[case(json!({"user_ids": ["@ada:x", 7, null, "ada", "@ada:x", "@bob:x"]}), &["@ada:x", "@bob:x"])]
    #[case(json!({}), &[])]
    #[case(json!({"user_ids": "@ada:x"}), &[])]
    #[case(json!({"user_ids": {"a": 1}, "room": "true"}), &[])]
    #[case(json!(null), &["@text:x"])]
    #[case(json!("@ada:x"), &["@text:x"])]
    fn declared(#[case] mentions: Value, #[case] expected: &[&str]) {
        assert_eq!(users(&json!({"body": "@text:x", "m.mentions": mentions})), expected);
    }

    #[rstest]
    #[case(json!({"room": true}), true)]
    #[case(json!({"room": "true"}), false)]
    #[case(json!({"room": 1}), false)]
    fn everyone(#[case] mentions: Value, #[case] expected: bool) {
        let raw = to_raw_value(&json!({"m.mentions": mentions})).unwrap();
        assert_eq!(read(&Fields::of(&raw).unwrap(), "@room").everyone, expected);
    }
}
