//! Error codes as responses: one for each status, with every code it can bear, what to do next, and an example.

use parlour_domain::fault::{Code, Fault};
use serde_json::{Map, Value, json};

use super::samples;
use crate::{correlation::CorrelationId, error::Envelope};

/// By status.
pub(super) fn responses(codes: &[Code]) -> Map<String, Value> {
    let mut statuses: Vec<u16> = codes.iter().map(|c| c.status()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    statuses.into_iter().map(|status| (status.to_string(), response(status, codes))).collect()
}

fn response(status: u16, codes: &[Code]) -> Value {
    let codes: Vec<Code> = codes.iter().copied().filter(|c| c.status() == status).collect();
    let lines: Vec<String> = codes.iter().map(|c| format!("`{}`: {}.", c.as_str(), c.next_step())).collect();
    let names: Vec<&str> = codes.iter().map(|c| c.as_str()).collect();
    let examples: Map<String, Value> = codes.iter().map(|c| (key(*c), example(*c))).collect();
    let mut headers = json!({"x-correlation-id": {"$ref": "#/components/headers/CorrelationId"}});
    if codes.contains(&Code::RateLimited) {
        headers["Retry-After"] = json!({"$ref": "#/components/headers/RetryAfter"});
    }
    json!({
        "description": lines.join("\n\n"),
        "headers": headers,
        "content": {"application/json": {
            "schema": {
                "allOf": [{"$ref": "#/components/schemas/Error"}],
                "properties": {"code": {"enum": names}},
            },
            "examples": examples,
        }},
    })
}

fn key(code: Code) -> String {
    code.as_str().replace('.', "_")
}

fn example(code: Code) -> Value {
    let fault = fault(code);
    let id = CorrelationId(samples::CORRELATION);
    json!({"summary": code.next_step(), "value": Envelope::new(&fault, id)})
}

/// As the use cases make them, where the message matters.
fn fault(code: Code) -> Fault {
    let field = |name: &str| Fault::new(code, sentence(code)).field(name);
    match code {
        Code::Unauthorized => Fault::unauthorized(),
        Code::Internal => Fault::internal(""),
        Code::DependencyUnavailable => Fault::unavailable(""),
        Code::InvalidRequest => Fault::invalid("limit", "limit goes from 1 to 50."),
        Code::InvalidMessage => field("text"),
        Code::RoomRequired | Code::RoomNotJoined => field("roomId"),
        Code::NameInvalid | Code::NameUnavailable | Code::RoomNameInvalid => field("name"),
        Code::AccountNotFound => field("accountId"),
        Code::RoomNotFound => Fault::new(code, sentence(code))
            .detail("rooms", json!([{"name": "Lobby", "slug": "lobby", "default": true}])),
        _ => Fault::new(code, sentence(code)),
    }
}

/// The next step as a sentence.
fn sentence(code: Code) -> String {
    let mut letters = code.next_step().chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
