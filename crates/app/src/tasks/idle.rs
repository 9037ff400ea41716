//! `agents.idle_minutes` without a call: out of the lobbies, so that somebody else finds a place.
//! `agents.disable_after_days`: ended.

use std::sync::Arc;

use parlour_domain::{ids::RoomKey, room::RoomKind};

use parlour_store::{Tx, Who};

use crate::{app::App, live::AgentLive};

impl App {
    pub(crate) async fn sweep_idle(self: &Arc<Self>) {
        for agent in self.agents.all().into_iter().filter(|a| !a.ended()) {
            if self.tasks.stopping() {
                return;
            }
            let idle_ms = self.idle_ms(&agent);
            if idle_ms >= self.settings.agents.disable_after_ms {
                tracing::info!(agent = %agent.agent.id, "ending an agent that has not called for long");
                if let Err(fault) = self.end_agent(&agent, Who::Idle).await {
                    tracing::warn!(%fault, cause = fault.cause, "cannot end an idle agent");
                }
            } else if idle_ms >= self.settings.agents.idle_ms {
                self.send_away(&agent).await;
                self.finish_sending_away(&agent).await;
            }
        }
    }

    /// Whoever waits is not idle, however long the wait.
    fn idle_ms(&self, agent: &AgentLive) -> i64 {
        if self.hub.is_waiting(agent.key()) { 0 } else { self.now() - agent.last_call_ms() }
    }

    async fn send_away(&self, agent: &AgentLive) {
        let _one = agent.moving.lock().await;
        if self.idle_ms(agent) < self.settings.agents.idle_ms {
            // it called while we waited for our turn
            return;
        }
        for seat in agent.present() {
            if let Err(error) = self.send_out_of(agent, seat.room).await {
                tracing::info!(error, agent = %agent.agent.id, "cannot take an idle agent out of its lobby yet");
            }
        }
    }

    /// A leave that failed is tried again: people should not see in the room who is not there.
    async fn finish_sending_away(&self, agent: &AgentLive) {
        let _one = agent.moving.lock().await;
        for room in agent.away().into_iter().filter_map(|key| self.rooms.get(key)) {
            if room.with_members(|m| m.is_joined(agent.user_id())) {
                let _ = self.client.leave(agent.user_id(), &room.room_id, None).await;
            }
        }
    }

    async fn send_out_of(&self, agent: &AgentLive, room: RoomKey) -> Result<(), String> {
        let Some(live) = self.rooms.get(room).filter(|r| r.kind() == RoomKind::Lobby) else { return Ok(()) };
        let key = agent.key();
        // noted first: the event of leaving must not look like a removal
        let write = move |tx: &Tx<'_>| tx.seat_left(key, room, true);
        let left = self.write_and_follow(write, |app, left| left.into_iter().for_each(|row| app.seat(row)));
        left.await.map_err(|e| e.to_string())?;
        if self.idle_ms(agent) < self.settings.agents.idle_ms {
            // it called before it could see that it is out: what it sends now would be refused
            return self.take_seat(agent, &live).await.map_err(|fault| fault.to_string());
        }
        self.client
            .leave(agent.user_id(), &live.room_id, Some("no call for a while"))
            .await
            .map_err(|e| e.to_string())
    }
}
