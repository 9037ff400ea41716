//! The document and the routes are one: every example of a request is taken by its route, and whatever the routes answer is in
//! the document. That bodies fit their schemas is seen where the whole bridge is asked (the story `openapi`).

use std::collections::BTreeSet;

use http::Method;
use parlour_domain::fault::Code;
use serde_json::Value;

use super::support::{Ask, delete, get, post, put, response, settings};
use crate::{
    double::App,
    openapi::document,
    rest::{PREFIX, table},
};

/// One method of one path, as told.
struct Told {
    path: String,
    method: Method,
    operation: Value,
}

fn all(document: &Value) -> Vec<Told> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters") {
            all.push(Told {
                path: path.strip_prefix(PREFIX).unwrap().to_owned(),
                method: method.to_uppercase().parse().unwrap(),
                operation: operation.clone(),
            });
        }
    }
    all
}

impl Told {
    /// Asks this of the routes, with the first body that is told of.
    fn ask(&self) -> Ask {
        self.ask_with(self.bodies().first().cloned())
    }

    fn ask_with(&self, body: Option<Value>) -> Ask {
        let path = self.path.replace("{roomId}", "!r:x").replace("{id}", "!r:x").replace("{agentId}", "a1");
        match self.method {
            Method::GET => get(&path),
            Method::PUT => put(&path),
            Method::DELETE => delete(&path),
            _ => post(&path, body.unwrap_or_default().to_string()),
        }
    }

    fn bodies(&self) -> Vec<Value> {
        examples(&self.operation["requestBody"]["content"]["application/json"])
    }

    fn responses(&self) -> &serde_json::Map<String, Value> {
        self.operation["responses"].as_object().unwrap()
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Values of a media type.
fn examples(content: &Value) -> Vec<Value> {
    let examples = content["examples"].as_object();
    examples.into_iter().flat_map(|e| e.values().map(|e| e["value"].clone())).collect()
}

#[test]
fn every_body_has_an_example() {
    for told in all(&document(&settings())) {
        for (status, response) in told.responses().iter().filter(|(_, r)| r.get("content").is_some()) {
            let examples = examples(&response["content"]["application/json"]);
            assert!(!examples.is_empty(), "{} {status}", told.name());
        }
    }
}

#[tokio::test]
async fn every_example_of_a_request_is_taken() {
    for told in all(&document(&settings())) {
        let bodies = told.bodies();
        assert_eq!(bodies.is_empty(), told.operation.get("requestBody").is_none(), "{}", told.name());
        for body in bodies {
            let answer = response(App::open(), told.ask_with(Some(body.clone()))).await;
            assert!(answer.status().is_success(), "{} {body}: {}", told.name(), answer.status());
        }
        let parameters = told.operation["parameters"].as_array().unwrap();
        for parameter in parameters.iter().filter(|p| p["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            let example = match &parameter["example"] {
                Value::Array(items) => {
                    items.iter().map(|i| i.as_str().unwrap()).collect::<Vec<_>>().join(",")
                }
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let answer = response(App::open(), told.ask().at(&format!("?{name}={example}"))).await;
            assert!(answer.status().is_success(), "{} {name}={example}: {}", told.name(), answer.status());
        }
    }
}

/// In every state that the double knows.
#[tokio::test]
async fn every_answer_is_told_of() {
    let document = document(&settings());
    let states: [fn() -> App; 6] = [
        App::open,
        || App::open().with_everything(),
        || App::open().behind_a_door(),
        || App::open().unconfirmed(),
        App::broken,
        App::switched_off,
    ];
    for told in all(&document) {
        let asks = [told.ask(), told.ask().without("authorization"), told.ask().at("?nonsense=1")];
        for (state, ask) in states.iter().flat_map(|s| asks.iter().map(move |a| (s, a))) {
            let answer = response(state(), ask.clone()).await;
            let (parts, body) = answer.into_parts();
            let status = parts.status.as_u16().to_string();
            let response =
                told.responses().get(&status).unwrap_or_else(|| panic!("{} {status}", told.name()));
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let content = &response["content"]["application/json"];
            assert_eq!(content.is_null(), body.is_empty(), "{} {status}", told.name());
            if let Some(code) = code_of(&body) {
                let known = content["schema"]["properties"]["code"]["enum"].as_array().unwrap();
                assert!(known.contains(&code), "{} {status} {code}", told.name());
            }
        }
    }
}

/// Of an error's body.
fn code_of(body: &[u8]) -> Option<Value> {
    let body: Value = serde_json::from_slice(body).ok()?;
    body.get("correlationId").and(body.get("code")).cloned()
}

#[test]
fn every_route_and_every_code_is_told_of() {
    let document = document(&settings());
    let told: BTreeSet<String> = all(&document).iter().map(Told::name).collect();
    let routed: BTreeSet<String> = table()
        .iter()
        .flat_map(|p| p.operations.iter().map(|(method, _)| format!("{method} {}", p.path)))
        .collect();
    assert_eq!(told, routed);
    let text = document.to_string();
    for code in Code::ALL {
        assert!(text.contains(code.as_str()), "{}", code.as_str());
    }
    let ids: BTreeSet<String> =
        all(&document).iter().map(|t| t.operation["operationId"].to_string()).collect();
    assert_eq!(ids.len(), told.len(), "each has a name of its own: {ids:?}");
}

/// What each call can answer, in lines that can be read at a glance.
#[test]
fn the_answers_of_each_call() {
    let mut lines = Vec::new();
    for path in table() {
        for (method, operation) in &path.operations {
            let codes: Vec<&str> =
                operation.codes().iter().map(|c| c.as_str().trim_start_matches("network_agent.")).collect();
            lines.push(format!("{method} {}\n    {}", path.path, codes.join(" ")));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}
