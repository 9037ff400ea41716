//! What no sane client sends. Nothing of it may panic, take long, or be lost.

use proptest::prelude::*;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::*;

#[test]
fn what_json_allows_and_strict_readers_refuse() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"{{"event_id":"$e","room_id":"!r:x","sender":"@ada:x","origin_server_ts":1e99,"type":"m.room.message",
        "unsigned":{deep},"content":{{"msgtype":"m.text","body":"first","body":"a\ud800b","x":{deep},"m.mentions":{deep}}}}}"#
    );
    let raw = RawValue::from_string(text).unwrap();
    let Incoming::Message(got) = Incoming::parse(&raw, None) else { panic!() };
    assert!(got.body.text.starts_with("a\u{fffd}") && got.body.text.ends_with('b'));
    assert_eq!(got.head.sent_at_ms, 9_007_199_254_740_991);
}

/// Some of these took time by the square of their length, minutes for one message.
#[test]
#[allow(clippy::disallowed_methods)]
fn a_text_of_nothing_but_signs_is_read_in_no_time() {
    let begun = std::time::Instant::now();
    for sign in ["@", "@:", "@a:", "> ", ">\n", "matrix.to/#/", "matrix:u/"] {
        let body = sign.repeat(60_000 / sign.len());
        let content =
            json!({"msgtype": "m.text", "body": body, "m.relates_to": {"m.in_reply_to": {"event_id": "$1"}}});
        assert!(!said(content).body.text.is_empty());
    }
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

/// JSON in the words of Matrix, so that the paths inside are reached.
fn odd_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "m.text",
        "m.image",
        "m.thread",
        "m.replace",
        "$e",
        "@a:x",
        "!r:x",
        "> <@a:x> \n",
        "\u{0}",
        "join",
        "",
        "é",
        "https://matrix.to/#/@a:x",
        "@",
        "]",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "event_id",
        "room_id",
        "sender",
        "type",
        "content",
        "state_key",
        "origin_server_ts",
        "body",
        "msgtype",
        "users",
        "m.relates_to",
        "m.in_reply_to",
        "rel_type",
        "m.new_content",
        "m.mentions",
        "user_ids",
        "redacts",
        "membership",
        "formatted_body",
        "m.poll",
        "question",
        "answers",
        "m.text",
        "filename",
        "geo_uri",
        "room",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.clone(), inner, 0..6).prop_map(|map| map
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Value>()),
        ]
    })
}

const TYPES: [&str; 8] = [
    "m.room.message",
    "m.sticker",
    "m.poll.start",
    "m.room.redaction",
    "m.room.member",
    "m.room.power_levels",
    "m.room.create",
    "m.room.encrypted",
];

proptest! {
    #[test]
    fn any_json_is_read_without_a_panic(value in odd_json()) {
        parse(&value);
        let _ = crate::ephemeral::Ephemeral::parse(&to_raw_value(&value).unwrap());
    }

    #[test]
    fn any_content_is_read_without_a_panic_or_a_loss(content in odd_json(), kind in 0..TYPES.len(), state in any::<bool>()) {
        let mut event = event(TYPES[kind], content.clone());
        if state {
            event["state_key"] = "@b:x".into();
        }
        let got = parse(&event);
        let speaks = kind < 3 && !state && content.as_object().is_some_and(|fields| !fields.is_empty());
        if speaks {
            let text = match got {
                Incoming::Message(message) => message.body.text,
                Incoming::Edit(edit) => edit.body.text,
                other => return Err(TestCaseError::fail(format!("lost: {other:?}"))),
            };
            prop_assert!(!text.trim().is_empty());
        }
    }
}
