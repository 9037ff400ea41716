//! The knock as Matrix has it: where a room's join rule allows knocking, the puppet itself stands before it, so that
//! people's clients show their own door.

use std::sync::Arc;

use parlour_matrix::HsError;

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

impl App {
    /// In the background: the knock counts whatever comes of this.
    pub(super) fn knock_really(&self, room: Arc<RoomLive>, agent: Arc<AgentLive>) {
        let Some(app) = self.me.upgrade().filter(|_| room.owner().is_none()) else { return };
        let tasks = self.tasks.clone();
        tasks.spawn(async move {
            if let Err(error) = app.knock_as(&agent, &room).await {
                tracing::info!(%error, room = %room.room_id, "a puppet cannot knock itself");
            }
        });
    }

    async fn knock_as(&self, agent: &AgentLive, room: &RoomLive) -> Result<(), HsError> {
        let rules = self.client.state_content(&self.settings.bot, &room.room_id, "m.room.join_rules").await?;
        let rule = rules.unwrap_or_default();
        if !matches!(rule["join_rule"].as_str(), Some("knock" | "knock_restricted")) {
            return Ok(());
        }
        // not while it is being let in, nor when it has been answered meanwhile
        let _one = agent.moving.lock().await;
        if !self.waits_at(room, agent) {
            return Ok(());
        }
        if room.may_be_encrypted()
            && let Err(error) = self.ensure_device(agent.user_id()).await
        {
            // people's clients look for its keys when they invite it; what is said right after is for these
            tracing::warn!(%error, "a puppet knocks without a device for now");
        }
        let name = &agent.agent.display_name;
        let reason = format!("{name} is an AI agent and asks to be let in.");
        self.client.knock(agent.user_id(), &room.room_id, &reason).await
    }

    /// It waits no more, and was not let in: nor does it stand before the door.
    pub(super) async fn knock_no_more(&self, agent: &AgentLive, room: &RoomLive) {
        let _one = agent.moving.lock().await;
        let stands = room.with_members(|m| m.get(agent.user_id()).is_some_and(|m| m.membership == "knock"));
        if !stands || self.waits_at(room, agent) {
            return;
        }
        if let Err(error) = self.client.leave(agent.user_id(), &room.room_id, None).await {
            tracing::info!(%error, room = %room.room_id, "a knock cannot be taken back");
        }
    }
}
