//! `parlour quotas`: what is taken of quotas, and by whom.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli,
    failure::Failure,
    operator::ask_and_tell,
    table::{ahead, room, table, text},
};

/// # Errors
/// No bridge runs, or the source is no address.
pub(crate) fn run(args: &cli::Quotas) -> Result<(), Failure> {
    if let Some(source) = &args.source {
        return ask_and_tell(&args.ask, Method::GET, "/source", &[("source", source)], list);
    }
    let (full, limit) = (args.full.to_string(), args.limit.to_string());
    let nothing = if args.full { "no quota is used up" } else { "nothing is taken of any quota" };
    let words = |answer: &Value| told(answer, nothing);
    ask_and_tell(&args.ask, Method::GET, "/quotas", &[("full", &full), ("limit", &limit)], words)
}

/// A source has all of its quotas, used or not.
fn list(answer: &Value) -> String {
    told(answer, "no quotas")
}

fn told(answer: &Value, nothing: &str) -> String {
    let row = |quota: &Value| {
        let (name, id) = holder(&quota["whose"]);
        [
            text(&quota["limit"]),
            name,
            id,
            text(&quota["used"]),
            text(&quota["of"]),
            ahead(&quota["backAtUnixMs"]),
        ]
    };
    table(["limit", "whose", "id", "used", "of", "comes back"], &answer["quotas"], row, nothing)
}

/// What somebody is called, and by what they are found elsewhere.
fn holder(whose: &Value) -> (String, String) {
    match whose["kind"].as_str() {
        Some("agent") => (text(&whose["displayName"]), text(&whose["agentId"])),
        Some("lobby") => {
            let slug = whose["slug"].as_str().map_or_else(|| room(whose), str::to_owned);
            (format!("lobby {slug}"), text(&whose["catalogId"]))
        }
        _ => (text(&whose["kind"]), text(&whose["tag"])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_is_told_by_name_and_id() {
        let taken = |whose: Value, used: u32| json!({"limit": "a_limit", "whose": whose, "used": used, "of": 5, "backAtUnixMs": null});
        let lobby = |slug: Value| json!({"kind": "lobby", "catalogId": "01a", "name": "Lobby", "slug": slug});
        let answer = json!({"quotas": [
            taken(json!({"kind": "agent", "agentId": "01b", "displayName": "Scout #2316"}), 5),
            taken(lobby(json!("hall")), 4),
            taken(lobby(Value::Null), 3),
            taken(json!({"kind": "source", "tag": "0001abcd"}), 2),
        ]});
        let told = [
            "limit    whose        id        used  of  comes back",
            "a_limit  Scout #2316  01b       5     5   -",
            "a_limit  lobby hall   01a       4     5   -",
            "a_limit  lobby Lobby  01a       3     5   -",
            "a_limit  source       0001abcd  2     5   -",
        ];
        assert_eq!(list(&answer), told.join("\n"));
    }

    #[test]
    fn nothing_is_told_in_words() {
        assert_eq!(told(&json!({"quotas": []}), "no quota is used up"), "no quota is used up");
    }
}
