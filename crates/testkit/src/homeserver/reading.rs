//! The answers of an honest homeserver: reading rooms.
#![allow(clippy::result_large_err, reason = "a refusal is an answer too")]

use serde_json::{Value, json};

use super::{
    Call,
    request::{Answer, Request, ok, refusal},
    world::World,
};

pub(super) fn answer(w: &World, user: &str, request: &Request) -> Result<Answer, Answer> {
    let id = &request.args[0];
    let Some(room) = w.rooms.get(id) else { return Err(refusal(404, "M_NOT_FOUND", "no such room")) };
    let Some(readable) = room.readable(user) else {
        return Err(refusal(403, "M_FORBIDDEN", "not in the room"));
    };
    match request.call {
        Call::State => Ok(ok(&Value::Array(room.whole_state()))),
        Call::StateContent => match room.state(&request.args[1], &request.args[2]) {
            Some(event) if request.query("format") == Some("event") && !w.contents_only => Ok(ok(&event)),
            Some(event) => Ok(ok(&event["content"])),
            None => Err(refusal(404, "M_NOT_FOUND", "no such state")),
        },
        Call::Event => match room.find(&request.args[1]) {
            Some(event) => Ok(ok(&event)),
            None => Err(refusal(404, "M_NOT_FOUND", "no such event")),
        },
        Call::Messages => {
            let from = request.query("from").and_then(|t| t.strip_prefix('t')?.parse().ok());
            let backwards = request.query("dir") == Some("b");
            let limit = request.query("limit").and_then(|l| l.parse().ok()).unwrap_or(10);
            let (chunk, end) = room.page(from, readable, backwards, limit);
            let mut page = json!({"chunk": chunk, "start": format!("t{}", from.unwrap_or(room.len()))});
            if let Some(end) = end {
                page["end"] = format!("t{end}").into();
            }
            Ok(ok(&page))
        }
        _ => Err(refusal(404, "M_UNRECOGNIZED", "no such call here")),
    }
}
