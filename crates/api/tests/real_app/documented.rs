//! Errors that the document names can be had: each call is brought to refuse with each of its codes, over the real use cases.

use std::collections::BTreeSet;

use http::Request;
use serde_json::{Value, json};

use crate::{front::Front, refusals::mistakes};

const PREFIX: &str = "/v1/network-agents";

/// Method, path and code.
type Told = (String, String, String);

/// Brought about elsewhere, since it takes more than one request: a quota that is used up, a full house, a homeserver that
/// refuses or is gone. `internal` is what nobody thought of.
const ELSEWHERE: [(&str, &str); 13] = [
    ("internal", "a panic: src/tests/edge.rs"),
    ("dependency_unavailable", "src/tests/openapi.rs; app: send_refused.rs"),
    ("rate_limited", "refusals.rs; app: send_refused.rs, quotas.rs, knocks.rs"),
    ("capacity_reached", "app: idle.rs, join.rs"),
    ("forbidden", "app: join.rs, send_refused.rs, private_rooms.rs"),
    ("name_unavailable", "no number left: refusals.rs"),
    ("room_required", "app: send_checks.rs"),
    ("submission_conflict", "refusals.rs"),
    ("room_limit_reached", "app: private_rooms.rs"),
    ("room_capacity_reached", "app: private_rooms.rs"),
    ("account_not_found", "app: invitations.rs"),
    ("agent_not_in_room", "app: knocks.rs"),
    ("knock_not_found", "app: knocks.rs"),
];

async fn document(front: &Front) -> Value {
    let request = Request::get("/openapi.json").body(axum::body::Body::empty()).unwrap();
    front.answer(request).await.body
}

fn told(document: &Value) -> BTreeSet<Told> {
    let mut all = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters") {
            for response in operation["responses"].as_object().unwrap().values() {
                let schema = &response["content"]["application/json"]["schema"];
                for code in schema["properties"]["code"]["enum"].as_array().into_iter().flatten() {
                    let path = path.strip_prefix(PREFIX).unwrap().to_owned();
                    all.insert((method.to_uppercase(), path, short(code)));
                }
            }
        }
    }
    all
}

fn short(code: &Value) -> String {
    code.as_str().unwrap_or_default().trim_start_matches("network_agent.").to_owned()
}

/// The path of the document that a real one is.
fn template(document: &Value, path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let is = |template: &str| {
        let (one, other): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
        one.len() == other.len() && one.iter().zip(&other).all(|(t, p)| t == p || t.starts_with('{'))
    };
    let paths = document["paths"].as_object().unwrap().keys();
    // what has no variable part comes first: `/me/messages/lookup` is no id
    let mut fitting: Vec<&str> = paths.filter_map(|p| p.strip_prefix(PREFIX)).filter(|p| is(p)).collect();
    fitting.sort_by_key(|p| p.matches('{').count());
    fitting.first().map(|p| (*p).to_owned()).unwrap_or_default()
}

#[tokio::test]
async fn each_error_that_is_told_of_can_be_had() {
    let front = Front::start().await;
    let off = Front::with(|setup| setup.settings.agents.enabled = false, &[]).await;
    let document = document(&front).await;
    let token = front.token("Scout").await;
    let mut left = told(&document);
    let mut had = |method: &str, path: &str, code: &Value| {
        left.remove(&(method.to_owned(), path.to_owned(), short(code)));
    };
    for (method, path) in told(&document).into_iter().map(|(m, p, _)| (m, p)).collect::<BTreeSet<_>>() {
        let real = path.replace("{roomId}", "x").replace("{id}", "x").replace("{agentId}", "y");
        let refused = off.call(&method, &real, &token, None).await;
        had(&method, &path, &refused.body["code"]);
        let refused = front.call(&method, &real, "void", None).await;
        had(&method, &path, &refused.body["code"]);
        let refused = front.call(&method, &format!("{real}?nonsense=1"), &token, None).await;
        had(&method, &path, &refused.body["code"]);
        // a slash in an id that was not escaped; a path without an id would be a good call
        if path.contains('{') {
            let refused = front.call(&method, &real.replace("/x", "/!x/x:y"), &token, None).await;
            had(&method, &path, &refused.body["code"]);
        }
    }
    let room = front.bridge().lobby();
    let no_code = ("POST", "/me/rooms".to_owned(), Some(json!({"code": "AAAA-BBBB-CCCC"})));
    for (method, path, body) in mistakes(&room).into_iter().chain([no_code]) {
        let refused = front.call(method, &path, &token, body).await;
        had(method, &template(&document, &path), &refused.body["code"]);
    }
    let known = |code: &str| ELSEWHERE.iter().any(|(c, _)| *c == code);
    left.retain(|(_, _, code)| !known(code));
    assert!(left.is_empty(), "told of, and never seen: {left:#?}");
}
