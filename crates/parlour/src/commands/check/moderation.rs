//! Whether the bot can read the ban lists.

use super::{Bench, Report, account::Bot, rooms};

const WHAT: &str = "moderation.ban_lists";

pub(super) async fn check(bench: &Bench, bot: Bot, report: &mut Report) {
    for list in &bench.config.moderation.ban_lists {
        let name = list.0.as_str();
        match one(bench, bot, name).await {
            Ok(text) => report.ok(WHAT, &format!("{name} {text}")),
            Err(text) => report.missing(WHAT, &format!("{name} {text}")),
        }
    }
}

async fn one(bench: &Bench, bot: Bot, name: &str) -> Result<String, String> {
    let room_id =
        if name.starts_with('#') { rooms::behind(bench, name).await? } else { Some(name.to_owned()) };
    let Some(room_id) = room_id else {
        return Err("is the alias of no room; correct it, or take it out".to_owned());
    };
    if bot == Bot::Ours && rooms::has_bot(bench, &room_id).await {
        return Ok("is there, and the bot reads it".to_owned());
    }
    let summary = bench.probe.look(&["v1", "room_summary", &room_id]).await;
    if summary.is_ok_and(|room| room.is_ok() && ["", "public"].contains(&room.text("join_rule"))) {
        return Ok("is there; the bot will join it".to_owned());
    }
    let bot = bench.config.bot().map_or_else(|_| "the bot".to_owned(), |bot| bot.to_string());
    Err(format!("is a room that the bot is not in and cannot see; invite {bot} into it"))
}
