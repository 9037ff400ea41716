//! Whether the bot can read the ban lists.

use ruma::ServerName;

use super::{Bench, Report, account::Bot, probe::Answer, rooms};

const WHAT: &str = "moderation.ban_lists";

pub(super) async fn check(bench: &Bench, bot: Bot, report: &mut Report) {
    for list in &bench.config.moderation.ban_lists {
        let name = list.0.as_str();
        match one(bench, bot, name, list.0.server_name().map(ServerName::as_str)).await {
            Ok(Seen::Fine(text)) => report.ok(WHAT, &format!("{name} {text}")),
            Ok(Seen::Unknown) => report.note(WHAT, &format!("{name} {UNKNOWN}")),
            Err(text) => report.missing(WHAT, &format!("{name} {text}")),
        }
    }
}

const UNKNOWN: &str =
    "cannot be looked at from here before the bot is in it; `parlour status` tells whether it was read";

enum Seen {
    Fine(&'static str),
    /// A room of another server, say, that this one tells nobody about.
    Unknown,
}

async fn one(bench: &Bench, bot: Bot, name: &str, via: Option<&str>) -> Result<Seen, String> {
    let room_id =
        if name.starts_with('#') { rooms::behind(bench, name).await? } else { Some(name.to_owned()) };
    let Some(room_id) = room_id else {
        return Err("is the alias of no room; correct it, or take it out".to_owned());
    };
    if bot == Bot::Ours && rooms::has_bot(bench, &room_id).await {
        return Ok(Seen::Fine("is there, and the bot reads it"));
    }
    let via: Vec<_> = via.into_iter().map(|server| ("via", server)).collect();
    let summary = bench.probe.look(&["v1", "room_summary", name], &via).await;
    let Some(summary) = summary.ok().filter(Answer::is_ok) else { return Ok(Seen::Unknown) };
    match summary.text("join_rule") {
        // The specification's default.
        "" | "public" => Ok(Seen::Fine("is there; the bot will join it")),
        _ => Err(format!(
            "is a room that takes an invitation; invite {} into it",
            bench.config.bot().map_or_else(|_| "the bot".to_owned(), |bot| bot.to_string())
        )),
    }
}
