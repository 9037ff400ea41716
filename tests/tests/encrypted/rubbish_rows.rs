//! Broken parcels and broken ciphertext, one a row.

use serde_json::{Value, json};

/// Where they are aimed.
pub(crate) struct Place {
    pub(crate) puppet: String,
    /// Of the puppet.
    pub(crate) device: String,
    pub(crate) person: String,
    /// The content of an event that the person's client encrypted.
    pub(crate) sealed: Value,
}

const TO_DEVICE: [&str; 2] = ["to_device", "de.sorunome.msc2409.to_device"];
const LISTS: [&str; 2] = ["device_lists", "org.matrix.msc3202.device_lists"];
const COUNTS: [&str; 4] = [
    "device_one_time_keys_count",
    "device_one_time_key_counts",
    "org.matrix.msc3202.device_one_time_keys_count",
    "org.matrix.msc3202.device_one_time_key_counts",
];
const FALLBACK: [&str; 2] =
    ["device_unused_fallback_key_types", "org.matrix.msc3202.device_unused_fallback_key_types"];

/// Parts of transactions, each under all names that it can have.
pub(crate) fn broken_parcels(place: &Place) -> Vec<(&'static str, Value)> {
    let mut all = vec![];
    let mut add = |names: &[&str], rows: Vec<(&'static str, Value)>| {
        for (what, value) in rows {
            all.extend(names.iter().map(|name| (what, json!({*name: value}))));
        }
    };
    add(&TO_DEVICE, messages(place));
    add(&LISTS, lists(place));
    add(&COUNTS, counts(place));
    add(&FALLBACK, fallback_types(place));
    all
}

/// Type and content of those that any client could send to a device.
pub(crate) fn messages_by_clients(place: &Place) -> Vec<(String, Value)> {
    let message = |(_, messages): (&str, Value)| {
        let (kind, content) = (messages[0]["type"].as_str()?.to_owned(), messages[0]["content"].clone());
        content.is_object().then_some((kind, content))
    };
    messages(place).into_iter().filter_map(message).collect()
}

fn messages(place: &Place) -> Vec<(&'static str, Value)> {
    let Place { puppet, device, person, .. } = place;
    let olm =
        json!({"algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": "c3RyYW5nZXI", "ciphertext": {}});
    let with = |key: &str, value: Value| {
        let mut message = json!({"type": "m.room.encrypted", "sender": person, "to_user_id": puppet, "to_device_id": device,
            "content": olm});
        message[key] = value;
        json!([message])
    };
    let content = |content: Value| with("content", content);
    let without = |key: &str| {
        let mut message = with("unsigned", json!({}));
        message[0].as_object_mut().map(|fields| fields.remove(key));
        message
    };
    let plain = |kind: &str, content: Value| {
        let mut message = with("content", content);
        message[0]["type"] = kind.into();
        message
    };
    let key = json!({"algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:x", "session_id": "s", "session_key": "k"});
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let deep: Value = serde_json::from_str(&deep).unwrap_or_default();
    let sealed_for = |ciphertext: Value| {
        content(
            json!({"algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": "c3RyYW5nZXI", "ciphertext": ciphertext}),
        )
    };
    vec![
        ("messages a text", json!("none")),
        ("messages an object", json!({"0": {}})),
        ("messages that are none", json!([null, 1, "x", [], {}, true])),
        ("no receiver", without("to_user_id")),
        ("no device", without("to_device_id")),
        ("no sender", without("sender")),
        ("no type", without("type")),
        ("no content", without("content")),
        ("a receiver that is no user", with("to_user_id", json!("agent"))),
        ("a receiver that nobody knows", with("to_user_id", json!("@agent_nobody:hs.test"))),
        ("a receiver of a list", with("to_user_id", json!([puppet]))),
        ("a device that nobody knows", with("to_device_id", json!("NOWHERE"))),
        ("a sender that is no user", with("sender", json!("ada"))),
        ("a sender that nobody knows", with("sender", json!("@nobody:elsewhere.test"))),
        ("a sender of ours", with("sender", json!(puppet))),
        ("a type of a number", with("type", json!(7))),
        ("content of a text", content(json!("sealed"))),
        ("content without anything", content(json!({}))),
        ("an unknown algorithm", content(json!({"algorithm": "m.olm.v9", "ciphertext": "x"}))),
        ("an algorithm of a number", content(json!({"algorithm": 1}))),
        ("ciphertext for nobody", content(olm.clone())),
        ("ciphertext of a number", sealed_for(json!(7))),
        ("ciphertext of nonsense", sealed_for(json!({"c3RyYW5nZXI": {"type": 0, "body": "bm9uc2Vuc2U"}}))),
        ("a type of message that there is not", sealed_for(json!({"c3RyYW5nZXI": {"type": 99, "body": ""}}))),
        ("a body that is no base64", sealed_for(json!({"c3RyYW5nZXI": {"type": 1, "body": "???"}}))),
        ("megolm where olm belongs", content(place.sealed.clone())),
        ("a key in clear", plain("m.room_key", key.clone())),
        ("a forwarded key in clear", plain("m.forwarded_room_key", key)),
        ("a secret in clear", plain("m.secret.send", json!({"request_id": "1", "secret": "nonsense"}))),
        ("a request for keys", plain("m.room_key_request", json!({"action": "request", "body": {}}))),
        (
            "word of a key withheld, of the wrong types",
            plain("m.room_key.withheld", json!({"code": 1, "session_id": []})),
        ),
        ("a bundle of nothing", plain("m.room_key_bundle", json!({"room_id": "!r:x", "file": 1}))),
        (
            "verification of nonsense",
            plain("m.key.verification.request", json!({"methods": 1, "timestamp": "x"})),
        ),
        ("content deep inside", content(json!({"algorithm": deep}))),
        ("a large message", content(json!({"algorithm": "x".repeat(1_000_000)}))),
    ]
}

