//! Bodies of `POST /me/messages`, each with the answer it has to get.

use serde_json::json;

use super::SECRET_TEXT;

/// What, body, code and field.
pub(crate) type Bad = (&'static str, Vec<u8>, &'static str, Option<&'static str>);

pub(crate) fn bad_bodies() -> Vec<Bad> {
    let long = "x".repeat(4_001);
    let deep =
        |open: &str, close: &str| format!("{{\"text\":{}1{}}}", open.repeat(20_000), close.repeat(20_000));
    let many: Vec<String> = (0..201).map(|n| format!("@u{n}:hs.test")).collect();
    let table: Vec<(&str, String, &str, Option<&str>)> = vec![
        ("empty", String::new(), "invalid_request", None),
        ("only blanks", "  \n ".into(), "invalid_request", None),
        ("cut short", format!("{{\"text\":\"{SECRET_TEXT}"), "invalid_request", None),
        ("two values", format!("{{\"text\":\"{SECRET_TEXT}\"}}{{}}"), "invalid_request", None),
        ("a list", format!("[\"{SECRET_TEXT}\"]"), "invalid_request", None),
        ("a text", format!("\"{SECRET_TEXT}\""), "invalid_request", None),
        ("null", "null".into(), "invalid_request", None),
        ("a number", "7".into(), "invalid_request", None),
        ("no fields", "{}".into(), "invalid_request", Some("text")),
        ("deep lists", deep("[", "]"), "invalid_request", None),
        ("deep objects", deep("{\"a\":", "}"), "invalid_request", None),
        (
            "an unknown field",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"txt\":1}}"),
            "invalid_request",
            Some("txt"),
        ),
        (
            "snake case",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"room_id\":\"x\"}}"),
            "invalid_request",
            Some("room_id"),
        ),
        (
            "a field twice",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"text\":\"b\"}}"),
            "invalid_request",
            Some("text"),
        ),
        ("text a number", "{\"text\":1}".into(), "invalid_request", Some("text")),
        ("text null", "{\"text\":null}".into(), "invalid_request", Some("text")),
        ("text a list", format!("{{\"text\":[\"{SECRET_TEXT}\"]}}"), "invalid_request", Some("text")),
        (
            "mentions a text",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"mentions\":\"@a:b\"}}"),
            "invalid_request",
            Some("mentions"),
        ),
        (
            "mentions of numbers",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"mentions\":[1]}}"),
            "invalid_request",
            Some("mentions"),
        ),
        (
            "everyone a text",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"mentionsEveryone\":\"yes\"}}"),
            "invalid_request",
            Some("mentionsEveryone"),
        ),
        (
            "half a surrogate",
            format!("{{\"text\":\"{SECRET_TEXT} \\ud800\"}}"),
            "invalid_request",
            Some("text"),
        ),
        (
            "surrogates the wrong way",
            format!("{{\"text\":\"{SECRET_TEXT} \\udc00\\ud800\"}}"),
            "invalid_request",
            Some("text"),
        ),
        (
            "a raw control character",
            format!("{{\"text\":\"{SECRET_TEXT}\u{1}\"}}"),
            "invalid_request",
            Some("text"),
        ),
        ("NUL in the JSON", format!("{{\"text\":\"{SECRET_TEXT}\"}}\0"), "invalid_request", None),
        (
            "NUL in the text",
            format!("{{\"text\":\"{SECRET_TEXT} \\u0000\"}}"),
            "invalid_message",
            Some("text"),
        ),
        ("an empty text", "{\"text\":\"\"}".into(), "invalid_message", Some("text")),
        ("a blank text", "{\"text\":\" \\n\\t\"}".into(), "invalid_message", Some("text")),
        ("a long text", format!("{{\"text\":\"{long}\"}}"), "invalid_message", Some("text")),
        (
            "everyone in a lobby",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"mentionsEveryone\":true}}"),
            "invalid_message",
            Some("mentionsEveryone"),
        ),
        (
            "no Matrix id",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"mentions\":[\"ada\"]}}"),
            "invalid_message",
            Some("mentions"),
        ),
        (
            "201 mentions",
            json!({"text": SECRET_TEXT, "mentions": many}).to_string(),
            "invalid_message",
            Some("mentions"),
        ),
        (
            "no UUID",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"submissionId\":\"1\"}}"),
            "invalid_message",
            Some("submissionId"),
        ),
        (
            "an unknown answer",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"replyTo\":\"$none\"}}"),
            "invalid_message",
            Some("replyTo"),
        ),
        (
            "NUL in replyTo",
            format!("{{\"text\":\"{SECRET_TEXT}\",\"replyTo\":\"$a\\u0000\"}}"),
            "invalid_message",
            Some("replyTo"),
        ),
    ];
    let mut all: Vec<Bad> =
        table.into_iter().map(|(what, body, code, field)| (what, body.into_bytes(), code, field)).collect();
    all.push(("not UTF-8", b"{\"text\":\"\xff\xfe\"}".to_vec(), "invalid_request", None));
    all.push(("an overlong NUL", b"{\"text\":\"\xc0\x80\"}".to_vec(), "invalid_request", None));
    all.push(("UTF-16", b"\xff\xfe{\0}\0".to_vec(), "invalid_request", None));
    all.push((
        "too large",
        json!({"text": "x".repeat(140_000)}).to_string().into_bytes(),
        "invalid_request",
        None,
    ));
    all.push(("far too large", vec![b' '; 3 * 1024 * 1024], "invalid_request", None));
    all
}
