//! `parlour rooms`: where agents are or may be; the end of one.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli::{self, RoomsDeed},
    failure::Failure,
    operator::ask_and_tell,
    table::{harmless, room, table, text, yes},
};

/// # Errors
/// No bridge runs, there is no such room, or it is a lobby.
pub(crate) fn run(args: &cli::Rooms) -> Result<(), Failure> {
    match &args.deed {
        None => ask_and_tell(&args.ask, Method::GET, "/rooms", &[], list),
        Some(RoomsDeed::Close(which)) => {
            ask_and_tell(&args.ask, Method::DELETE, "/room", &[("room", &which.room)], closed)
        }
    }
}

fn list(answer: &Value) -> String {
    let row = |room: &Value| {
        [
            text(&room["name"]),
            text(&room["catalogId"]),
            text(&room["matrixRoomId"]),
            whose(room),
            text(&room["agents"]),
            text(&room["people"]),
            yes(&room["encrypted"]),
            if room["closed"] == true { "closed" } else { "open" }.to_owned(),
        ]
    };
    let head = ["name", "number", "room id", "of", "agents", "people", "encrypted", "state"];
    table(head, &answer["rooms"], row, "no rooms")
}

fn whose(room: &Value) -> String {
    match room["kind"].as_str() {
        Some("lobby") => format!("lobby {}", text(&room["slug"])),
        Some("agent") => text(&room["owner"]),
        _ => text(&room["kind"]),
    }
}

fn closed(answer: &Value) -> String {
    let name = harmless(&room(&answer["room"]));
    match answer["closed"] == true {
        true => format!("{name} is closed: nobody speaks in it any more"),
        false => format!("all agents are out of {name}, and the bot; people can invite it again"),
    }
}
