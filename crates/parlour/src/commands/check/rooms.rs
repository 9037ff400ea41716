//! What can be found out about a room without changing anything.

use super::{Bench, probe::Answer};

/// Where an alias leads; `None`: nowhere.
pub(super) async fn behind(bench: &Bench, alias: &str) -> Result<Option<String>, String> {
    let answer = bench.probe.get(&["v3", "directory", "room", alias], &[]).await;
    let answer = answer.map_err(|cause| format!("cannot be looked up: {cause}; check again"))?;
    match (answer.is_ok(), answer.errcode()) {
        (true, _) => Ok(Some(answer.text("room_id").to_owned())),
        (false, "M_NOT_FOUND") => Ok(None),
        _ => Err(format!("cannot be looked up ({}); look into the homeserver's log", answer.describe())),
    }
}

/// Whether the bot is in it. Who has left may still read how the room was.
pub(super) async fn has_bot(bench: &Bench, room_id: &str) -> bool {
    let Ok(bot) = bench.config.bot() else { return false };
    let member = state(bench, room_id, "m.room.member", bot.as_str()).await;
    member.is_some_and(|member| member.is_ok() && member.text("membership") == "join")
}

/// Whether the room has this state; `None` where the bot may not know.
pub(super) async fn has_state(bench: &Bench, room_id: &str, event_type: &str) -> Option<bool> {
    let answer = state(bench, room_id, event_type, "").await?;
    match (answer.is_ok(), answer.errcode()) {
        (true, _) => Some(true),
        (false, "M_NOT_FOUND") => Some(false),
        _ => None,
    }
}

async fn state(bench: &Bench, room_id: &str, event_type: &str, key: &str) -> Option<Answer> {
    let bot = bench.config.bot().ok()?;
    let path = ["v3", "rooms", room_id, "state", event_type, key];
    bench.probe.get(&path, &[("user_id", bot.as_str())]).await.ok()
}
