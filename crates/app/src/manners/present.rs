//! Tells the homeserver who is there.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, stream};
use parlour_domain::{ids::AgentKey, manners::Presence};
use parlour_matrix::HsError;

use super::board::Board;
use crate::app::App;

pub(super) const CALLS_AT_ONCE: usize = 16;
/// After so long no more calls of a go are begun: the homeserver is slow, and the rest must not wait for it.
const GO_MS: i64 = 5_000;

/// Calls that are made one after the other, as long as the homeserver is there.
struct Go {
    until_ms: i64,
    away: AtomicBool,
}

/// What became of one of many.
enum Told {
    Taken(AgentKey, Presence),
    /// The homeserver is not there, or slow.
    Not(AgentKey, Option<HsError>),
    /// The next refresh mends it.
    Failed(HsError),
    /// Nobody would see it.
    Unseen,
}

/// What became of all of them.
#[derive(Default)]
struct Outcome {
    /// One that was taken.
    taken: Option<(AgentKey, Presence)>,
    /// The homeserver is not there.
    away: Option<HsError>,
    failed: Vec<HsError>,
}

impl App {
    /// Tells of all of them, whatever becomes of one. An error is given back where no call can be made for a while.
    pub(super) async fn show_present(
        &self,
        board: &mut Board,
        due: Vec<(AgentKey, Presence)>,
    ) -> Result<(), HsError> {
        let go = Go { until_ms: self.now() + GO_MS, away: AtomicBool::new(false) };
        let calls = stream::iter(due).map(|(agent, presence)| self.tell(agent, presence, &go));
        let told: Vec<Told> = calls.buffer_unordered(CALLS_AT_ONCE).collect().await;
        let Outcome { taken, away, mut failed } = outcome(board, told);
        if failed.iter().any(|error| says_no_presence(error, board.presence_seen)) {
            self.without_presence(board);
        }
        let ends = away.or_else(|| if taken.is_none() { failed.pop() } else { None });
        failed.iter().for_each(|error| self.not_shown("presence", error));
        match (ends, taken) {
            (Some(error), _) => Err(error),
            (None, Some((agent, Presence::Online))) if !board.presence_seen => {
                self.look_for_presence(board, agent).await
            }
            (None, _) => Ok(()),
        }
    }

    async fn tell(&self, key: AgentKey, presence: Presence, go: &Go) -> Told {
        if go.away.load(Ordering::Relaxed) || self.now() > go.until_ms {
            return Told::Not(key, None);
        }
        let Some(agent) = self.agents.get(key).filter(|_| self.is_among_people(key)) else {
            return Told::Unseen;
        };
        match self.client.set_presence(agent.user_id(), presence.as_str(), presence.status()).await {
            Ok(()) => Told::Taken(key, presence),
            Err(error @ HsError::NotSent(_)) => {
                go.away.store(true, Ordering::Relaxed);
                Told::Not(key, Some(error))
            }
            Err(error) => Told::Failed(error),
        }
    }

    /// With presence off Synapse takes it all the same, and shows nobody as online. Where it may not be looked at it is
    /// believed.
    async fn look_for_presence(&self, board: &mut Board, agent: AgentKey) -> Result<(), HsError> {
        let Some(agent) = self.agents.get(agent) else { return Ok(()) };
        match self.client.presence(agent.user_id()).await {
            Ok(Some(presence)) if presence == "online" => board.presence_seen = true,
            Ok(_) => self.without_presence(board),
            Err(HsError::Refused { .. }) => board.presence_seen = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn without_presence(&self, board: &mut Board) {
        tracing::info!("the homeserver shows no presence: agents are not shown as online");
        board.has_no_presence(self.now());
    }
}

/// Who was not told is told again.
fn outcome(board: &mut Board, all: Vec<Told>) -> Outcome {
    let mut outcome = Outcome::default();
    for told in all {
        match told {
            Told::Taken(agent, presence) => outcome.taken = Some((agent, presence)),
            Told::Not(agent, error) => {
                board.presence.untold(agent);
                outcome.away = outcome.away.or(error);
            }
            Told::Failed(error) => outcome.failed.push(error),
            Told::Unseen => {}
        }
    }
    outcome
}

/// Once presence was seen, what is forbidden is forbidden to one agent.
fn says_no_presence(error: &HsError, seen: bool) -> bool {
    match error {
        HsError::Refused { status, .. } => matches!(status, 404 | 405 | 501) || (*status == 403 && !seen),
        _ => false,
    }
}
