//! `parlour status`: how the bridge that runs fares.

use reqwest::Method;
use serde_json::Value;

use crate::{cli, failure::Failure, operator, output};

/// # Errors
/// No bridge runs, or it is not ready; that line says why.
pub(crate) fn run(args: &cli::Ask) -> Result<(), Failure> {
    let status = operator::ask(args, Method::GET, "/status", &[])?;
    let text = if args.json { status.to_string() } else { lines(&status) };
    output::say(&text);
    match status["reason"].as_str() {
        Some(reason) => Err(Failure::new(format!("not ready: {reason}"))),
        None => Ok(()),
    }
}

fn lines(status: &Value) -> String {
    let (version, pid) = (status["version"].as_str().unwrap_or("?"), &status["pid"]);
    let ready = if status["ready"] == true { "ready" } else { "not ready" };
    let line = |name: &str, key: &str| format!("{name:<15}{}\n", status[key]);
    let counts = [
        ("agents", "agents"),
        ("lobbies", "lobbies"),
        ("private rooms", "privateRooms"),
        ("devices", "devices"),
        ("reached by", "deviceWay"),
    ];
    let counts: String = counts.into_iter().map(|(name, key)| line(name, key)).collect();
    let bans = &status["banLists"];
    let bans = format!("{} of {} read, {} rules", bans["read"], bans["named"], bans["rules"]);
    format!("parlour {version}, process {pid}: {ready}\n{counts}{:<15}{bans}\n", "ban lists")
}
