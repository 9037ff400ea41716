//! Whatever comes, the answer is one that a client can read, and none of our own failing.

use proptest::{collection, option, prelude::*, sample::select};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::support::{every_call, post};
use crate::{
    double::App,
    tests::support::{Ask, response},
};

/// Any JSON, not too deep.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(vec!["null", "true", "2.0", "[]", "{}", "[\"a\"]", "99999999999999999999", "2025-11-25"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::btree_map(name(), inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

/// Names that mean something here, and others.
fn name() -> impl Strategy<Value = String> {
    let known = [
        "eventId",
        "room_id",
        "token",
        "text",
        "waitSeconds",
        "ids",
        "from",
        "name",
        "admit",
        "_meta",
        "arguments",
    ];
    prop_oneof![select(known.to_vec()).prop_map(str::to_owned), ".{0,8}"]
}

fn method() -> impl Strategy<Value = Value> {
    let known = [
        "initialize",
        "tools/list",
        "tools/call",
        "ping",
        "server/discover",
        "resources/read",
        "tasks/get",
        "notifications/cancelled",
        "subscriptions/listen",
        "completion/complete",
        "logging/setLevel",
    ];
    prop_oneof![9 => select(known.to_vec()).prop_map(Value::from), 1 => json()]
}

fn params() -> impl Strategy<Value = Value> {
    let tools: Vec<&str> = every_call().into_iter().map(|(tool, _)| tool).collect();
    let call = (select(tools), json())
        .prop_map(|(tool, arguments)| json!({"name": format!("agent_room_{tool}"), "arguments": arguments}));
    prop_oneof![2 => call, 1 => json()]
}

fn rpc() -> impl Strategy<Value = Value> {
    (option::weighted(0.9, json()), option::weighted(0.9, method()), option::weighted(0.8, params()), 0..10)
        .prop_map(|(id, method, params, version)| {
            let version = if version > 0 { "2.0" } else { "1.0" };
            let parts =
                [("id", id), ("method", method), ("params", params), ("jsonrpc", Some(json!(version)))];
            let parts = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            Value::Object(Map::from_iter(parts))
        })
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let some = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-protocol-version", "2025-03-26"),
        ("mcp-protocol-version", "x"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?x?="),
        ("accept", "text/event-stream"),
        ("accept", ";;,,"),
        ("mcp-session-id", "x"),
        ("content-type", "text/plain"),
        ("host", "::"),
    ];
    collection::vec(select(some.to_vec()), 0..4)
}

/// The answer is JSON, a stream with one message, or nothing; and never a 5xx.
fn readable(runtime: &Runtime, ask: Ask) -> Result<(), TestCaseError> {
    runtime.block_on(async {
        let (parts, body) = response(App::open(), ask).await.into_parts();
        prop_assert!([200, 202, 400, 404].contains(&parts.status.as_u16()), "{}", parts.status);
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let text = std::str::from_utf8(&body).unwrap();
        let json = match text.strip_prefix("event: message\ndata: ") {
            Some(data) => data.trim_end(),
            None => text,
        };
        if parts.status == 202 {
            prop_assert!(text.is_empty(), "{text}");
            return Ok(());
        }
        let answer: Value =
            serde_json::from_str(json).map_err(|e| TestCaseError::fail(format!("{e}: {text}")))?;
        for answer in answer.as_array().unwrap_or(&vec![answer.clone()]) {
            prop_assert_eq!(&answer["jsonrpc"], "2.0");
            prop_assert!(answer["result"].is_object() != answer["error"].is_object(), "{}", answer);
            let failed = &answer["result"]["structuredContent"]["code"];
            prop_assert!(failed != "network_agent.internal", "{}", answer);
        }
        Ok(())
    })
}

fn with(ask: Ask, headers: &[(&str, &str)]) -> Ask {
    headers.iter().fold(ask, |ask, (name, value)| ask.with(name, value))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_message(rpc in rpc(), headers in headers()) {
        let runtime = runtime();
        readable(&runtime, with(post(rpc.to_string()), &headers))?;
    }

    #[test]
    fn any_batch(rpcs in collection::vec(prop_oneof![rpc(), json()], 0..4), headers in headers()) {
        let runtime = runtime();
        readable(&runtime, with(post(Value::from(rpcs).to_string()), &headers))?;
    }

    #[test]
    fn any_bytes(body: Vec<u8>, headers in headers()) {
        readable(&runtime(), with(post(body), &headers))?;
    }

    #[test]
    fn a_message_cut_short(rpc in rpc(), cut in 0.0..1.0) {
        let mut body = rpc.to_string().into_bytes();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        body.truncate((body.len() as f64 * cut) as usize);
        readable(&runtime(), post(body))?;
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
