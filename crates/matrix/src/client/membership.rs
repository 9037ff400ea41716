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

impl Client {
    /// Invites; the reason is shown with the invitation. Whoever is invited already stays so.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` may not invite, or the other is in the room or banned from it.
    pub async fn invite(
        &self,
        user: &UserId,
        room: &RoomId,
        other: &UserId,
        reason: Option<&str>,
    ) -> Result<(), HsError> {
        self.act_on(user, room, "invite", other, reason).await
    }

    /// Puts somebody out.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` may not do that, or the other is not in the room.
    pub async fn kick(
        &self,
        user: &UserId,
        room: &RoomId,
        other: &UserId,
        reason: Option<&str>,
    ) -> Result<(), HsError> {
        self.act_on(user, room, "kick", other, reason).await
    }

    /// Puts somebody out for good, in the room or not.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` may not do that.
    pub async fn ban(
        &self,
        user: &UserId,
        room: &RoomId,
        other: &UserId,
        reason: Option<&str>,
    ) -> Result<(), HsError> {
        self.act_on(user, room, "ban", other, reason).await
    }

    /// Lifts a ban; the other may come again, and is not in the room by that.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where `user` may not do that, or the other is not banned.
    pub async fn unban(&self, user: &UserId, room: &RoomId, other: &UserId) -> Result<(), HsError> {
        self.act_on(user, room, "unban", other, None).await
    }

    /// Knocks: asks to be invited. Whoever knocks already, or is invited, stays so.
    ///
    /// # Errors
    /// See [`HsError`]; `M_FORBIDDEN` where the room takes no knocks, or not from this user.
    pub async fn knock(&self, user: &UserId, room: &RoomId, reason: &str) -> Result<(), HsError> {
        let request = self.request("knock", Method::POST, V3, &["knock", room.as_str()]).by(user);
        request.json(&json!({"reason": reason})).timeout(SLOW).done().await
    }

    async fn act_on(
        &self,
        user: &UserId,
        room: &RoomId,
        what: &'static str,
        other: &UserId,
        reason: Option<&str>,
    ) -> Result<(), HsError> {
        let mut body = json!({"user_id": other});
        if let Some(reason) = reason {
            body["reason"] = reason.into();
        }
        let request = self.request(what, Method::POST, V3, &["rooms", room.as_str(), what]).by(user);
        request.json(&body).timeout(SLOW).done().await
    }

    /// The rooms that `user` is in.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn joined_rooms(&self, user: &UserId) -> Result<Vec<OwnedRoomId>, HsError> {
        let request = self.request("joined_rooms", Method::GET, V3, &["joined_rooms"]).by(user);
        let answer: JoinedRooms = request.call().await?;
        Ok(answer.joined_rooms)
    }
}

#[derive(Deserialize)]
struct JoinedRooms {
    joined_rooms: Vec<OwnedRoomId>,
}

const NOT_IN: [&str; 4] = ["M_FORBIDDEN", "M_NOT_FOUND", "M_BAD_STATE", "M_UNKNOWN"];
