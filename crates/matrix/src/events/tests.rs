//! What becomes of events in every shape.

use rstest::rstest;
use serde_json::{Value, json, value::to_raw_value};

use super::*;

mod odd;
mod state;

fn parse(event: &Value) -> Incoming {
    Incoming::parse(&to_raw_value(event).unwrap(), None)
}

fn event(event_type: &str, content: Value) -> Value {
    json!({"event_id": "$e", "room_id": "!r:x", "sender": "@ada:x", "origin_server_ts": 5, "type": event_type,
        "content": content})
}

fn said(content: Value) -> NewMessage {
    said_as("m.room.message", content)
}

fn said_as(event_type: &str, content: Value) -> NewMessage {
    match parse(&event(event_type, content)) {
        Incoming::Message(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

#[test]
fn a_message_with_everything_around_it() {
    let content = json!({"msgtype": "m.text", "body": "hi", "m.mentions": {"user_ids": ["@bob:x"], "room": true},
        "io.parlour.submission_id": "0199aaaa-0000-7000-8000-000000000000"});
    let got = said(content.clone());
    let ids = (got.head.event_id.as_str(), got.head.room_id.as_str(), got.head.sender.as_str());
    assert_eq!((ids, got.head.sent_at_ms), (("$e", "!r:x", "@ada:x"), 5));
    assert_eq!((got.event_type.as_str(), got.body.text.as_str()), ("m.room.message", "hi"));
    assert!(got.body.mentions == ["@bob:x"] && got.body.mentions_everyone);
    assert_eq!(got.submission.unwrap().to_string(), "0199aaaa-0000-7000-8000-000000000000");
    assert_eq!(serde_json::from_str::<Value>(got.content.get()).unwrap(), content);
}

#[rstest]
#[case::text(json!({"msgtype": "m.text", "body": "hi"}), "hi", None)]
#[case::notice(json!({"msgtype": "m.notice", "body": "hi"}), "hi", None)]
#[case::emote(json!({"msgtype": "m.emote", "body": "waves"}), "* waves", None)]
#[case::nul(json!({"msgtype": "m.text", "body": "a\u{0}b"}), "a\u{fffd}b", None)]
#[case::empty(json!({"msgtype": "m.text", "body": ""}), "[empty message]", None)]
#[case::blank(json!({"msgtype": "m.text", "body": " \n"}), "[empty message]", None)]
#[case::no_text(json!({"msgtype": "m.text", "body": 7}), "[empty message]", None)]
#[case::image(json!({"msgtype": "m.image", "body": "cat.png"}), "cat.png", Some("cat.png"))]
#[case::image_named_twice(json!({"msgtype": "m.image", "body": "cat.png", "filename": "cat.png"}), "cat.png", Some("cat.png"))]
#[case::image_with_caption(json!({"msgtype": "m.image", "body": "my cat", "filename": "cat.png"}), "my cat", Some("cat.png"))]
#[case::image_without_body(json!({"msgtype": "m.image", "filename": "cat.png"}), "cat.png", Some("cat.png"))]
#[case::image_without_anything(json!({"msgtype": "m.image"}), "[image]", None)]
#[case::file(json!({"msgtype": "m.file", "body": "a.pdf", "filename": 7}), "a.pdf", Some("a.pdf"))]
#[case::audio(json!({"msgtype": "m.audio", "body": "Voice message"}), "Voice message", Some("Voice message"))]
#[case::video(json!({"msgtype": "m.video", "body": ""}), "[video]", None)]
#[case::location(json!({"msgtype": "m.location", "body": "Big Ben", "geo_uri": "geo:51.5,-0.1"}), "Big Ben (geo:51.5,-0.1)", None)]
#[case::location_twice(json!({"msgtype": "m.location", "body": "at geo:1,2", "geo_uri": "geo:1,2"}), "at geo:1,2", None)]
#[case::location_bare(json!({"msgtype": "m.location", "geo_uri": "geo:1,2"}), "geo:1,2", None)]
#[case::location_nowhere(json!({"msgtype": "m.location", "geo_uri": "javascript:"}), "[location]", None)]
#[case::unknown_with_body(json!({"msgtype": "com.example.dice", "body": "rolled 6"}), "rolled 6", None)]
#[case::unknown_without(json!({"msgtype": "com.example.dice"}), "[unsupported message: com.example.dice]", None)]
#[case::no_type_with_body(json!({"body": "hi"}), "hi", None)]
#[case::no_type(json!({"foo": 1}), "[unsupported message]", None)]
#[case::odd_type(json!({"msgtype": {"a": 1}, "body": []}), "[unsupported message]", None)]
fn texts(#[case] content: Value, #[case] text: &str, #[case] attachment: Option<&str>) {
    let body = said(content).body;
    assert_eq!((body.text.as_str(), body.attachment_name.as_deref()), (text, attachment));
}

#[rstest]
#[case::sticker("m.sticker", json!({"body": "a cat"}), "a cat")]
#[case::sticker_without_words("m.sticker", json!({"url": "mxc://x/y"}), "[sticker]")]
#[case::poll("m.poll.start", json!({"m.poll": {"question": {"m.text": [{"mimetype": "text/html", "body": "<b>Tea</b>?"},
    {"body": "Tea?"}]}, "answers": [{"m.id": "1", "m.text": [{"body": "yes"}]}, 7, {"m.text": "no"}]}}), "Tea?\n1. yes\n2. no")]
