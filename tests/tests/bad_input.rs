//! What no decent client or homeserver would send: each gets its clear error, nothing bad is kept, and the bridge goes on.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use parlour_tests::raw::{RawAnswer, exchange, read_answer, request};
use parlour_tests::{Agent, Person, Plan, Stack, event_ids};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

mod common;
use common::text;

const SEND: &str = "/v1/network-agents/me/messages";
const JSON: &str = "Content-Type: application/json\r\n";

/// Stands for message text in all that is sent here; no log line may have it.
const SECRET_TEXT: &str = "xyzzy-secret-words";

async fn set_up() -> Result<(Stack, Agent, Person)> {
    let stack = Stack::start(Plan::default()).await?;
    stack.keep_secret(SECRET_TEXT);
    let scout = stack.agent("Scout", None).await?;
    let ada = stack.person("ada")?;
    ada.join(&scout.room).await?;
    scout.settle_in().await?;
    Ok((stack, scout, ada))
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// A 400 in the envelope, with the field where one is to be named.
fn is_invalid(what: &str, answer: &RawAnswer, code: &str, field: Option<&str>) -> Result<()> {
    let body = &answer.body;
    ensure!(answer.status == 400 && body["code"] == format!("network_agent.{code}"), "{what}: {answer:?}");
    ensure!(text(&body["message"]).len() > 10 && body["retryable"] == false, "{what}: {body}");
    ensure!(
        answer.head.contains("x-correlation-id:") && answer.head.contains("access-control-allow-origin: *"),
        "{what}: {}",
        answer.head
    );
    ensure!(
        field.is_none_or(|field| body["details"]["field"] == field),
        "{what} should name {field:?}: {body}"
    );
    ensure!(!body.to_string().contains(SECRET_TEXT), "{what}: the error repeats what was sent: {body}");
    Ok(())
}

/// What, body, code and field.
type Bad = (&'static str, Vec<u8>, &'static str, Option<&'static str>);

fn bad_bodies() -> Vec<Bad> {
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

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_agents() -> Result<()> {
    let (stack, scout, ada) = set_up().await?;
    let port = stack.bridge.port();
    let before = ada.timeline(&scout.room).await?.len();
    let head = format!("{}{JSON}", bearer(&scout.token));
    for (what, body, code, field) in bad_bodies() {
        let answer = exchange(port, &request("POST", SEND, &head, &body)).await.context(what)?;
        is_invalid(what, &answer, code, field)?;
    }
    content_types(port, &scout).await?;
    odd_heads(port, &scout).await?;
    endless_and_slow(port, &scout).await?;
    join_bodies(port).await?;
    assert_eq!(ada.timeline(&scout.room).await?.len(), before, "something of it was said");
    still_works(&stack, &scout, &ada).await?;
    stack.finish().await
}

async fn content_types(port: u16, scout: &Agent) -> Result<()> {
    let body = json!({"text": SECRET_TEXT}).to_string();
    for content_type in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: \r\n",
    ] {
        let head = format!("{}{content_type}", bearer(&scout.token));
        let answer = exchange(port, &request("POST", SEND, &head, body.as_bytes())).await?;
        is_invalid(content_type, &answer, "invalid_request", None)?;
    }
    Ok(())
}

/// Tokens and paths out of the ordinary.
async fn odd_heads(port: u16, scout: &Agent) -> Result<()> {
    let tokens = [
        "",
        "Authorization: Bearer\r\n",
        "Authorization: Basic YTpi\r\n",
        "Authorization: Bearer parlour_nope\r\n",
        "Authorization: Bearer \u{1f600}\r\n",
    ];
    for head in tokens {
        let answer = exchange(port, &request("GET", "/v1/network-agents/me", head, b"")).await?;
        ensure!(
            answer.status == 401 && answer.body["code"] == "network_agent.unauthorized",
            "{head}: {answer:?}"
        );
    }
    let cut = &scout.token[..scout.token.len() - 1];
    let answer = exchange(port, &request("GET", "/v1/network-agents/me", &bearer(cut), b"")).await?;
    ensure!(answer.status == 401, "a token that is cut short: {answer:?}");
    let paths = [
        ("GET", "/v1/network-agents/nowhere", 404, "http.route_not_found"),
        ("GET", "/v1/network-agents/%ff%00", 404, "http.route_not_found"),
        ("GET", "/v1/../../etc/passwd", 404, "http.route_not_found"),
        ("PATCH", "/v1/network-agents/me", 405, "http.method_not_allowed"),
        ("GET", "/v1/network-agents/me/rooms/%ff/messages", 404, "network_agent.room_not_joined"),
        ("GET", "/v1/network-agents/me/messages?wait=-1", 400, "network_agent.invalid_request"),
        ("GET", "/v1/network-agents/me/messages?from=%00%ff", 400, "network_agent.invalid_request"),
        ("GET", "/v1/network-agents/me/messages/lookup?ids=", 400, "network_agent.invalid_request"),
    ];
    for (verb, path, status, code) in paths {
        let answer = exchange(port, &request(verb, path, &bearer(&scout.token), b"")).await?;
        let fits = [400, status].contains(&answer.status) || answer.body["code"] == code;
        ensure!(fits && answer.body["code"].is_string(), "{verb} {path}: {answer:?}");
    }
    Ok(())
}

/// A body that never ends is cut off when it is too large, and one that only drips when its time is over.
async fn endless_and_slow(port: u16, scout: &Agent) -> Result<()> {
    let head = format!("POST {SEND} HTTP/1.1\r\nHost: bridge\r\n{}{JSON}", bearer(&scout.token));
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let endless = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(2_000));
    let answer = exchange(port, endless.as_bytes()).await.context("an endless body")?;
    is_invalid("an endless body", &answer, "invalid_request", None)?;

    let began = Instant::now();
    let (mut reading, mut writing) = TcpStream::connect(("127.0.0.1", port)).await?.into_split();
    writing.write_all(format!("{head}Content-Length: 1000\r\n\r\n").as_bytes()).await?;
    let drip = tokio::spawn(async move {
        // Ends when the bridge has had enough.
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let answer = tokio::time::timeout(Duration::from_secs(45), read_answer(&mut reading)).await;
    drip.abort();
    is_invalid(
        "a slow body",
        &answer.context("a slow body is waited for without end")??,
        "invalid_request",
        None,
    )?;
    ensure!(began.elapsed() > Duration::from_secs(5), "a slow client got no time: {:?}", began.elapsed());
    Ok(())
}

async fn join_bodies(port: u16) -> Result<()> {
    let table = [
        ("no name", "{}".to_owned(), "invalid_request"),
        ("an unknown field", "{\"name\":\"A\",\"nmae\":1}".to_owned(), "invalid_request"),
        (
            "room and code",
            "{\"name\":\"A\",\"room\":\"lobby\",\"code\":\"0000-0000-0000\"}".to_owned(),
            "invalid_request",
        ),
        ("an empty name", "{\"name\":\"\"}".to_owned(), "name_invalid"),
        ("a long name", format!("{{\"name\":\"{}\"}}", "x".repeat(65)), "name_invalid"),
        ("NUL in the name", "{\"name\":\"a\\u0000b\"}".to_owned(), "name_invalid"),
        ("a name that is reserved", "{\"name\":\"Ad min\"}".to_owned(), "name_invalid"),
        ("too large", format!("{{\"name\":\"A\",\"room\":\"{}\"}}", "x".repeat(50_000)), "invalid_request"),
    ];
    for (what, body, code) in table {
        let answer = exchange(port, &request("POST", "/v1/network-agents", JSON, body.as_bytes())).await?;
        is_invalid(what, &answer, code, None)?;
    }
    Ok(())
}

/// What is said and done now goes through as if nothing had been.
async fn still_works(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    ensure!(stack.bridge.readiness().await?.status == 200, "no longer ready");
    scout.hear(&ada.say(&scout.room, "still there?").await?).await?;
    let sent = scout.say("still here").await?;
    ada.see_event(text(&sent["eventId"])).await?;
    Ok(())
}

/// Transactions as bytes, each with what the homeserver is to be told: 200 for every JSON object.
fn bad_transactions(room: &str, user: &str) -> Vec<(&'static str, Vec<u8>, u16)> {
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
fn odd_but_said(room: &str, user: &str) -> (Vec<u8>, Vec<&'static str>) {
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

#[tokio::test(flavor = "multi_thread")]
async fn transactions() -> Result<()> {
    let (stack, scout, ada) = set_up().await?;
    let port = stack.bridge.port();
    let head = format!("{}{JSON}", bearer(&stack.hs_token()?));
    let before = event_ids(&scout.history("limit=50").await?);
    for (number, (what, body, status)) in bad_transactions(&scout.room, &ada.user_id).into_iter().enumerate()
    {
        let path = format!("/_matrix/app/v1/transactions/bad{number}");
        let answer = exchange(port, &request("PUT", &path, &head, &body)).await.context(what)?;
        ensure!(answer.status == status, "{what}: {answer:?}");
        ensure!(status == 200 || answer.body["errcode"].is_string(), "{what}: {answer:?}");
        ensure!(
            answer.head.contains("content-length:"),
            "{what}: Synapse takes this for a failure: {}",
            answer.head
        );
    }
    let marker = ada.say(&scout.room, "after the bad ones").await?;
    scout.hear(&marker).await?;
    let known = |id: &String| before.contains(id) || *id == marker;
    let bad: Vec<Value> =
        history(&scout).await?.into_iter().filter(|m| !known(&text(&m["eventId"]).to_owned())).collect();
    // These have id, room, sender and a content that says something of a message: odd, and yet nothing to lose.
    let mut kept: Vec<&str> = bad.iter().map(|m| text(&m["eventId"])).collect();
    kept.sort_unstable();
    assert_eq!(kept, ["$deep", "$e", "$half"], "{bad:?}");
    odd_ones(&stack, &scout, &ada, &head).await?;
    broken_bytes(&stack, &scout, &ada, &head).await?;
    refused_transactions(port, &stack).await?;
    still_works(&stack, &scout, &ada).await?;
    stack.bridge.restart().await?;
    still_works(&stack, &scout, &ada).await?;
    stack.finish().await
}

async fn history(agent: &Agent) -> Result<Vec<Value>> {
    Ok(agent.history("limit=50").await?["messages"].as_array().cloned().unwrap_or_default())
}

async fn odd_ones(stack: &Stack, scout: &Agent, ada: &Person, head: &str) -> Result<()> {
    let (body, ids) = odd_but_said(&scout.room, &ada.user_id);
    for _ in 0..2 {
        let path = "/_matrix/app/v1/transactions/odd";
        let answer = exchange(stack.bridge.port(), &request("PUT", path, head, &body)).await?;
        ensure!(answer.status == 200, "{answer:?}");
    }
    for id in &ids {
        let heard = scout.hear(id).await?;
        ensure!(!text(&heard["conversation"]["text"]).is_empty(), "{heard}");
        ensure!(heard["conversation"]["mentions"] == json!([]) && heard["mentionsMe"] == false, "{heard}");
    }
    scout.hear(&ada.say(&scout.room, "after the odd ones").await?).await?;
    let heard = scout.heard();
    for id in &ids {
        assert_eq!(heard.iter().filter(|m| m["eventId"] == *id).count(), 1, "{id}");
    }
    Ok(())
}

/// Broken bytes in one event leave its neighbour whole.
async fn broken_bytes(stack: &Stack, scout: &Agent, ada: &Person, head: &str) -> Result<()> {
    let event = |id: &str, body: &str| {
        let (room, user) = (&scout.room, &ada.user_id);
        format!(
            "{{\"type\":\"m.room.message\",\"event_id\":\"{id}\",\"room_id\":\"{room}\",\"sender\":\"{user}\",\
            \"origin_server_ts\":1,\"content\":{{\"msgtype\":\"m.text\",\"body\":\"{body}\"}}}}"
        )
    };
    let both =
        format!("{{\"events\":[{},{}]}}", event("$broken", "byte ? byte"), event("$whole", "not broken"));
    let bytes: Vec<u8> = both.bytes().map(|b| if b == b'?' { 0xff } else { b }).collect();
    let path = "/_matrix/app/v1/transactions/broken";
    let answer = exchange(stack.bridge.port(), &request("PUT", path, head, &bytes)).await?;
    ensure!(answer.status == 200, "{answer:?}");
    let heard = scout.hear("$whole").await?;
    assert_eq!(heard["conversation"]["text"], "not broken");
    Ok(())
}

/// Who is not the homeserver, and what is larger than any homeserver sends.
async fn refused_transactions(port: u16, stack: &Stack) -> Result<()> {
    let path = "/_matrix/app/v1/transactions/x";
    for (head, status, errcode) in
        [("", 401, "M_UNAUTHORIZED"), ("Authorization: Bearer nope\r\n", 403, "M_FORBIDDEN")]
    {
        let answer = exchange(port, &request("PUT", path, head, b"{}")).await?;
        ensure!(answer.status == status && answer.body["errcode"] == errcode, "{answer:?}");
    }
    let head = bearer(&stack.hs_token()?);
    let large = vec![b' '; 64 * 1024 * 1024 + 1];
    let answer = exchange(port, &request("PUT", path, &head, &large)).await.context("a byte over 64 MiB")?;
    ensure!(answer.status == 413 && answer.body["errcode"] == "M_TOO_LARGE", "{answer:?}");
    for (verb, path, status) in [
        ("GET", path, 405),
        ("PUT", "/_matrix/app/v1/nothing", 404),
        ("PUT", "/_matrix/app/v1/transactions/%ff", 400),
    ] {
        let answer = exchange(port, &request(verb, path, &head, b"")).await?;
        ensure!(answer.status == status && answer.body["errcode"].is_string(), "{verb} {path}: {answer:?}");
    }
    Ok(())
}
