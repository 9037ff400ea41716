//! `parlour audit`: what was done, newest first.

use reqwest::Method;
use serde_json::Value;

use crate::{
    cli,
    failure::Failure,
    operator::ask_and_tell,
    table::{ago, table, text},
};

/// # Errors
/// No bridge runs.
pub(crate) fn run(args: &cli::Audit) -> Result<(), Failure> {
    let (since, limit) = (args.since.to_string(), args.limit.to_string());
    ask_and_tell(&args.ask, Method::GET, "/audit", &[("withinMs", &since), ("limit", &limit)], list)
}

fn list(answer: &Value) -> String {
    let row = |entry: &Value| {
        [
            ago(&entry["atUnixMs"]),
            text(&entry["deed"]),
            name(&entry["by"]).unwrap_or_else(|| text(&entry["by"]["kind"])),
            name(&entry["whom"]).unwrap_or_else(|| "-".to_owned()),
            text(&entry["room"]["catalogId"]),
        ]
    };
    table(["when", "deed", "by", "whom", "room"], &answer["entries"], row, "nothing was done in that time")
}

fn name(one: &Value) -> Option<String> {
    let name = one["displayName"].as_str().or_else(|| one["matrixUserId"].as_str());
    name.map(str::to_owned)
}
