//! Reading rooms as somebody who may see them.

use http::Method;
use ruma::{EventId, OwnedUserId, RoomId, UserId};
use serde_json::{Value, value::RawValue};

use super::{Client, HsError, SLOW, request::V3};
use crate::json::{Fields, list, owned_object};

/// A stretch of a room's timeline, in the order that was asked for.
#[derive(Clone, Debug, Default)]
pub struct MessagesPage {
    /// Events, to be read by [`crate::Incoming::parse`] with the room given.
    pub chunk: Vec<Box<RawValue>>,
    /// Where the next page begins; `None` at the end.
    pub end: Option<String>,
}

impl Client {
    /// The room's whole current state (or, for somebody who left, as it was then).
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn room_state(&self, user: &UserId, room: &RoomId) -> Result<Vec<Box<RawValue>>, HsError> {
        let request =
            self.request("room_state", Method::GET, V3, &["rooms", room.as_str(), "state"]).by(user);
        let raw: Box<RawValue> = request.timeout(SLOW).call().await?;
        objects(Some(&raw))
    }

    /// The content of a piece of state with an empty key, `None` where there is none.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` for somebody who was never in the room.
    pub async fn state_content(
        &self,
        user: &UserId,
        room: &RoomId,
        event_type: &str,
    ) -> Result<Option<Value>, HsError> {
        self.state_of(user, room, event_type, "").await
    }

    /// What somebody is in a room; `None` for whoever had never to do with it.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` was never in the room.
    pub async fn membership(
        &self,
        user: &UserId,
        room: &RoomId,
        other: &UserId,
    ) -> Result<Option<String>, HsError> {
        let content = self.state_of(user, room, "m.room.member", other.as_str()).await?;
        Ok(content.and_then(|content| Some(content["membership"].as_str()?.to_owned())))
    }

    /// Who set the ban that somebody is under in a room; `None` for whoever is not banned there.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` was never in the room.
    pub async fn banned_by(
        &self,
        user: &UserId,
        room: &RoomId,
        other: &UserId,
    ) -> Result<Option<OwnedUserId>, HsError> {
        let path = ["rooms", room.as_str(), "state", "m.room.member", other.as_str()];
        let request = self.request("state_event", Method::GET, V3, &path).by(user).query("format", "event");
        let mut event: Value = match request.call().await {
            Err(error) if error.is_not_found() => return Ok(None),
            answer => answer?,
        };
        if event["sender"].is_null() {
            // the parameter is young in the spec (1.16): not every homeserver gives more than the content
            event = self.member_event(user, room, other).await?;
        }
        let sender = event["sender"].as_str().and_then(|sender| UserId::parse(sender).ok());
        Ok(sender.filter(|_| event["content"]["membership"] == "ban"))
    }

    async fn member_event(&self, user: &UserId, room: &RoomId, other: &UserId) -> Result<Value, HsError> {
        let state = self.room_state(user, room).await?;
        let mut events = state.iter().filter_map(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        let is = |event: &Value| event["type"] == "m.room.member" && event["state_key"] == other.as_str();
        Ok(events.find(is).unwrap_or_default())
    }

    async fn state_of(
        &self,
        user: &UserId,
        room: &RoomId,
        event_type: &str,
        key: &str,
    ) -> Result<Option<Value>, HsError> {
        let path = ["rooms", room.as_str(), "state", event_type, key];
        match self.request("state_content", Method::GET, V3, &path).by(user).call().await {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A page of the room's timeline, newest first when `backwards`. Without `from` it begins at that end.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn messages(
        &self,
        user: &UserId,
        room: &RoomId,
        from: Option<&str>,
        backwards: bool,
        limit: u32,
    ) -> Result<MessagesPage, HsError> {
        let mut request = self
            .request("messages", Method::GET, V3, &["rooms", room.as_str(), "messages"])
            .by(user)
            .query("dir", if backwards { "b" } else { "f" })
            .query("limit", &limit.to_string());
        if let Some(from) = from {
            request = request.query("from", from);
        }
        let raw: Box<RawValue> = request.timeout(SLOW).call().await?;
        let fields = Fields::of(&raw).unwrap_or_default();
        Ok(MessagesPage { chunk: objects(fields.get("chunk"))?, end: fields.str("end") })
    }

    /// One event, `None` where there is none that `user` may see.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` for somebody who is not in the room.
    pub async fn event(
        &self,
        user: &UserId,
        room: &RoomId,
        event_id: &EventId,
    ) -> Result<Option<Box<RawValue>>, HsError> {
        let path = ["rooms", room.as_str(), "event", event_id.as_str()];
        match self.request("event", Method::GET, V3, &path).by(user).call().await {
            Ok(raw) => Ok(Some(raw)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The objects of a list. No list at all is not the answer of a homeserver.
fn objects(raw: Option<&RawValue>) -> Result<Vec<Box<RawValue>>, HsError> {
    match raw.and_then(list) {
        Some(items) => Ok(items.into_iter().filter_map(owned_object).collect()),
        None => Err(HsError::Unknown("a success, but without the list of events".to_owned())),
    }
}
