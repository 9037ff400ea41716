//! Streamable HTTP and JSON-RPC, as all kinds of hosts speak them.

use rstest::rstest;
use serde_json::{Value, json};

use super::{
    lists::initialize,
    support::{call, message, post, result, told},
};
use crate::{
    double::App,
    tests::support::{ID, response, root},
};

#[rstest]
#[case("2025-03-26", "2025-03-26")]
#[case("2025-06-18", "2025-06-18")]
#[case("2025-11-25", "2025-11-25")]
#[case::without_a_handshake("2026-07-28", "2025-11-25")]
#[case::newer("2027-01-01", "2025-11-25")]
#[case::older("2024-11-05", "2025-11-25")]
#[tokio::test]
async fn versions_are_negotiated(#[case] asked: &str, #[case] agreed: &str) {
    assert_eq!(result(App::open(), initialize(asked)).await["protocolVersion"], agreed);
    let ask = initialize(asked).with("mcp-protocol-version", "2025-03-26");
    assert_eq!(result(App::open(), ask).await["protocolVersion"], agreed, "the header does not matter yet");
}

#[rstest]
#[case("2025-03-26", 200)]
#[case("2025-11-25", 200)]
#[case::newer("2027-01-01", 200)]
#[case::older("2024-10-07", 200)]
#[case::blanks(" 2025-11-25 ", 200)]
#[case::malformed("banana", 400)]
#[case::empty("", 400)]
#[case::two("2025-11-25, 2025-06-18", 400)]
#[tokio::test]
async fn the_version_header(#[case] version: &str, #[case] status: u16) {
    for ask in [message("tools/list", &json!({})), call("get_self", &json!({})), message("ping", &json!({}))]
    {
        let told = told(App::open(), ask.with("mcp-protocol-version", version)).await;
        assert_eq!(told.status, status, "{}", told.body);
        assert_eq!(told.body["id"], 1);
        assert_eq!(told.body["error"]["code"], if status == 200 { json!(null) } else { json!(-32600) });
    }
    let wrong = told(App::open(), initialize("banana")).await;
    assert_eq!((wrong.status, &wrong.body["error"]["code"]), (400, &json!(-32602)));
}

/// From 2026-07-28 on each request says for itself what it speaks.
fn newest(method: &str, mut params: Value, version: &str) -> crate::tests::support::Ask {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = message(method, &params).with("mcp-protocol-version", version).with("mcp-method", method);
    match params["name"].as_str() {
        Some(name) => ask.with("mcp-name", name),
        None => ask,
    }
}

#[tokio::test]
async fn the_newest_version() {
    let discovered = result(App::open(), newest("server/discover", json!({}), "2026-07-28")).await;
    let versions = json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(discovered["supportedVersions"], versions);
    let listed = result(App::open(), newest("tools/list", json!({}), "2026-07-28")).await;
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(16));
    let params = json!({"name": "agent_room_get_self", "arguments": {}});
    let me = result(App::open(), newest("tools/call", params.clone(), "2026-07-28")).await;
    assert_eq!(me["structuredContent"]["displayName"], "Scout #2316");
    // one still to come is refused with those there are, so that the client can choose
    let told = told(App::open(), newest("tools/call", params, "2027-01-01")).await;
    assert_eq!(told.status, 400);
    assert!(told.body["error"]["data"].to_string().contains("2026-07-28"), "{}", told.body);
}

#[rstest]
#[case::no_json("{", -32700)]
#[case::nothing("", -32700)]
#[case::not_utf8_in_a_text("\"\u{0}", -32700)]
#[case::no_message("5", -32600)]
#[case::no_version(r#"{"id":1,"method":"ping"}"#, -32600)]
#[case::an_answer(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600)]
#[tokio::test]
async fn unreadable(#[case] body: &str, #[case] code: i32) {
    let told = told(App::open(), post(body)).await;
    assert_eq!(told.status, 400);
    assert_eq!(told.headers["content-type"], "application/json");
    assert_eq!(told.body["jsonrpc"], "2.0");
    assert_eq!((&told.body["id"], &told.body["error"]["code"]), (&Value::Null, &json!(code)));
    assert!(told.body["error"]["message"].as_str().unwrap().ends_with('.'));
}

#[rstest]
#[case::method("resources/read", json!({}), -32601)]
#[case::made_up("no/such", json!([5]), -32601)]
#[case::tool("tools/call", json!({"name": "agent_room_fly"}), -32602)]
#[case::no_tool("tools/call", json!({}), -32602)]
#[case::odd_arguments("tools/call", json!({"name": "agent_room_ack", "arguments": 5}), -32602)]
#[tokio::test]
async fn unknown(#[case] method: &str, #[case] params: Value, #[case] code: i32) {
    let told = told(App::open(), message(method, &params)).await;
    assert_eq!((&told.body["id"], &told.body["error"]["code"]), (&json!(1), &json!(code)), "{}", told.body);
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    for id in [json!(0), json!(-5), json!("a"), json!(""), json!(9_007_199_254_740_991_i64)] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        assert_eq!(told(App::open(), post(body.to_string())).await.body["id"], id);
    }
}

#[tokio::test]
async fn notifications_are_taken_in_silence() {
    for method in ["notifications/initialized", "notifications/cancelled", "anything"] {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": [5]});
        let told = told(App::open(), post(body.to_string())).await;
        assert_eq!((told.status, told.body), (202, Value::Null));
    }
}