#[case::unstable_poll("org.matrix.msc3381.poll.start", json!({"org.matrix.msc3381.poll.start": {
    "question": {"org.matrix.msc1767.text": "Tea?"}, "answers": [{"id": "1", "org.matrix.msc1767.text": "yes"}]}}), "Tea?\n1. yes")]
#[case::poll_as_text("m.poll.start", json!({"org.matrix.msc1767.text": "Tea? 1. yes"}), "Tea? 1. yes")]
#[case::odd_poll("m.poll.start", json!({"m.poll": []}), "[poll]")]
fn other_types_that_say_something(#[case] event_type: &str, #[case] content: Value, #[case] text: &str) {
    assert_eq!(said_as(event_type, content).body.text, text);
}

/// A relation, and the reply target and thread that it means.
#[rstest]
#[case::none(json!(null), None, None)]
#[case::reply(json!({"m.in_reply_to": {"event_id": "$1"}}), Some("$1"), None)]
#[case::empty_reply(json!({"m.in_reply_to": {}}), None, None)]
#[case::odd_reply(json!({"m.in_reply_to": "$1"}), None, None)]
#[case::no_id(json!({"m.in_reply_to": {"event_id": "1"}}), None, None)]
#[case::fallback(json!({"rel_type": "m.thread", "event_id": "$0", "is_falling_back": true, "m.in_reply_to": {"event_id": "$1"}}), None, Some("$0"))]
#[case::in_thread(json!({"rel_type": "m.thread", "event_id": "$0", "is_falling_back": false, "m.in_reply_to": {"event_id": "$1"}}), Some("$1"), Some("$0"))]
#[case::in_thread_unsaid(json!({"rel_type": "m.thread", "event_id": "$0", "m.in_reply_to": {"event_id": "$1"}}), Some("$1"), Some("$0"))]
#[case::thread_alone(json!({"rel_type": "m.thread", "event_id": "$0"}), None, Some("$0"))]
#[case::broken_thread(json!({"rel_type": "m.thread", "event_id": 0, "is_falling_back": true, "m.in_reply_to": {"event_id": "$1"}}), Some("$1"), None)]
#[case::reference(json!({"rel_type": "m.reference", "event_id": "$0"}), None, None)]
#[case::edit_of_nothing(json!({"rel_type": "m.replace"}), None, None)]
#[case::edit_without_content(json!({"rel_type": "m.replace", "event_id": "$0"}), None, None)]
#[case::list(json!([]), None, None)]
fn relations(#[case] relates: Value, #[case] reply: Option<&str>, #[case] thread: Option<&str>) {
    let body = said(json!({"msgtype": "m.text", "body": "hi", "m.relates_to": relates})).body;
    assert_eq!(
        (body.reply_to.as_deref().map(|e| e.as_str()), body.thread.as_deref().map(|e| e.as_str())),
        (reply, thread)
    );
    assert_eq!(body.text, "hi");
}

#[rstest]
#[case::reply(json!({"m.in_reply_to": {"event_id": "$1"}}), "hi", &[])]
#[case::no_reply(json!({}), "> <@bob:x> hello\n\nhi", &["@bob:x"])]
fn only_a_reply_loses_its_quotation(#[case] relates: Value, #[case] text: &str, #[case] mentions: &[&str]) {
    let content = json!({"msgtype": "m.text", "body": "> <@bob:x> hello\n\nhi", "m.relates_to": relates});
    let body = said(content).body;
    assert_eq!(body.text, text);
    assert_eq!(body.mentions, mentions);
}

