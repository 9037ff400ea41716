use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use parlour_domain::limits::TYPING_BELIEVED_MS;
use parlour_matrix::{
    Transaction,
    ephemeral::{Ephemeral, Typing},
};
use parlour_store::StoreError;
use tokio::sync::{Notify, watch};

use super::Planner;
use crate::app::App;

/// Transactions that are kept in memory on their way from the endpoint to the processor. What is more is read back
/// from the journal: a processor that falls behind must not fill the memory.
const AT_HAND: usize = 32;
/// Transactions that are worked off between two syncs of that fact. Seldom, as each of them holds up whoever syncs
/// something else meanwhile.
const FORGET_EVERY: i64 = 1_024;
const PAUSE_MS: i64 = 1_000;

/// From the endpoint, which answers, to the processor, which works off.
#[derive(Debug)]
pub(crate) struct Handover {
    queue: Mutex<Queue>,
    news: Notify,
    /// The journal was empty after this one; `None`: not yet since the start.
    worked_off: watch::Sender<Option<i64>>,
}

impl Default for Handover {
    fn default() -> Self {
        Self { queue: Mutex::default(), news: Notify::new(), worked_off: watch::Sender::new(None) }
    }
}

#[derive(Debug, Default)]
struct Queue {
    at_hand: BTreeMap<i64, Piece>,
    /// The newest that was journaled.
    newest: i64,
}

#[derive(Debug)]
struct Piece {
    journal_id: i64,
    received_at_ms: i64,
    transaction: Transaction,
}

impl Handover {
    /// Number of the newest transaction since the start.
    pub(crate) fn newest(&self) -> i64 {
        self.queue.lock().newest
    }

    pub(crate) fn put(&self, journal_id: i64, received_at_ms: i64, transaction: Transaction) {
        let mut queue = self.queue.lock();
        queue.newest = queue.newest.max(journal_id);
        if queue.at_hand.len() < AT_HAND {
            queue.at_hand.insert(journal_id, Piece { journal_id, received_at_ms, transaction });
        }
        drop(queue);
        self.news.notify_one();
    }
}

impl App {
    /// Resolves once everything that the homeserver had brought by now is taken in. For tests, which must not guess.
    pub async fn caught_up(&self) {
        let newest = self.handover.newest();
        let mut worked_off = self.handover.worked_off.subscribe();
        // the sender is ours: it cannot be gone
        let _ = worked_off.wait_for(|done| done.is_some_and(|d| d >= newest)).await;
    }

    pub(crate) fn start_ingest(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move { app.work_off_journal().await });
    }

    /// One transaction after the other, in the order they came. Ends between two of them.
    async fn work_off_journal(&self) {
        let (mut done, mut forgotten, mut left_over) = (0, 0, true);
        while !self.tasks.stopping() {
            let next = if left_over { self.read_piece(done) } else { self.next_piece(done) };
            match next {
                Ok(Some(piece)) => {
                    done = piece.journal_id;
                    if !self.work_off(piece).await {
                        return;
                    }
                    forgotten = self.forget_now_and_then(done, forgotten).await;
                }
                // what an earlier run left is all done: from here on the endpoint says what is new
                Ok(None) if left_over => left_over = false,
                Ok(None) => {
                    self.handover.worked_off.send_replace(Some(done));
                    tokio::select! {
                        () = self.handover.news.notified() => {}
                        () = self.tasks.stopped() => {}
                    }
                }
                Err(error) => self.pause(&error).await,
            }
        }
    }

    /// The journal needs what was worked off no more, once that is synced.
    async fn forget_now_and_then(&self, done: i64, forgotten: i64) -> i64 {
        if done < forgotten + FORGET_EVERY {
            return forgotten;
        }
        if let Err(error) = self.store.forget_journaled(done, false).await {
            tracing::warn!(%error, "cannot clear the journal");
        }
        done
    }

    /// The same for what is left when nothing more comes.
    pub(crate) async fn clear_journal(&self) -> Result<(), StoreError> {
        let done = self.handover.worked_off.borrow().unwrap_or(0);
        if done == 0 { Ok(()) } else { self.store.forget_journaled(done, true).await }
    }

    fn next_piece(&self, done: i64) -> Result<Option<Piece>, StoreError> {
        let next = {
            let mut queue = self.handover.queue.lock();
            let at_hand = queue.at_hand.remove(&(done + 1));
            let more = queue.newest > done;
            queue.at_hand.retain(|id, _| *id > done);
            (at_hand, more)
        };
        match next {
            (Some(piece), _) => Ok(Some(piece)),
            (None, false) => Ok(None),
            (None, true) => self.read_piece(done),
        }
    }

    fn read_piece(&self, done: i64) -> Result<Option<Piece>, StoreError> {
        let Some(queued) = self.store.next_queued(done)? else { return Ok(None) };
        // what is in the journal was parsed before it got there
        let transaction = Transaction::parse(&queued.body).unwrap_or_default();
        Ok(Some(Piece { journal_id: queued.journal_id, received_at_ms: queued.received_at_ms, transaction }))
    }

    /// `false`: told to stop, and it is still to be done.
    async fn work_off(&self, piece: Piece) -> bool {
        if piece.received_at_ms + TYPING_BELIEVED_MS > self.now() {
            self.take_ephemeral(&piece.transaction);
        }
        let mut planner = Planner::new(self, piece.received_at_ms);
        planner.take_parcels(&piece.transaction).await;
        for raw in &piece.transaction.events {
            planner.take(raw, None).await;
        }
        let mut plan = planner.finish();
        while let Err(error) = self.carry_out(&mut plan, Some(piece.journal_id)).await {
            self.pause(&error).await;
            if self.tasks.stopping() {
                // still in the journal: the next start takes it up
                return false;
            }
        }
        true
    }

    fn take_ephemeral(&self, transaction: &Transaction) {
        for raw in &transaction.ephemeral {
            if let Ephemeral::Typing(Typing { room_id, mut users }) = Ephemeral::parse(raw) {
                // that an agent shows as typing is our own doing, and must hold nobody up
                users.retain(|user| !self.is_ours(user));
                let Some(room) = self.rooms.by_id(&room_id) else { continue };
                if self.typing.write().update(room.key, &users, self.now()) {
                    self.hub.typing(room.key);
                }
            }
        }
    }

    async fn pause(&self, error: &StoreError) {
        tracing::error!(%error, "the store fails; trying again");
        tokio::select! {
            () = self.clock.sleep_until(self.now() + PAUSE_MS) => {}
            () = self.tasks.stopped() => {}
        }
    }
}
