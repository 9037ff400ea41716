//! Making rooms, finding them by alias, and their state.

use http::Method;
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId, RoomAliasId, RoomId, UserId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Client, HsError, QUICK, SLOW, membership::RoomIdAnswer, request::V3};

/// A room to be made. What is `None`, empty or null is left to the homeserver.
#[derive(Clone, Debug, Default)]
pub struct CreateRoom {
    pub name: Option<String>,
    pub topic: Option<String>,
    /// `lobby` for `#lobby:example.org`.
    pub alias_localpart: Option<String>,
    /// Listed in the directory and open to everybody; else by invitation only.
    pub public: bool,
    pub room_version: Option<String>,
    /// State events without sender or room, `{type, state_key, content}`.
    pub initial_state: Vec<Value>,
    pub creation_content: Value,
    /// Replaces what the homeserver would put into `m.room.power_levels`.
    pub power_levels: Value,
    pub invite: Vec<OwnedUserId>,
    /// Tells those who are invited that it is a chat of two.
    pub is_direct: bool,
}

#[derive(Deserialize)]
pub(super) struct EventIdAnswer {
    pub(super) event_id: OwnedEventId,
}

impl Client {
    /// Makes a room whose creator is `user`. Not idempotent: see the alias or the creation content after an unknown
    /// outcome.
    ///
    /// # Errors
    /// See [`HsError`]; `M_ROOM_IN_USE` where the alias is taken.
    pub async fn create_room(&self, user: &UserId, room: CreateRoom) -> Result<OwnedRoomId, HsError> {
        let request = self.request("create_room", Method::POST, V3, &["createRoom"]).by(user);
        let answer: RoomIdAnswer = request.json(&room.body()).timeout(SLOW).call().await?;
        Ok(answer.room_id)
    }

    /// The room behind an alias, `None` where there is none.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn resolve_alias(&self, alias: &RoomAliasId) -> Result<Option<OwnedRoomId>, HsError> {
        let request = self.request("resolve_alias", Method::GET, V3, &["directory", "room", alias.as_str()]);
        match request.timeout(SLOW).call::<RoomIdAnswer>().await {
            Ok(answer) => Ok(Some(answer.room_id)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets a piece of state. Setting what is there already changes nothing.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn send_state(
        &self,
        user: &UserId,
        room: &RoomId,
        event_type: &str,
        state_key: &str,
        content: &Value,
    ) -> Result<OwnedEventId, HsError> {
        let path = ["rooms", room.as_str(), "state", event_type, state_key];
        let request = self.request("send_state", Method::PUT, V3, &path).by(user);
        let answer: EventIdAnswer = request.json(content).timeout(QUICK).call().await?;
        Ok(answer.event_id)
    }
}

impl CreateRoom {
    fn body(self) -> Value {
        let (visibility, preset) =
            if self.public { ("public", "public_chat") } else { ("private", "private_chat") };
        let body = json!({
            "visibility": visibility,
            "preset": preset,
            "name": self.name,
            "topic": self.topic,
            "room_alias_name": self.alias_localpart,
            "room_version": self.room_version,
            "initial_state": self.initial_state,
            "creation_content": self.creation_content,
            "power_level_content_override": self.power_levels,
            "invite": self.invite,
            "is_direct": self.is_direct.then_some(true),
        });
        without_nulls(body)
    }
}

fn without_nulls(body: Value) -> Value {
    let Value::Object(fields) = body else { return body };
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_is_left_out() {
        let body = CreateRoom { name: Some("Lobby".into()), public: true, ..CreateRoom::default() }.body();
        let expected = json!({"visibility": "public", "preset": "public_chat", "name": "Lobby", "initial_state": [],
            "invite": []});
        assert_eq!(body, expected);
    }
}
