use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    ids::MessageId,
};
use parlour_matrix::HsError;
use parlour_store::{Charge, Claim, Claimed, Overdrawn, Submission};
use ruma::OwnedRoomId;

use super::{
    flights::{Boarding, Flight, FlightKey},
    put::{ENCRYPTED, MESSAGE, Outgoing},
};
use crate::{
    app::App,
    devices::Held,
    live::{AgentLive, RoomLive},
    quotas::overdrawn,
    view::Sent,
};

/// How long a caller waits for the homeserver before it is told `pending`.
const PATIENCE_MS: i64 = 20_000;

/// A message that passed all checks.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) claim: Claim,
    pub(crate) charges: Vec<Charge>,
    pub(crate) agent: Arc<AgentLive>,
    pub(crate) room: Arc<RoomLive>,
}

impl Order {
    pub(super) fn key(&self) -> FlightKey {
        (self.claim.agent, self.claim.id)
    }
}

impl App {
    /// What became of a submission that was claimed before; `None` where it is new. One that is still open is taken
    /// up again.
    pub(crate) async fn submitted_before(
        self: &Arc<Self>,
        agent: &AgentLive,
        id: MessageId,
        digest: [u8; 32],
        room: &RoomLive,
    ) -> Result<Option<Sent>, Fault> {
        let key = agent.key();
        let Some(before) = self.store.read(move |r| r.submission(key, id)).await? else { return Ok(None) };
        same(before.digest, digest)?;
        if let Some(event_id) = before.event_id {
            return Ok(Some(Sent {
                submission_id: id,
                room_id: room.room_id.clone(),
                event_id: Some(event_id),
            }));
        }
        let flight = match self.flights.board((key, id), digest, self.now()) {
            Boarding::Passenger(flight) => flight,
            Boarding::Pilot(flight) => {
                self.start_carrying_one(before, flight.clone());
                flight
            }
        };
        self.await_landing(&flight, id, room.room_id.clone()).await.map(Some)
    }

    /// Sends a message, or waits for another call that sends the same.
    pub(crate) async fn publish(self: &Arc<Self>, order: Order) -> Result<Sent, Fault> {
        let (id, room_id) = (order.claim.id, order.room.room_id.clone());
        let flight = match self.flights.board(order.key(), order.claim.digest, self.now()) {
            Boarding::Passenger(flight) => {
                same(flight.digest, order.claim.digest)?;
                flight
            }
            Boarding::Pilot(flight) => {
                let (app, ours) = (self.clone(), flight.clone());
                self.tasks.spawn(async move { app.fly(order, ours).await });
                flight
            }
        };
        self.await_landing(&flight, id, room_id).await
    }

    async fn await_landing(
        &self,
        flight: &Flight,
        id: MessageId,
        room_id: OwnedRoomId,
    ) -> Result<Sent, Fault> {
        let event_id = tokio::select! {
            landing = flight.landed() => landing.transpose()?,
            () = self.clock.sleep_until(self.now() + PATIENCE_MS) => None,
            () = self.tasks.stopped() => flight.landed_by_now().transpose()?,
        };
        Ok(Sent { submission_id: id, room_id, event_id })
    }

    /// In a task of its own: it ends with the submission, not with the caller.
    async fn fly(self: &Arc<Self>, order: Order, flight: Arc<Flight>) {
        let mut order = order;
        if !self.until_run_known().await {
            return self.flights.abandon(order.key());
        }
        let mut held = match self.seal_order(&mut order).await {
            Ok(held) => held,
            Err(fault) => return self.flights.land(order.key(), Err(fault)),
        };
        let (claim, charges) = (order.claim.clone(), order.charges.clone());
        let batch = held.as_mut().and_then(Held::take);
        let claimed = self.store.write(move |tx| {
            // the ratchet has moved on, whatever becomes of the claim
            batch.iter().try_for_each(|batch| batch.put(tx))?;
            tx.claim(&claim, &charges)
        });
        let claimed = claimed.await;
        if claimed.is_ok() {
            held.iter_mut().for_each(Held::committed);
        }
        drop(held);
        match claimed {
            Err(error) => self.flights.land(order.key(), Err(error.into())),
            Ok(Claimed::Overdrawn(Overdrawn(retry_after))) => {
                let fault = overdrawn(retry_after, "Speaking in lobbies");
                self.flights.land(order.key(), Err(fault));
            }
            Ok(Claimed::Before(before)) => self.go_on(before, &order, flight).await,
            Ok(Claimed::New) => {
                order.agent.set_last_mentions(order.claim.mentions.clone());
                self.first_try(order, flight).await;
            }
        }
    }

