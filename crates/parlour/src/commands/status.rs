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
    let bans = ban_lists(&status["banLists"]);
    format!("parlour {version}, process {pid}: {ready}\n{counts}{:<15}{bans}\n", "ban lists")
}

fn ban_lists(lists: &Value) -> String {
    let read = format!("{} of {} read, {} rules", lists["read"], lists["named"], lists["rules"]);
    match lists["failed"].as_u64() {
        None | Some(0) => read,
        Some(failed) => format!("{read}; {failed} could not be read at the last try, see the log"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_that_cannot_be_read_are_told_where_there_are_any() {
        let told = |failed: u32| ban_lists(&json!({"named": 3, "read": 2, "failed": failed, "rules": 7}));
        assert_eq!(told(0), "2 of 3 read, 7 rules");
        assert_eq!(told(1), "2 of 3 read, 7 rules; 1 could not be read at the last try, see the log");
    }
}
