use axum::body::Body;
use http::{Request, header};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use crate::front::Front;

/// With the fields of their bodies. Only looks: on a clock that stands still a wait would never end.
const ROUTES: &[(&str, &str, &str)] = &[
    ("POST", "?", "name|room|code"),
    ("GET", "/rooms?", ""),
    ("GET", "/me?", ""),
    ("POST", "/me/rooms?", "room|code"),
    ("GET", "/me/messages?wait=0&", ""),
    ("POST", "/me/ack?", "eventId|roomId"),
    ("POST", "/me/messages?", "text|replyTo|submissionId|mentions|roomId"),
    ("GET", "/me/messages/lookup?", ""),
    ("GET", "/me/rooms/!r:x/messages?", ""),
    ("POST", "/me/private-rooms?", "name"),
    ("PUT", "/me/private-rooms/x/knocks/y?", ""),
];
const QUERY: &str = "((limit|settle|digest|from|waitFor|replyTo|roomId|ids|around|before|after)=[0-9$@!:a-z,%+.-]{0,20}&?){0,2}";

/// JSON objects that look like ours.
fn json(fields: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        r#""[a-zA-Z0-9 #@$!:./{}-]{0,40}""#,
        r"(true|false|null|-?[0-9]{1,20}|\[\]|\{\})",
        any::<String>().prop_map(|s| serde_json::Value::from(s).to_string()),
    ];
    prop::collection::vec((fields, value), 0..3).prop_map(|fields| {
        let fields: Vec<String> = fields.into_iter().map(|(k, v)| format!(r#""{k}":{v}"#)).collect();
        format!("{{{}}}", fields.join(",")).into_bytes()
    })
}

fn requests() -> impl Strategy<Value = (&'static str, String, Vec<u8>)> {
    prop::sample::select(ROUTES).prop_flat_map(|(method, path, fields)| {
        let body = prop_oneof![4 => json(fields), 1 => any::<Vec<u8>>()];
        let query = prop_oneof![Just(String::new()), QUERY];
        (query, body).prop_map(move |(query, body)| (method, format!("{path}{query}"), body))
    })
}

/// Not even well-formed nonsense makes us fail, with the rules behind the edge.
#[tokio::test]
async fn nothing_an_agent_sends_makes_us_fail() {
    let front = Front::start().await;
    let token = front.token("Scout").await;
    let (requests, mut runner) = (requests(), TestRunner::deterministic());
    let mut statuses = std::collections::BTreeMap::new();
    for _ in 0..600 {
        let (method, path, body) = requests.new_tree(&mut runner).unwrap().current();
        let shown = format!("{method} {path} {}", String::from_utf8_lossy(&body));
        let request = Request::builder()
            .method(method)
            .uri(format!("/v1/network-agents{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        let answer = front.answer(request.body(Body::from(body)).unwrap()).await;
        assert!(answer.status < 500 || answer.told() == "503 room_capacity_reached", "{shown}\n{answer:?}");
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    assert!(
        statuses.contains_key(&200) && statuses.contains_key(&201),
        "the rules were reached: {statuses:?}"
    );
}