    /// Encrypts what goes into an encrypted room. Where that cannot be done, nothing has been claimed yet.
    async fn seal_order(self: &Arc<Self>, order: &mut Order) -> Result<Option<Held>, Fault> {
        if !order.room.may_be_encrypted() {
            return Ok(None);
        }
        let sealed = self.seal(order.agent.user_id(), &order.room, &order.claim.content).await;
        let (sealed, held) = sealed.map_err(|error| self.device_fault(error))?;
        order.claim.sealed = Some(sealed);
        Ok(Some(held))
    }

    /// Somebody was faster between the look and the claim.
    async fn go_on(self: &Arc<Self>, before: Submission, order: &Order, flight: Arc<Flight>) {
        match (same(before.digest, order.claim.digest), before.event_id.clone()) {
            (Err(fault), _) => self.flights.land(order.key(), Err(fault)),
            (_, Some(event_id)) => self.flights.land(order.key(), Ok(event_id)),
            _ => self.carry(before, flight).await,
        }
    }

    async fn first_try(self: &Arc<Self>, order: Order, flight: Arc<Flight>) {
        let submission = Submission {
            agent: order.claim.agent,
            id: order.claim.id,
            room: order.claim.room,
            digest: order.claim.digest,
            content: Some(order.claim.content.clone()),
            body: serde_json::from_str(&order.claim.body).ok(),
            sealed: order.claim.sealed.clone(),
            event_id: None,
            claimed_at_ms: order.claim.claimed_at_ms,
        };
        match self.put_message(&order.agent, &order.room, &submission).await {
            Ok(event_id) => self.settle(&submission, event_id).await,
            Err(HsError::Unknown(cause)) => {
                tracing::info!(cause, submission = %order.claim.id, "a send has no clear answer; looking before sending it again");
                self.carry(submission, flight).await;
            }
            Err(error) => {
                let fault = self.refusal(error);
                self.not_sent(order.key(), fault).await;
            }
        }
    }

    pub(super) async fn put_message(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        submission: &Submission,
    ) -> Result<ruma::OwnedEventId, HsError> {
        let (event_type, content) = match (&submission.sealed, &submission.content) {
            (Some(sealed), _) => (ENCRYPTED, sealed.content.as_str()),
            (None, _) if room.may_be_encrypted() => {
                return Err(HsError::NotSent("the room is encrypted".to_owned()));
            }
            (None, content) => (MESSAGE, content.as_deref().unwrap_or("{}")),
        };
        let send_txn_id = self.run.send_txn_id(agent.user_id(), submission.id);
        let event = Outgoing { event_type, content, send_txn_id: &send_txn_id };
        self.put_event(agent.user_id(), room, event).await
    }

    /// Certain not to have happened: the claim goes, and what it took comes back.
    pub(super) async fn not_sent(self: &Arc<Self>, key: FlightKey, fault: Fault) {
        let (agent, id) = key;
        let undone = self.write_and_follow(
            move |tx| tx.unclaim(agent, id),
            move |app, mentions| {
                if let (Some(mentions), Some(agent)) = (mentions, app.agents.get(agent)) {
                    agent.set_last_mentions(mentions);
                }
            },
        );
        if let Err(error) = undone.await {
            tracing::warn!(%error, submission = %id, "cannot take back the claim of a message that was not sent");
        }
        self.flights.land(key, Err(fault));
    }

    pub(super) fn refusal(&self, error: HsError) -> Fault {
        if error.is_too_large() {
            let message =
                "The Matrix server says this message is too large. Shorten the text or mention fewer.";
            return Fault::new(Code::InvalidMessage, message).field("text");
        }
        self.homeserver_fault(error)
    }
}

/// What was claimed as plain text is not said in an encrypted room.
pub(super) fn not_in_clear(submission: &Submission, room: &RoomLive) -> Result<(), Fault> {
    if submission.sealed.is_some() || !room.may_be_encrypted() {
        return Ok(());
    }
    Err(Fault::new(
        Code::DependencyUnavailable,
        "This room was encrypted while your message was on its way. It was not sent. Send it again with a new submissionId.",
    ))
}

fn same(before: [u8; 32], now: [u8; 32]) -> Result<(), Fault> {
    if before == now {
        return Ok(());
    }
    Err(Fault::new(
        Code::SubmissionConflict,
        "This submissionId was used for another message or room. Make a new one for each message.",
    ))
}
