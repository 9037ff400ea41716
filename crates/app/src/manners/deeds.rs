//! From what happened to what is to be shown, and the calls that show it.

use std::sync::Arc;

use parlour_domain::{
    ids::{AgentKey, RoomKey, Seq},
    inbox::Ack,
    manners::{Haste, Presence, TYPING_SHOWN_MS, concerns},
};
use parlour_matrix::HsError;
use ruma::OwnedEventId;

use super::{
    News,
    board::{Board, Deed},
    dropped,
};
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

impl App {
    pub(super) fn heed(&self, board: &mut Board, news: News) {
        let now = self.now();
        match news {
            News::Waits(agent) => {
                if self.is_among_people(agent) && !board.presence.waits(agent) {
                    dropped("presence");
                }
            }
            News::Rests(agent) => board.presence.rests(agent, now),
            News::Given(agent, given) => self.heed_given(board, agent, &given),
            News::Acknowledged(agent, ack) => {
                board.typists.ends(agent, ack.room);
                if board.shown.receipts {
                    self.heed_read(board, agent, ack);
                }
            }
            News::Spoke(agent, room) => {
                board.typists.ends(agent, Some(room));
                if self.rooms.get(room).is_some_and(|room| self.has_people(&room)) {
                    self.heed_stir(board, agent);
                }
            }
            News::Ended(agent) => {
                board.meant.retain(|(whose, _)| *whose != agent);
                board.presence.gone(agent);
                board.receipts.gone(agent);
                board.typists.ends(agent, None);
            }
        }
    }

    /// Whether anybody could see it.
    fn has_people(&self, room: &RoomLive) -> bool {
        room.with_members(|m| m.any_joined(|user| !self.is_ours(user)))
    }

    fn is_among_people(&self, agent: AgentKey) -> bool {
        let seats = self.agents.get(agent).map(|agent| agent.present()).unwrap_or_default();
        seats.iter().filter_map(|seat| self.rooms.get(seat.room)).any(|room| self.has_people(&room))
    }

    fn heed_given(&self, board: &mut Board, agent: AgentKey, given: &[(RoomKey, bool)]) {
        for (key, meant) in given {
            let Some(room) = self.rooms.get(*key).filter(|room| self.has_people(room)) else { continue };
            if !concerns(*meant, self.count_agents(&room)) {
                continue;
            }
            self.heed_stir(board, agent);
            if board.shown.receipts {
                board.meant.insert((agent, *key));
            }
            if board.shown.typing && !board.typists.begins(*key, agent, self.now()) {
                dropped("typing");
            }
        }
    }

    fn heed_stir(&self, board: &mut Board, agent: AgentKey) {
        if board.shown.presence {
            board.presence.stirs(agent, self.now());
        }
    }

    fn count_agents(&self, room: &RoomLive) -> usize {
        room.with_members(|m| m.count_joined(|user| self.settings.is_puppet(user)))
    }

    /// The newest of what was acknowledged in each room.
    fn heed_read(&self, board: &mut Board, agent: AgentKey, ack: Ack) {
        let Some(live) = self.agents.get(agent) else { return };
        for seat in live.present().into_iter().filter(|s| ack.room.is_none_or(|room| room == s.room)) {
            let Some(room) = self.rooms.get(seat.room).filter(|room| self.has_people(room)) else { continue };
            let newest = room.with_log(|log| {
                let mut read = log.arrived(Seq(0), ack.up_to).rev();
                read.find(|m| m.sender != live.user_id() && seat.sees(m)).cloned()
            });
            if let Some(newest) = newest {
                let meant = board.meant.remove(&(agent, seat.room));
                let haste = if concerns(meant, self.count_agents(&room)) { Haste::Soon } else { Haste::Some };
                let read = (newest.pos, newest.event_id.clone());
                board.receipts.read(agent, seat.room, read, haste, self.now());
            }
        }
    }

    /// Makes the call, and says when the next one may be made.
    pub(super) async fn show(&self, board: &mut Board, deed: Deed) {
        let kind = deed.kind();
        let Some(agent) = self.agents.get(match &deed {
            Deed::Present(agent, _) | Deed::Read(agent, ..) | Deed::Types(agent, ..) => *agent,
        }) else {
            return;
        };
        let shown = match deed {
            Deed::Present(_, presence) => self.show_presence(board, &agent, presence).await,
            Deed::Read(_, room, event_id) => self.show_read(&agent, room, &event_id).await,
            Deed::Types(_, room, on) => self.show_typing(&agent, room, on).await,
        };
        let now = self.now();
        match shown {
            Ok(()) => board.answered(now),
            Err(error) => {
                tracing::debug!(%error, kind, "not shown");
                dropped(kind);
                self.note_outage(&error);
                match error {
                    HsError::Refused { .. } => board.answered(now),
                    HsError::Limited { retry_after_ms } => {
                        board
                            .hold_off(now, retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0));
                    }
                    HsError::NotSent(_) | HsError::Unknown(_) => board.hold_off(now, 0),
                }
            }
        }
    }

    async fn show_presence(
        &self,
        board: &mut Board,
        agent: &Arc<AgentLive>,
        presence: Presence,
    ) -> Result<(), HsError> {
        let user = agent.user_id();
        let shown = self.client.set_presence(user, presence.as_str(), presence.status()).await;
        if let Err(HsError::Refused { status: 403..=405 | 501, .. }) = &shown {
            self.without_presence(board);
        }
        shown?;
        if presence == Presence::Online && !board.presence_seen {
            // with presence off Synapse takes it all the same, and shows nobody as online
            match self.client.presence(user).await?.as_deref() {
                Some("online") => board.presence_seen = true,
                _ => self.without_presence(board),
            }
        }
        Ok(())
    }

    fn without_presence(&self, board: &mut Board) {
        tracing::info!("the homeserver shows no presence: agents are not shown as online");
        board.has_no_presence(self.now());
    }

    async fn show_read(
        &self,
        agent: &AgentLive,
        room: RoomKey,
        event_id: &OwnedEventId,
    ) -> Result<(), HsError> {
        let Some(room) = self.rooms.get(room).filter(|room| agent.is_in(room.key)) else { return Ok(()) };
        self.client.read_up_to(agent.user_id(), &room.room_id, event_id).await
    }

    async fn show_typing(&self, agent: &AgentLive, room: RoomKey, on: bool) -> Result<(), HsError> {
        let Some(room) = self.rooms.get(room).filter(|room| agent.is_in(room.key)) else { return Ok(()) };
        self.client.typing(agent.user_id(), &room.room_id, on.then_some(TYPING_SHOWN_MS)).await
    }
}
