//! Into rooms and out of them.

use http::Method;
use ruma::{OwnedRoomId, OwnedServerName, RoomId, RoomOrAliasId, UserId};
use serde::Deserialize;
use serde_json::json;

use super::{Client, HsError, SLOW, request::V3};

#[derive(Deserialize)]
pub(super) struct RoomIdAnswer {
    pub(super) room_id: OwnedRoomId,
}

impl Client {
    /// Joins; somebody who is in already stays in. `via` names servers that know the room, needed only for rooms of
    /// other servers.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` or `M_BAD_STATE` for somebody who is banned.
    pub async fn join(
        &self,
        user: &UserId,
        room: &RoomOrAliasId,
        via: &[OwnedServerName],
    ) -> Result<OwnedRoomId, HsError> {
        let mut request = self.request("join", Method::POST, V3, &["join", room.as_str()]).by(user);
        for server in via {
            // The second name is for servers before Matrix 1.12.
            request = request.query("via", server.as_str()).query("server_name", server.as_str());
        }
        let answer: RoomIdAnswer = request.json(&json!({})).timeout(SLOW).call().await?;
        Ok(answer.room_id)
    }

    /// Leaves, or declines an invitation. Somebody who is not in, was never in or is banned has nothing to leave:
    /// that is fine. Homeservers say so with a 403 or a 404 in words of their own.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn leave(&self, user: &UserId, room: &RoomId, reason: Option<&str>) -> Result<(), HsError> {
        let body = reason.map_or_else(|| json!({}), |reason| json!({"reason": reason}));
        let request = self.request("leave", Method::POST, V3, &["rooms", room.as_str(), "leave"]).by(user);
        match request.json(&body).timeout(SLOW).done().await {
            Err(HsError::Refused { status: 403 | 404, errcode, .. })
                if NOT_IN.contains(&errcode.as_str()) =>
            {
                Ok(())
            }
            result => result,
        }
    }
}

const NOT_IN: [&str; 4] = ["M_FORBIDDEN", "M_NOT_FOUND", "M_BAD_STATE", "M_UNKNOWN"];
