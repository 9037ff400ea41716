//! Closed rooms: nobody may speak in them, on the homeserver too.

use std::sync::Arc;

use parlour_matrix::HsError;
use ruma::UserId;
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

const FIRST_PAUSE_MS: i64 = 2_000;
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;
const POWER: &str = "m.room.power_levels";

impl App {
    /// Tells the homeserver of closed rooms that it was not told of yet, until it has taken it.
    pub(crate) fn start_silencing(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut pause_ms = FIRST_PAUSE_MS;
            while !app.silence_all().await {
                tokio::select! {
                    () = app.clock.sleep_until(app.now() + pause_ms) => {}
                    // still noted: the next start takes it up
                    () = app.tasks.stopped() => return,
                }
                pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
            }
        });
    }

    async fn silence_all(&self) -> bool {
        let mut all = true;
        for agent in self.agents.all().into_iter().filter(|a| !a.ended()) {
            // those that ended do it themselves, before they leave
            all &= self.silence_rooms_of(&agent).await;
        }
        all
    }

    /// Whether all closed rooms of the agent are silent.
    pub(crate) async fn silence_rooms_of(&self, agent: &AgentLive) -> bool {
        let mut all = true;
        for room in self.rooms.of_owner(agent.key()).into_iter().filter(|r| r.closed()) {
            if let Err(error) = self.silence(&room, agent.user_id()).await {
                tracing::info!(%error, room = %room.room_id, "cannot make a closed room silent yet");
                all = false;
            }
        }
        all
    }

    /// Nobody may speak in the room any more, nor bring anybody in; everybody may still delete what they said.
    pub(crate) async fn silence(&self, room: &RoomLive, owner: &UserId) -> Result<(), HsError> {
        if room.silenced() {
            return Ok(());
        }
        match self.raise_levels(room, owner).await {
            // the owner is out, or has no power (any more): then nothing we do changes what others may
            Err(error) if !error.is_final() => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let key = room.key;
        if let Err(error) = self.store.write(move |tx| tx.room_silenced(key)).await {
            tracing::warn!(%error, room = %room.room_id, "cannot note that a room is silent; it is told again");
        }
        room.set_silenced();
        Ok(())
    }

    async fn raise_levels(&self, room: &RoomLive, owner: &UserId) -> Result<(), HsError> {
        let levels = self.client.state_content(owner, &room.room_id, POWER).await?;
        let levels = silent(levels.unwrap_or_else(|| json!({})), owner);
        self.client.send_state(owner, &room.room_id, POWER, "", &levels).await.map(drop)
    }
}

/// The highest level that a room's maker has before version 12. From 12 on it stands above all levels, and is not
/// named among the users.
const HIGHEST: i64 = 100;

/// The same levels, with nobody at or above what speaking takes, but for those whom `owner` has no power over.
fn silent(levels: Value, owner: &UserId) -> Value {
    let mut levels = match levels {
        Value::Object(levels) => levels,
        _ => Map::new(),
    };
    let users = levels.get("users").and_then(Value::as_object).cloned().unwrap_or_default();
    let above = |user: &str, level: &Value| user != owner && level.as_i64().is_some_and(|l| l >= HIGHEST);
    let users: Map<String, Value> = users.into_iter().filter(|(user, level)| above(user, level)).collect();
    let mut events = levels.get("events").and_then(Value::as_object).cloned().unwrap_or_default();
    events.values_mut().for_each(|level| *level = HIGHEST.into());
    events.insert("m.room.redaction".to_owned(), 0.into());
    for key in ["events_default", "state_default", "invite", "kick", "ban", "redact"] {
        levels.insert(key.to_owned(), HIGHEST.into());
    }
    levels.insert("users_default".to_owned(), 0.into());
    levels.insert("users".to_owned(), users.into());
    levels.insert("events".to_owned(), events.into());
    levels.into()
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::*;

    #[test]
    fn nobody_speaks_but_those_above_the_owner() {
        let before = json!({
            "users": {"@agent_a:x": 100, "@ada:x": 50, "@root:x": 100},
            "events": {"m.room.name": 50, "m.reaction": 0}, "events_default": 0, "invite": 50,
            "notifications": {"room": 0},
        });
        let expected = json!({
            "users": {"@root:x": 100},
            "events": {"m.room.name": 100, "m.reaction": 100, "m.room.redaction": 0},
            "users_default": 0, "events_default": 100, "state_default": 100, "invite": 100, "kick": 100, "ban": 100,
            "redact": 100, "notifications": {"room": 0},
        });
        assert_eq!(silent(before, user_id!("@agent_a:x")), expected);
    }

    #[test]
    fn odd_levels_become_good_ones() {
        for odd in [json!(null), json!([]), json!({"users": [], "events": 7})] {
            let levels = silent(odd, user_id!("@a:x"));
            assert_eq!((&levels["events_default"], &levels["users"]), (&json!(100), &json!({})));
        }
    }
}