fn lists(place: &Place) -> Vec<(&'static str, Value)> {
    let strangers: Vec<String> = (0..5_000).map(|n| format!("@nobody{n}:elsewhere.test")).collect();
    vec![
        ("lists a text", json!("changed")),
        ("lists a list", json!([place.person])),
        ("changed a text", json!({"changed": place.person})),
        (
            "changed of all types",
            json!({"changed": [1, null, {}, "ada", "@", "", place.person, place.person], "left": 7}),
        ),
        ("changed of ours", json!({"changed": [place.puppet], "left": [place.person]})),
        ("many strangers", json!({"changed": strangers})),
    ]
}

fn counts(place: &Place) -> Vec<(&'static str, Value)> {
    let of = |left: Value| json!({&place.puppet: {&place.device: {"signed_curve25519": left}}});
    vec![
        ("counts a text", json!("none")),
        ("counts of a number", json!({&place.puppet: 7})),
        ("counts of devices of a list", json!({&place.puppet: {&place.device: [5]}})),
        (
            "counts of nobody",
            json!({"@agent_nobody:hs.test": {"NOWHERE": {"signed_curve25519": 5}}, "ada": {}}),
        ),
        ("counts of no device of it", json!({&place.puppet: {"NOWHERE": {"signed_curve25519": 5}}})),
        ("another algorithm", json!({&place.puppet: {&place.device: {"curve25519": 5, "": 1}}})),
        ("a count below nothing", of(json!(-5))),
        ("a huge count", of(json!(u64::MAX))),
        ("a count beyond all", of(json!(1e300))),
        ("half a key", of(json!(2.5))),
        ("a count of a text", of(json!("5"))),
        ("a count of null", of(Value::Null)),
    ]
}

fn fallback_types(place: &Place) -> Vec<(&'static str, Value)> {
    let of = |types: Value| json!({&place.puppet: {&place.device: types}});
    vec![
        ("types a text", json!("none")),
        ("types of a text", of(json!("signed_curve25519"))),
        ("types of all types", of(json!([1, null, {}, "x"]))),
        ("types of nobody", json!({"@agent_nobody:hs.test": {"NOWHERE": ["signed_curve25519"]}})),
    ]
}

/// Contents of `m.room.encrypted`: a good one with something broken in it, and some that were never good.
pub(crate) fn broken_contents(place: &Place) -> Vec<Value> {
    let with = |key: &str, value: Value| {
        let mut content = place.sealed.clone();
        content[key] = value;
        content
    };
    let without = |key: &str| {
        let mut content = place.sealed.clone();
        content.as_object_mut().map(|fields| fields.remove(key));
        content
    };
    let keys = ["algorithm", "ciphertext", "session_id"];
    let values =
        [json!(7), Value::Null, json!([]), json!({}), json!(""), json!("x\u{0}y"), json!("A".repeat(60_000))];
    let mut all: Vec<Value> = vec![json!("sealed"), Value::Null, json!([]), json!({})];
    all.extend(keys.iter().map(|key| without(key)));
    for key in keys {
        all.extend(values.iter().map(|value| with(key, value.clone())));
    }
    let ciphertext = place.sealed["ciphertext"].as_str().unwrap_or_default();
    all.extend([
        with("algorithm", json!("m.megolm.v9")),
        with("algorithm", json!("m.olm.v1.curve25519-aes-sha2")),
        with("ciphertext", json!(ciphertext.get(..40))),
        with("ciphertext", json!(ciphertext.chars().rev().collect::<String>())),
        with("ciphertext", json!("AwAAAAAAAAAAAAAA")),
        with("ciphertext", json!({"c3RyYW5nZXI": {"type": 0, "body": "bm9uc2Vuc2U"}})),
        with("session_id", json!("c29tZSBvdGhlciBzZXNzaW9u")),
        with("m.relates_to", json!({"rel_type": 1, "event_id": []})),
    ]);
    all
}
