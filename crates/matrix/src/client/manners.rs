//! What people see of a puppet besides its words: presence, read receipts, typing.

use http::Method;
use ruma::{EventId, RoomId, UserId};
use serde_json::{json, value::RawValue};

use super::{Client, HsError, request::V3};
use crate::json::Fields;

impl Client {
    /// Says how present somebody is (`PUT /presence/{userId}/status`): `online`, `unavailable` or `offline`.
    ///
    /// # Errors
    /// See [`HsError`]. A Synapse with presence off takes it and does nothing.
    pub async fn set_presence(&self, user: &UserId, presence: &str, status: &str) -> Result<(), HsError> {
        let path = ["presence", user.as_str(), "status"];
        let mut body = json!({"presence": presence});
        if !status.is_empty() {
            body["status_msg"] = status.into();
        }
        self.request("set_presence", Method::PUT, V3, &path).by(user).json(&body).done().await
    }

    /// How present the homeserver takes somebody for, in its own word.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn presence(&self, user: &UserId) -> Result<Option<String>, HsError> {
        let path = ["presence", user.as_str(), "status"];
        let raw: Box<RawValue> = self.request("presence", Method::GET, V3, &path).by(user).call().await?;
        Ok(Fields::of(&raw).and_then(|fields| fields.str("presence")))
    }

    /// Shows that somebody has read up to and with an event, in all threads (`m.read` without a thread).
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn read_up_to(&self, user: &UserId, room: &RoomId, event: &EventId) -> Result<(), HsError> {
        let path = ["rooms", room.as_str(), "receipt", "m.read", event.as_str()];
        self.request("receipt", Method::POST, V3, &path).by(user).json(&json!({})).done().await
    }

    /// Shows that somebody types for the next `for_ms` milliseconds, or (`None`) does not any more.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn typing(&self, user: &UserId, room: &RoomId, for_ms: Option<i64>) -> Result<(), HsError> {
        let path = ["rooms", room.as_str(), "typing", user.as_str()];
        let body = match for_ms {
            Some(ms) => json!({"typing": true, "timeout": ms}),
            None => json!({"typing": false}),
        };
        self.request("typing", Method::PUT, V3, &path).by(user).json(&body).done().await
    }
}
