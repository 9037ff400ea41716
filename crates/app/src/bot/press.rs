//! The two signs beside a knock.

use std::sync::Arc;

use parlour_store::{DoorNotice, Who};
use ruma::{EventId, UserId};

use super::Words;
use crate::{app::App, live::RoomLive};

pub(super) const YES: &str = "✅";
pub(super) const NO: &str = "❌";

/// A press can overtake our knowing of the notice by as much as the homeserver's answer to it takes.
const LOOKS: usize = 40;
const LOOK_MS: i64 = 250;

/// What a sign answers; clients put a variation selector behind some.
pub(super) fn answer(key: &str) -> Option<bool> {
    match key.trim_end_matches('\u{fe0f}') {
        YES => Some(true),
        NO => Some(false),
        _ => None,
    }
}

impl App {
    /// Answers a knock. What came of it is told by the notice itself; only what went wrong has to be said.
    pub(super) async fn pressed(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        by: &UserId,
        notice: &DoorNotice,
        yes: bool,
    ) -> Option<Words> {
        let agent = self.agents.get(notice.agent)?;
        // asked again: power may have gone meanwhile, or somebody was faster
        if !self.manages(room, by) || !self.waits_at(room, &agent) {
            return None;
        }
        if yes {
            return self.admit_for(room, &agent, by).await.err();
        }
        self.note_decider(room, &agent, by).await;
        if let Err(fault) = self.decline_one(room, &agent, Who::User(by.to_owned())).await {
            tracing::info!(%fault, cause = fault.cause, "a knock could not be declined");
        }
        None
    }

    pub(super) async fn notice_pressed(&self, room: &RoomLive, target: &EventId) -> Option<DoorNotice> {
        for _ in 0..LOOKS {
            let id = target.to_owned();
            let found = self.store.read(move |r| Ok((r.door_notice(&id)?, r.door_notices()?))).await.ok()?;
            match found {
                (Some(notice), _) => return Some(notice).filter(|n| n.room == room.key),
                (None, all) if all.iter().any(|n| n.room == room.key && n.event_id.is_none()) => {}
                (None, _) => return None,
            }
            if !self.let_pass(LOOK_MS).await {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("✅", Some(true))]
    #[case("✅\u{fe0f}", Some(true))]
    #[case("❌", Some(false))]
    #[case("❌\u{fe0f}", Some(false))]
    #[case("👍", None)]
    #[case("", None)]
    #[case("✅✅", None)]
    fn two_signs_answer(#[case] key: &str, #[case] yes: Option<bool>) {
        assert_eq!(answer(key), yes);
    }
}
