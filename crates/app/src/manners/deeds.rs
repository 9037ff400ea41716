//! From what happened to what is to be shown, and the calls that show it.

use std::sync::Arc;

use parlour_domain::{
    ids::{AgentKey, RoomKey, Seq},
    inbox::Ack,
    manners::{Haste, TYPING_SHOWN_MS, concerns},
};
use parlour_matrix::HsError;
use ruma::EventId;

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
            News::Waits(agent) => board.presence.waits(agent),
            News::Rests(agent) => board.presence.rests(agent, now),
            News::Given(agent, given) => self.heed_given(board, agent, &given),
            News::Acknowledged(agent, ack) => {
                board.typists.ends(agent, ack.room);
                if board.shown.receipts {
                    self.heed_read(board, agent, ack);
                }
            }
            News::Spoke(agent, room) => board.typists.ends(agent, Some(room)),
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

    pub(super) fn is_among_people(&self, agent: AgentKey) -> bool {
        let seats = self.agents.get(agent).map(|agent| agent.present()).unwrap_or_default();
        seats.iter().filter_map(|seat| self.rooms.get(seat.room)).any(|room| self.has_people(&room))
    }

    fn heed_given(&self, board: &mut Board, agent: AgentKey, given: &[(RoomKey, bool)]) {
        for (key, meant) in given {
            let Some(room) = self.rooms.get(*key).filter(|room| self.has_people(room)) else { continue };
            if !concerns(*meant, self.count_agents(&room)) {
                continue;
            }
            if board.shown.receipts {
                board.meant.insert((agent, *key));
            }
            if board.shown.typing && !board.typists.begins(*key, agent, self.now()) {
                dropped("typing");
            }
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

    /// Makes the calls, and says when the next ones may be made.
    pub(super) async fn show(&self, board: &mut Board, deed: Deed) {
        let kind = deed.kind();
        let shown = match deed {
            Deed::Present(due) => self.show_present(board, due).await,
            Deed::Read(agent, room, event_id) => self.show_read(agent, room, &event_id).await,
            Deed::Types(agent, room, on) => self.show_typing(agent, room, on).await,
        };
        let now = self.now();
        match shown {
            Ok(()) => board.answered(now),
            Err(error) => {
                self.not_shown(kind, &error);
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

    pub(super) fn not_shown(&self, kind: &'static str, error: &HsError) {
        tracing::debug!(%error, kind, "not shown");
        dropped(kind);
        self.note_outage(error);
    }

    /// The agent, while it is in the room.
    fn in_room(&self, agent: AgentKey, room: RoomKey) -> Option<(Arc<AgentLive>, Arc<RoomLive>)> {
        let agent = self.agents.get(agent).filter(|agent| agent.is_in(room))?;
        Some((agent, self.rooms.get(room)?))
    }

    async fn show_read(&self, agent: AgentKey, room: RoomKey, event_id: &EventId) -> Result<(), HsError> {
        let Some((agent, room)) = self.in_room(agent, room) else { return Ok(()) };
        self.client.read_up_to(agent.user_id(), &room.room_id, event_id).await
    }

    async fn show_typing(&self, agent: AgentKey, room: RoomKey, on: bool) -> Result<(), HsError> {
        let Some((agent, room)) = self.in_room(agent, room) else { return Ok(()) };
        self.client.typing(agent.user_id(), &room.room_id, on.then_some(TYPING_SHOWN_MS)).await
    }
}