#[test]
fn an_edit_brings_new_words_but_no_new_relation() {
    let new = json!({"msgtype": "m.text", "body": "new @bob:x", "m.relates_to": {"m.in_reply_to": {"event_id": "$9"}}});
    let content = json!({"msgtype": "m.text", "body": "* new", "m.new_content": new,
        "m.relates_to": {"rel_type": "m.replace", "event_id": "$1"}});
    let Incoming::Edit(edit) = parse(&event("m.room.message", content)) else { panic!() };
    assert_eq!((edit.target.as_str(), edit.body.text.as_str()), ("$1", "new @bob:x"));
    assert_eq!((edit.body.mentions.len(), edit.body.reply_to), (1, None));
    assert_eq!(serde_json::from_str::<Value>(edit.content.get()).unwrap(), new);
}

#[rstest]
#[case(json!("text"))]
#[case(json!({}))]
#[case(json!(null))]
fn half_an_edit_is_a_message(#[case] new: Value) {
    let relates = json!({"rel_type": "m.replace", "event_id": "$1"});
    let got =
        said(json!({"msgtype": "m.text", "body": "* new", "m.new_content": new, "m.relates_to": relates}));
    assert_eq!(got.body.text, "* new");
}

#[rstest]
#[case("m.room.message")]
#[case("m.room.encrypted")]
#[case("m.sticker")]
#[case("m.poll.start")]
fn deleted_before_it_came(#[case] event_type: &str) {
    assert!(matches!(parse(&event(event_type, json!({}))), Incoming::Redacted { .. }));
}

#[test]
fn sealed_or_passed_over() {
    let sealed = json!({"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"});
    assert!(matches!(parse(&event("m.room.encrypted", sealed)), Incoming::Encrypted { .. }));
    for event_type in
        ["m.reaction", "m.call.invite", "m.poll.response", "m.poll.end", "com.example.thing", ""]
    {
        assert!(
            matches!(parse(&event(event_type, json!({"body": "x"}))), Incoming::Ignored { .. }),
            "{event_type}"
        );
    }
}

#[rstest]
#[case::old_room(json!({"redacts": "$1"}), json!({"reason": "x"}), Some("$1"))]
#[case::new_room(json!({}), json!({"redacts": "$1"}), Some("$1"))]
#[case::the_outer_counts(json!({"redacts": "$1"}), json!({"redacts": "$2"}), Some("$1"))]
#[case::itself_redacted(json!({}), json!({}), None)]
fn redactions(#[case] outside: Value, #[case] content: Value, #[case] redacts: Option<&str>) {
    let mut event = event("m.room.redaction", content);
    event.as_object_mut().unwrap().extend(outside.as_object().unwrap().clone());
    let got = match parse(&event) {
        Incoming::Redaction(redaction) => Some(redaction.redacts),
        Incoming::Ignored { .. } => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(got.as_deref().map(|e| e.as_str()), redacts);
}

#[test]
fn the_room_comes_from_the_event_or_from_where_it_was_fetched() {
    let mut event = event("m.room.message", json!({"body": "x"}));
    event.as_object_mut().unwrap().remove("room_id");
    let raw = to_raw_value(&event).unwrap();
    let Incoming::Message(got) = Incoming::parse(&raw, Some(ruma::room_id!("!other:x"))) else { panic!() };
    assert_eq!(got.head.room_id, "!other:x");
    assert!(matches!(Incoming::parse(&raw, None), Incoming::Poison { .. }));

    let mut first = self::event("m.room.create", json!({"room_version": "12"}));
    first["state_key"] = "".into();
    first.as_object_mut().unwrap().remove("room_id");
    let Incoming::State(got) = parse(&first) else { panic!() };
    assert_eq!(got.head.room_id, "!e");
}

#[rstest]
#[case::no_id("event_id", json!("e"), false)]
#[case::long_id("event_id", Value::from(format!("${}", "x".repeat(255))), false)]
#[case::no_sender("sender", json!(7), true)]
#[case::long_sender("sender", Value::from(format!("@{}:x", "x".repeat(255))), true)]
#[case::no_room("room_id", json!("r"), true)]
#[case::no_type("type", json!(null), true)]
#[case::list_for_content("content", json!([]), true)]
#[case::odd_state_key("state_key", json!(7), true)]
fn no_event(#[case] key: &str, #[case] value: Value, #[case] knows_id: bool) {
    let mut event = event("m.room.message", json!({"msgtype": "m.text", "body": "x"}));
    event[key] = value;
    let Incoming::Poison { event_id, .. } = parse(&event) else { panic!() };
    assert_eq!(event_id.is_some(), knows_id);
}
