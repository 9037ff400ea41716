use std::sync::Arc;

use parlour_domain::{fault::Fault, limits::SUBMISSION_EFFORT_MS};
use parlour_matrix::HsError;
use parlour_store::Submission;
use ruma::OwnedEventId;

use super::{
    flights::{Boarding, Flight},
    publish::not_in_clear,
};
use crate::app::App;

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
    pub(super) async fn carry(self: &Arc<Self>, mut submission: Submission, flight: Arc<Flight>) {
        let key = (submission.agent, submission.id);
        let mut pause_ms = FIRST_PAUSE_MS;
        while !flight.has_landed() && self.now() < flight.asked_ms() + SUBMISSION_EFFORT_MS {
            match self.try_again(&mut submission).await {
                Attempt::Sent(event_id) => return self.settle(&submission, event_id).await,
                Attempt::Refused(fault) => {
                    tracing::info!(%fault, cause = fault.cause, submission = %submission.id, "a message was refused");
                    return self.not_sent(key, fault).await;
                }
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

    async fn try_again(self: &Arc<Self>, submission: &mut Submission) -> Attempt {
        if !self.until_run_known().await {
            return Attempt::Later { at_least_ms: FIRST_PAUSE_MS };
        }
        let (Some(agent), Some(room)) = (self.agents.get(submission.agent), self.rooms.get(submission.room))
        else {
            return Attempt::Later { at_least_ms: LONGEST_PAUSE_MS };
        };
        match self.look_for(submission, &agent, &room).await {
            Ok(Some(event_id)) => return Attempt::Sent(event_id),
            Ok(None) => {}
            // not being allowed to look says nothing about what is there
            Err(error) => return later(&error),
        }
        if let Err(fault) = not_in_clear(submission, &room) {
            return Attempt::Refused(fault);
        }
        if Self::must_be_sealed_anew(submission)
            && let Err(error) = self.seal_anew(submission, &agent, &room).await
        {
            tracing::info!(%error, submission = %submission.id, "a message cannot be encrypted anew yet");
            return Attempt::Later { at_least_ms: FIRST_PAUSE_MS };
        }
        match self.put_message(&agent, &room, submission).await {
            Ok(event_id) => Attempt::Sent(event_id),
            // looked for and not there, then refused: it was never sent
            Err(error) if error.is_final() => Attempt::Refused(self.refusal(error)),
            Err(error) => later(&error),
        }
    }
}

enum Attempt {
    Sent(OwnedEventId),
    Refused(Fault),
    Later { at_least_ms: i64 },
}

fn later(error: &HsError) -> Attempt {
    let told = match error {
        HsError::Limited { retry_after_ms } => retry_after_ms.and_then(|ms| i64::try_from(ms).ok()),
        _ => None,
    };
    Attempt::Later { at_least_ms: told.unwrap_or(FIRST_PAUSE_MS) }
}
