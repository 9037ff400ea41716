use std::sync::Arc;

use parlour_domain::limits::SUBMISSION_EFFORT_MS;
use parlour_matrix::HsError;
use parlour_store::Submission;

use super::flights::{Boarding, Flight};
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

const FIRST_PAUSE_MS: i64 = 500;
const LONGEST_PAUSE_MS: i64 = 15_000;

impl App {
    /// Takes up what was claimed before a restart and neither sent nor refused.
    pub(crate) fn start_carrying(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            match app.store.read(|r| r.pending_submissions()).await {
                Ok(pending) => pending.into_iter().for_each(|s| app.carry_on(s)),
                Err(error) => tracing::error!(%error, "cannot read which messages are still to be sent"),
            }
        });
    }

    /// Unless it has been tried for long enough: then whoever asks for it again starts it.
    fn carry_on(self: &Arc<Self>, submission: Submission) {
        if submission.claimed_at_ms + SUBMISSION_EFFORT_MS < self.now() {
            return;
        }
        let key = (submission.agent, submission.id);
        if let Boarding::Pilot(flight) = self.flights.board(key, submission.digest, submission.claimed_at_ms)
        {
            self.start_carrying_one(submission, flight);
        }
    }

    pub(super) fn start_carrying_one(self: &Arc<Self>, submission: Submission, flight: Arc<Flight>) {
        let app = self.clone();
        self.tasks.spawn(async move { app.carry(submission, flight).await });
    }

    /// Looks whether the homeserver has it, and sends it again under the same id where not, until that is certain.
    pub(super) async fn carry(self: &Arc<Self>, submission: Submission, flight: Arc<Flight>) {
        let key = (submission.agent, submission.id);
        let mut pause_ms = FIRST_PAUSE_MS;
        while !flight.has_landed() && self.now() < flight.asked_ms() + SUBMISSION_EFFORT_MS {
            match self.try_again(&submission).await {
                Attempt::Done => return,
                Attempt::Later { at_least_ms } => pause_ms = pause_ms.max(at_least_ms),
            }
            tokio::select! {
                () = self.clock.sleep_until(self.now() + pause_ms) => {}
                _ = flight.landed() => return,
                () = self.tasks.stopped() => break,
            }
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
        self.flights.abandon(key);
    }

    async fn try_again(&self, submission: &Submission) -> Attempt {
        let (Some(agent), Some(room)) = (self.agents.get(submission.agent), self.rooms.get(submission.room))
        else {
            return Attempt::Later { at_least_ms: LONGEST_PAUSE_MS };
        };
        match self.look_or_send(submission, &agent, &room).await {
            Ok(event_id) => {
                self.settle(submission, event_id).await;
                Attempt::Done
            }
            Err(HsError::Limited { retry_after_ms }) => {
                let ms = retry_after_ms.and_then(|ms| i64::try_from(ms).ok());
                Attempt::Later { at_least_ms: ms.unwrap_or(FIRST_PAUSE_MS) }
            }
            Err(error @ HsError::Refused { .. }) => {
                self.refused(submission, error).await;
                Attempt::Done
            }
            Err(HsError::NotSent(_) | HsError::Unknown(_)) => Attempt::Later { at_least_ms: FIRST_PAUSE_MS },
        }
    }

    async fn look_or_send(
        &self,
        submission: &Submission,
        agent: &AgentLive,
        room: &RoomLive,
    ) -> Result<ruma::OwnedEventId, HsError> {
        if let Some(event_id) = self.look_for(submission, agent, room).await? {
            return Ok(event_id);
        }
        let content = submission.content.as_deref().unwrap_or("{}");
        self.put_message(agent, room, submission.id, content).await
    }

    /// Looked for and not there, then refused: it was never sent.
    async fn refused(&self, submission: &Submission, error: HsError) {
        let key = (submission.agent, submission.id);
        tracing::info!(%error, submission = %submission.id, "the homeserver refused a message");
        let (agent, id) = key;
        if let Err(error) = self.store.write(move |tx| tx.unclaim(agent, id)).await {
            tracing::warn!(%error, submission = %id, "cannot take back the claim of a message that was refused");
        }
        self.flights.land(key, Err(self.refusal(error)));
    }
}

enum Attempt {
    Done,
    Later { at_least_ms: i64 },
}
