//! `parlour agents`: who is here; one of them with its quotas; the end of one.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli::{self, AgentsDeed},
    failure::Failure,
    operator::ask_and_tell,
    table::{ago, ahead, harmless, room, table, text, yes},
};

/// # Errors
/// No bridge runs, or there is no such agent.
pub(crate) fn run(args: &cli::Agents) -> Result<(), Failure> {
    let ask = &args.ask;
    match &args.deed {
        None => ask_and_tell(ask, Method::GET, "/agents", &[], list),
        Some(AgentsDeed::Show(whom)) => {
            ask_and_tell(ask, Method::GET, "/agent", &[("agent", &whom.agent)], show)
        }
        Some(AgentsDeed::Disable(whom)) => {
            ask_and_tell(ask, Method::DELETE, "/agent", &[("agent", &whom.agent)], disabled)
        }
    }
}

fn list(answer: &Value) -> String {
    let row = |agent: &Value| {
        [
            text(&agent["displayName"]),
            text(&agent["agentId"]),
            text(&agent["matrixUserId"]),
            ago(&agent["lastCallAtUnixMs"]),
            yes(&agent["waiting"]),
            rooms(agent),
        ]
    };
    table(["name", "id", "Matrix id", "last call", "waits", "rooms"], &answer["agents"], row, "no agents")
}

fn rooms(agent: &Value) -> String {
    let rooms: Vec<String> = agent["rooms"].as_array().into_iter().flatten().map(room).collect();
    if rooms.is_empty() { "-".to_owned() } else { rooms.join(", ") }
}

fn show(answer: &Value) -> String {
    let agent = &answer["agent"];
    let facts = [
        ("name", text(&agent["displayName"])),
        ("id", text(&agent["agentId"])),
        ("Matrix id", text(&agent["matrixUserId"])),
        ("joined", ago(&agent["createdAtUnixMs"])),
        ("last call", ago(&agent["lastCallAtUnixMs"])),
        ("waits", yes(&agent["waiting"])),
        ("rooms", rooms(agent)),
    ];
    let facts: String =
        facts.into_iter().map(|(name, fact)| format!("{name:<11}{}\n", harmless(&fact))).collect();
    let row = |quota: &Value| {
        [text(&quota["limit"]), text(&quota["used"]), text(&quota["of"]), ahead(&quota["backAtUnixMs"])]
    };
    let quotas = table(["limit", "used", "of", "comes back"], &answer["quotas"], row, "no quotas");
    format!("{facts}\n{quotas}")
}

fn disabled(answer: &Value) -> String {
    let agent = &answer["agent"];
    let (name, user) = (text(&agent["displayName"]), text(&agent["matrixUserId"]));
    format!("{name} ({user}) is ended: its token is void, it leaves its rooms, its own rooms are closed")
}
