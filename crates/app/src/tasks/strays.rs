use std::sync::Arc;

use parlour_domain::room::RoomKind;
use ruma::{OwnedUserId, UserId};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

impl App {
    /// Puppets that are in a room for nobody: a join may succeed after we gave it up, or after its agent was gone; a
    /// kick may have failed; a room may have been made twice. And the bot where it was sent away.
    pub(crate) async fn take_out_strays(&self) {
        self.leave_stray_rooms().await;
        for room in self.rooms.all() {
            for user in self.strays_in(&room).await {
                tracing::info!(puppet = %user, "taking one of ours out of a room that it is not to be in");
                if let Err(error) = self.client.leave(&user, &room.room_id, None).await {
                    tracing::info!(%error, "cannot take it out yet");
                    return;
                }
            }
        }
    }

    async fn strays_in(&self, room: &Arc<RoomLive>) -> Vec<OwnedUserId> {
        let puppets = room.with_members(|m| m.joined(|user: &UserId| self.settings.is_puppet(user)));
        let mut strays = vec![];
        for puppet in puppets {
            match self.agents.by_user(&puppet) {
                None => strays.push(puppet),
                Some(agent) if self.was_put_out(&agent, room).await => strays.push(puppet),
                Some(_) => {}
            }
        }
        if self.is_bot_stray_in(room).await {
            strays.push(self.settings.bot.clone());
        }
        strays
    }

    /// We may have ended between our own word, that it is out, and the homeserver's. What the disk says counts: memory
    /// is ahead of it while the agents go before it.
    async fn is_bot_stray_in(&self, room: &RoomLive) -> bool {
        let elsewhere = room.kind() == RoomKind::Lobby || self.bans.known.is_list(&room.room_id);
        if elsewhere || self.bot.knows(room.key) || !self.bot_is_in(room) {
            return false;
        }
        let (key, room_id) = (room.key, room.room_id.clone());
        let noted = self.store.read(move |r| {
            let coming = r.bot_invitations()?.iter().any(|i| i.room_id == room_id);
            Ok(coming || r.bot_rooms()?.iter().any(|r| r.room == key))
        });
        !noted.await.unwrap_or(true)
    }

    /// Removed from a private room, though the homeserver has not heard of it.
    async fn was_put_out(&self, agent: &AgentLive, room: &RoomLive) -> bool {
        if agent.is_in(room.key) {
            return false;
        }
        // one that is just being let in again must not be taken for a stray
        let Ok(_one) = agent.moving.try_lock() else { return false };
        self.was_removed(agent, room).await
    }

    async fn leave_stray_rooms(&self) {
        let strays = std::mem::take(&mut *self.strays.lock());
        for (puppet, room_id) in strays {
            tracing::info!(%puppet, room = %room_id, "leaving a room that was made for nobody");
            if let Err(error) = self.client.leave(&puppet, &room_id, None).await {
                tracing::info!(%error, "cannot leave it yet");
                self.strays.lock().push((puppet, room_id));
            }
        }
    }
}