#[rstest]
#[case("GET")]
#[case("DELETE")]
#[case("PUT")]
#[case("HEAD")]
#[tokio::test]
async fn only_post(#[case] method: &str) {
    for path in ["/mcp", "/mcp/"] {
        let response = response(App::open(), root(path).by(method).with("mcp-session-id", "x")).await;
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers()["allow"], "POST");
    }
}

#[rstest]
#[case::stale_session("mcp-session-id", "0199-of-another-day")]
#[case::any_host("host", "agents.example.org:8443")]
#[case::broken_host("host", "a b c")]
#[case::any_origin("origin", "https://chat.example")]
#[case::null_origin("origin", "null")]
#[case::charset("content-type", "Application/JSON; charset=UTF-8")]
#[case::accepts_anything("accept", "*/*")]
#[case::accepts_json("accept", "application/json")]
#[case::accepts_something_else("accept", "text/html")]
#[case::bad_token("authorization", "Bearer of-another-server")]
#[tokio::test]
async fn headers_of_all_kinds(#[case] name: &str, #[case] value: &str) {
    for ask in [initialize("2025-11-25"), message("tools/list", &json!({})), call("list_rooms", &json!({}))] {
        let told = told(App::open(), ask.without("accept").with(name, value)).await;
        assert_eq!(told.status, 200, "{}", told.body);
        assert_eq!(told.headers["content-type"], "application/json");
        assert_eq!(told.headers["cache-control"], "no-store");
        assert_eq!(told.headers["x-correlation-id"], ID.text().as_str());
        assert!(told.body["result"].is_object(), "{}", told.body);
    }
}

#[tokio::test]
async fn a_page_that_takes_us_for_its_own_server_is_refused() {
    let ask =
        initialize("2025-11-25").with("host", "evil.example.com").with("origin", "http://evil.example.com");
    let told = told(App::open(), ask).await;
    assert_eq!((told.status, &told.body["error"]["code"]), (403, &json!(-32600)));
}

#[tokio::test]
async fn without_a_content_type_or_a_host() {
    let told = told(App::open(), message("ping", &json!({})).without("content-type")).await;
    assert_eq!((told.status, &told.body["error"]["code"]), (400, &json!(-32600)));
    let told = self::told(App::open(), message("ping", &json!({})).without("host")).await;
    assert_eq!(told.status, 200);
}

#[tokio::test]
async fn a_slash_at_the_end() {
    let told = told(App::open(), message("ping", &json!({})).at("/")).await;
    assert_eq!((told.status, told.body), (200, json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
}

#[tokio::test]
async fn too_large_a_message_is_refused_in_the_protocols_form() {
    let text = "x".repeat(200_000);
    let told = told(App::open(), call("send_message", &json!({"text": text}))).await;
    assert_eq!((told.status, &told.body["error"]["code"]), (400, &json!(-32600)));
    assert_eq!(told.headers["connection"], "close");
}

#[tokio::test]
async fn preflight() {
    for path in ["/mcp", "/mcp/"] {
        let ask = root(path).by("OPTIONS").without("authorization").with("origin", "https://chat.example");
        let ask = ask.with("access-control-request-method", "POST");
        let ask =
            ask.with("access-control-request-headers", "authorization,content-type,mcp-protocol-version");
        let response = response(App::open(), ask).await;
        assert_eq!(response.status(), 200);
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "*");
        let allowed = headers["access-control-allow-headers"].to_str().unwrap();
        for name in ["authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method"]
        {
            assert!(allowed.split(',').any(|a| a == name), "{name}: {allowed}");
        }
    }
}

#[tokio::test]
async fn pages_may_read_answers() {
    let ask = message("ping", &json!({})).with("origin", "https://chat.example");
    let told = told(App::open(), ask).await;
    assert_eq!(told.headers["access-control-allow-origin"], "*");
    assert_eq!(told.headers["access-control-expose-headers"], "retry-after,x-correlation-id");
}

#[tokio::test]
async fn there_is_no_sign_in() {
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
    ] {
        let told = told(App::open(), root(path)).await;
        assert_eq!((told.status, &told.body["code"]), (404, &json!("http.route_not_found")));
        assert!(told.body.to_string().len() < 300);
    }
    let told = told(App::open(), call("get_self", &json!({})).without("authorization")).await;
    assert_eq!(told.status, 200, "a 401 makes hosts look for a sign-in");
    assert!(!told.headers.contains_key("www-authenticate"));
}

#[tokio::test]
async fn several_messages_at_once() {
    let body = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "agent_room_get_self"}},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
        {"jsonrpc": "1.0", "id": 4},
    ]);
    let told = told(App::open(), post(body.to_string())).await;
    assert_eq!(told.status, 200);
    let answers = told.body.as_array().unwrap();
    assert_eq!(
        answers.iter().map(|a| a["id"].clone()).collect::<Vec<_>>(),
        [json!(1), json!("b"), json!(3), Value::Null]
    );
    assert_eq!(answers[1]["result"]["structuredContent"]["displayName"], "Scout #2316");
    assert_eq!(
        (&answers[2]["error"]["code"], &answers[3]["error"]["code"]),
        (&json!(-32601), &json!(-32600))
    );
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    let told = self::told(App::open(), post(silent.to_string())).await;
    assert_eq!((told.status, told.body), (202, Value::Null));
}
