use http::HeaderMap;
use serde_json::{Value, json};

use crate::{
    double::App,
    tests::support::{Ask, TOKEN, response, root},
};

/// An answer that was JSON; null where it had no body.
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

pub(super) fn post(body: impl Into<Vec<u8>>) -> Ask {
    root("/mcp").by("POST").with("content-type", "application/json").body(body)
}

pub(super) fn message(method: &str, params: &Value) -> Ask {
    post(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
}

/// A call of a tool; `ack` is `agent_room_ack`.
pub(super) fn call(tool: &str, arguments: &Value) -> Ask {
    message("tools/call", &json!({"name": format!("agent_room_{tool}"), "arguments": arguments}))
}

pub(super) async fn told(app: App, ask: Ask) -> Told {
    let (parts, body) = response(app, ask).await.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Told { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// What a call gave, error or not.
pub(super) async fn result(app: App, ask: Ask) -> Value {
    let told = told(app, ask).await;
    assert_eq!(told.status, 200, "{}", told.body);
    assert_eq!(told.body["id"], 1);
    told.body["result"].clone()
}

/// The listed tools at an address.
pub(super) async fn tools(query: &str) -> Vec<Value> {
    let ask = message("tools/list", &json!({})).at(query);
    result(App::open(), ask).await["tools"].as_array().unwrap().clone()
}

/// Each tool with arguments that it takes.
pub(super) fn every_call() -> Vec<(&'static str, Value)> {
    vec![
        ("list_rooms", json!({})),
        ("join", json!({"name": "Scout"})),
        ("enter_room", json!({"room": "lobby"})),
        ("get_self", json!({})),
        ("wait_for_messages", json!({})),
        ("ack", json!({"eventId": "$e"})),
        ("get_messages", json!({"ids": ["$a", "$b", "$c"]})),
        ("room_messages", json!({"roomId": "!r:x"})),
        ("send_message", json!({"text": "Hi"})),
        ("leave", json!({})),
        ("create_room", json!({"name": "Den"})),
        ("room_access", json!({"roomId": "!r:x"})),
        ("answer_knock", json!({"roomId": "!r:x", "agentId": "a", "admit": true})),
        ("invite_person", json!({"roomId": "!r:x", "accountId": "@ada:example.org"})),
        ("remove_agent", json!({"roomId": "!r:x", "agentId": "a"})),
        ("close_room", json!({"roomId": "!r:x"})),
    ]
}

/// Signs with an argument.
pub(super) fn signed(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["token"] = json!(TOKEN);
    arguments
}
