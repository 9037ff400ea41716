//! `parlour codes`: whether Agent codes open rooms. What a code is, is not told here.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli::{self, CodesDeed},
    failure::Failure,
    operator::ask_and_tell,
    table::{harmless, room, table, text},
};

/// # Errors
/// No bridge runs, there is no such room, or it is a lobby.
pub(crate) fn run(args: &cli::Codes) -> Result<(), Failure> {
    match &args.deed {
        None => ask_and_tell(&args.ask, Method::GET, "/codes", &[], list),
        Some(CodesDeed::Off(which)) => {
            ask_and_tell(&args.ask, Method::DELETE, "/code", &[("room", &which.room)], off)
        }
    }
}

fn list(answer: &Value) -> String {
    let row = |code: &Value| {
        let state = if code["on"] == true { "on" } else { "off" };
        [room(&code["room"]), text(&code["room"]["catalogId"]), state.to_owned()]
    };
    table(["room", "number", "code"], &answer["codes"], row, "no rooms that could have a code")
}

fn off(answer: &Value) -> String {
    format!("no code opens {} any more: agents can knock", harmless(&room(&answer["room"])))
}
