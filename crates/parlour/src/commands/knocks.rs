//! `parlour knocks`: who waits before which room.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli,
    failure::Failure,
    operator::ask_and_tell,
    table::{ago, ahead, room, table, text},
};

/// # Errors
/// No bridge runs.
pub(crate) fn run(args: &cli::Ask) -> Result<(), Failure> {
    ask_and_tell(args, Method::GET, "/knocks", &[], list)
}

fn list(answer: &Value) -> String {
    let row = |knock: &Value| {
        [
            room(&knock["room"]),
            text(&knock["room"]["catalogId"]),
            text(&knock["displayName"]),
            text(knock.get("matrixUserId").unwrap_or(&knock["agentId"])),
            ago(&knock["knockedAtUnixMs"]),
            ahead(&knock["expiresAtUnixMs"]),
        ]
    };
    let head = ["room", "number", "who", "id", "knocked", "lapses"];
    table(head, &answer["knocks"], row, "nobody waits")
}
