//! Transactions that no homeserver should send.

use serde_json::{Value, json};

use super::SECRET_TEXT;

/// Transactions as bytes, each with what the homeserver is to be told: 200 for every JSON object.
pub(crate) fn bad_transactions(room: &str, user: &str) -> Vec<(&'static str, Vec<u8>, u16)> {
    let message = |id: &str, content: Value| json!({"type": "m.room.message", "event_id": id, "room_id": room, "sender": user, "origin_server_ts": 1, "content": content});
    let events = |events: Vec<Value>| json!({"events": events}).to_string().into_bytes();
    let said = json!({"msgtype": "m.text", "body": SECRET_TEXT});
    let without = |key: &str| {
        let mut event = message("$without", said.clone());
        event.as_object_mut().map(|event| event.remove(key));
        events(vec![event])
    };
    let with = |key: &str, value: Value| {
        let mut event = message("$with", said.clone());
        event[key] = value;
        events(vec![event])
    };
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let raw = |id: &str, content: &str| {
        let event = format!(
            "{{\"type\":\"m.room.message\",\"event_id\":\"{id}\",\"room_id\":\"{room}\",\"sender\":\"{user}\",\
            \"origin_server_ts\":1,\"content\":{content}}}"
        );
        format!("{{\"events\":[{event}]}}").into_bytes()
    };
    let long_id = format!("${}", "x".repeat(300));
    vec![
        ("no JSON", b"events".to_vec(), 400),
        ("empty", Vec::new(), 400),
        ("a list", b"[]".to_vec(), 400),
        ("a text", b"\"events\"".to_vec(), 400),
        ("null", b"null".to_vec(), 400),
        ("cut short", b"{\"events\":[".to_vec(), 400),
        ("not UTF-8", b"{\"events\":[\"\xff\"]}".to_vec(), 200),
        ("no keys", b"{}".to_vec(), 200),
        ("events a text", b"{\"events\":\"none\"}".to_vec(), 200),
        ("events null", b"{\"events\":null}".to_vec(), 200),
        ("events an object", b"{\"events\":{\"0\":{}}}".to_vec(), 200),
        ("events that are none", b"{\"events\":[null,1,\"x\",[],{},true]}".to_vec(), 200),
        ("events deep inside", format!("{{\"events\":{}}}", nested(50_000)).into_bytes(), 200),
        ("other keys of all types", b"{\"events\":[],\"ephemeral\":7,\"de.sorunome.msc2409.ephemeral\":{},\"to_device\":\"x\",\"x\":null}".to_vec(), 200),
        ("ephemeral of all kinds", json!({"ephemeral": [null, {}, {"type": "m.typing"}, {"type": "m.typing", "room_id": 1, "content": []},
            {"type": "m.typing", "room_id": room, "content": {"user_ids": "x"}}, {"type": "m.receipt", "room_id": room, "content": {"$x": 1}}]}).to_string().into_bytes(), 200),
        ("no type", without("type"), 200),
        ("no event_id", without("event_id"), 200),
        ("no room_id", without("room_id"), 200),
        ("no sender", without("sender"), 200),
        ("no content", without("content"), 200),
        ("type a number", with("type", json!(1)), 200),
        ("event_id a list", with("event_id", json!(["$a"])), 200),
        ("event_id empty", with("event_id", json!("")), 200),
        ("event_id without $", with("event_id", json!("abc")), 200),
        ("a long event_id", with("event_id", json!(long_id)), 200),
        ("NUL in the event_id", with("event_id", json!("$a\u{0}b")), 200),
        ("room_id an object", with("room_id", json!({})), 200),
        ("another room", with("room_id", json!("!elsewhere:hs.test")), 200),
        ("sender no user", with("sender", json!("ada")), 200),
        ("sender null", with("sender", Value::Null), 200),
        ("content a text", with("content", json!("hello")), 200),
        ("content null", with("content", Value::Null), 200),
        ("an unknown type", with("type", json!("org.example.\u{0}")), 200),
        ("a state key that is none", with("state_key", json!(7)), 200),
        ("content deep inside", raw("$deep", &format!("{{\"msgtype\":\"m.text\",\"body\":{}}}", nested(5_000))), 200),
        ("half a surrogate", raw("$half", "{\"msgtype\":\"m.text\",\"body\":\"\\ud800\"}"), 200),
        ("membership of nobody", events(vec![json!({"type": "m.room.member", "event_id": "$m", "room_id": room, "sender": user,
            "state_key": "", "origin_server_ts": 1, "content": {"membership": 3}})]), 200),
        ("powers of all types", events(vec![json!({"type": "m.room.power_levels", "event_id": "$p", "room_id": room, "sender": user,
            "state_key": "", "origin_server_ts": 1, "content": {"users": [], "redact": {}, "events": "x"}})]), 200),
        ("a redaction of nothing", events(vec![json!({"type": "m.room.redaction", "event_id": "$r", "room_id": room, "sender": user,
            "origin_server_ts": 1, "content": {"redacts": 1}, "redacts": {}})]), 200),
        ("an edit of nothing", events(vec![message("$e", json!({"msgtype": "m.text", "body": SECRET_TEXT, "m.new_content": 1,
            "m.relates_to": {"rel_type": "m.replace", "event_id": []}}))]), 200),
    ]
}

/// Events that are odd and still messages: none may be lost, and none may take its neighbours along.
pub(crate) fn odd_but_said(room: &str, user: &str) -> (Vec<u8>, Vec<&'static str>) {
    let ids = vec!["$odd0", "$odd1", "$odd2", "$odd3", "$odd4", "$odd5"];
    let contents = [
        json!({"msgtype": "m.text", "body": "mentions a text", "m.mentions": {"user_ids": "all"}}),
        json!({"msgtype": "m.text", "body": "relates to null", "m.relates_to": null}),
        json!({"msgtype": "m.text", "body": "answers nothing", "m.relates_to": {"m.in_reply_to": {}}}),
        json!({"msgtype": "m.text", "body": "has a \u{0} in it"}),
        json!({"msgtype": 7, "body": "type a number"}),
        json!({"msgtype": "m.text", "body": "the last of them"}),
    ];
    let mut events: Vec<Value> = vec![json!(null), json!({"type": 1}), json!([[]])];
    events.extend(ids.iter().zip(contents).map(|(id, content)| {
        json!({"type": "m.room.message", "event_id": id, "room_id": room, "sender": user, "origin_server_ts": 1, "content": content})
    }));
    // The same events once more, and one id with another content: known already.
    events.extend(events.clone());
    let mut text = json!({"events": events}).to_string();
    // A key twice: the JSON is legal, and which of the two counts is nobody's business.
    text = text.replacen("{\"events\":", "{\"events\":[],\"events\":", 1);
    (text.into_bytes(), ids)
}
