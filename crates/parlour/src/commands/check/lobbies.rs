//! Who has the aliases of the lobbies.

use super::{Bench, Report, account::Bot, probe::Answer, rooms};
use crate::config::Lobby;

pub(super) async fn check(bench: &Bench, bot: Bot, report: &mut Report) {
    for lobby in &bench.config.lobbies {
        let Ok(alias) = bench.config.lobby_alias(lobby) else { continue };
        let verdict = one(bench, bot, lobby, alias.as_str()).await;
        match verdict {
            Ok(text) => report.ok("lobby", &format!("{alias} {text}")),
            Err(text) => report.missing("lobby", &format!("{alias} {text}")),
        }
    }
}

async fn one(bench: &Bench, bot: Bot, lobby: &Lobby, alias: &str) -> Result<String, String> {
    match rooms::behind(bench, alias).await? {
        Some(room_id) => there(bench, bot, lobby, &room_id).await,
        None => Ok("is free; the room will be made at the first start".to_owned()),
    }
}

/// A room that is there is used as it is, unless agents could not speak in it.
async fn there(bench: &Bench, bot: Bot, lobby: &Lobby, room_id: &str) -> Result<String, String> {
    if bot == Bot::Ours && rooms::has_bot(bench, room_id).await {
        return match rooms::has_state(bench, room_id, "m.room.encryption").await {
            Some(true) => Err(encrypted(lobby)),
            _ => Ok(format!("is there, and the bot is in it ({room_id})")),
        };
    }
    let summary = bench.probe.look(&["v1", "room_summary", room_id], &[]).await;
    match summary {
        Ok(summary) if summary.is_ok() => open(lobby, room_id, &summary),
        _ => Err(closed(lobby)),
    }
}

fn open(lobby: &Lobby, room_id: &str, summary: &Answer) -> Result<String, String> {
    if !summary.text("encryption").is_empty() || !summary.text("im.nheko.summary.encryption").is_empty() {
        return Err(encrypted(lobby));
    }
    match summary.text("join_rule") {
        // The specification's default.
        "" | "public" => Ok(format!("is there; the bot will join it ({room_id})")),
        _ => Err(closed(lobby)),
    }
}

fn encrypted(lobby: &Lobby) -> String {
    let slug = lobby.slug.as_str();
    format!("belongs to an encrypted room, which cannot be a lobby; give the lobby {slug} another alias")
}

fn closed(lobby: &Lobby) -> String {
    let slug = lobby.slug.as_str();
    format!(
        "belongs to a room that the bot cannot see or enter; open that room to everybody, or give the lobby {slug} \
         another alias"
    )
}
