use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

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

/// Bytes of transactions that are kept in memory on their way from the endpoint to the processor. What is more is read
/// back from the journal: a processor that falls behind must not fill the memory. Most transactions are a few
/// kilobytes, the largest 64 MiB.
const AT_HAND_BYTES: usize = 4 * 1024 * 1024;
/// Transactions that are worked off between two syncs of that fact. Seldom, as each of them holds up whoever syncs
/// something else meanwhile.
const FORGET_EVERY: i64 = 1_024;
const PAUSE_MS: i64 = 1_000;

/// From the endpoint, which answers, to the processor, which works off.
#[derive(Debug)]
pub(crate) struct Handover {
    queue: Mutex<Queue>,
    news: Notify,
    /// Id of the transaction that came last.
    last_txn: AtomicU64,
    /// The journal was empty after this one; `None`: not yet since the start.
    worked_off: watch::Sender<Option<i64>>,
}

impl Default for Handover {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            news: Notify::new(),
            last_txn: AtomicU64::new(0),
            worked_off: watch::Sender::new(None),
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    at_hand: BTreeMap<i64, Piece>,
    /// Of all that is at hand.
    bytes: usize,
    /// The newest that was journaled.
    newest: i64,
}

#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) journal_id: i64,
    pub(crate) received_at_ms: i64,
    pub(crate) transaction: Transaction,
    /// As it came.
    pub(crate) bytes: usize,
}

impl Queue {
    fn keep(&mut self, piece: Piece) {
        if self.bytes + piece.bytes <= AT_HAND_BYTES {
            self.bytes += piece.bytes;
            self.at_hand.insert(piece.journal_id, piece);
        }
    }

    /// The one after `done`, if it is at hand, and whether there are more in the journal. What is done is dropped.
    fn take(&mut self, done: i64) -> (Option<Piece>, bool) {
        let next = self.at_hand.remove(&(done + 1));
        self.at_hand.retain(|id, _| *id > done);
        self.bytes = self.at_hand.values().map(|piece| piece.bytes).sum();
        (next, self.newest > done)
    }
}

impl Handover {
    /// Number of the newest transaction since the start.
    pub(crate) fn newest(&self) -> i64 {
        self.queue.lock().newest
    }

    /// Whether the homeserver counts its transactions anew, as Synapse does after a restart (1.163 on SQLite).
    pub(crate) fn counts_anew(&self, txn_id: &str) -> bool {
        let number = txn_id.parse::<u64>().ok();
        number.is_some_and(|number| number < self.last_txn.swap(number, Ordering::Relaxed))
    }

    pub(crate) fn put(&self, piece: Piece) {
        let mut queue = self.queue.lock();
        queue.newest = queue.newest.max(piece.journal_id);
        queue.keep(piece);
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
                    self.until_told(&self.handover.news, None).await;
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
        let next = self.handover.queue.lock().take(done);
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
        Ok(Some(Piece {
            journal_id: queued.journal_id,
            received_at_ms: queued.received_at_ms,
            transaction,
            bytes: queued.body.len(),
        }))
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
        self.let_pass(PAUSE_MS).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(journal_id: i64, bytes: usize) -> Piece {
        Piece { journal_id, received_at_ms: 0, transaction: Transaction::default(), bytes }
    }

    fn taken(queue: &mut Queue, done: i64) -> (Option<i64>, bool) {
        let (piece, more) = queue.take(done);
        (piece.map(|p| p.journal_id), more)
    }

    #[test]
    fn what_is_at_hand_is_bounded_by_its_bytes() {
        let mut queue = Queue { newest: 4, ..Queue::default() };
        queue.keep(piece(1, AT_HAND_BYTES - 10));
        queue.keep(piece(2, 11));
        queue.keep(piece(3, 10));
        assert_eq!(taken(&mut queue, 0), (Some(1), true));
        assert_eq!(taken(&mut queue, 1), (None, true), "too much: it is in the journal");
        assert_eq!(taken(&mut queue, 2), (Some(3), true));
        queue.keep(piece(4, AT_HAND_BYTES));
        assert_eq!(taken(&mut queue, 3), (Some(4), true), "what is done takes up nothing");
        assert_eq!(taken(&mut queue, 4), (None, false));
        queue.keep(piece(5, AT_HAND_BYTES + 1));
        assert_eq!(taken(&mut queue, 4), (None, false), "never more than that");
    }

    #[test]
    fn many_small_ones_are_at_hand() {
        let mut queue = Queue { newest: 100, ..Queue::default() };
        (1..=100).for_each(|id| queue.keep(piece(id, 2_000)));
        (0..100).for_each(|done| assert_eq!(taken(&mut queue, done).0, Some(done + 1)));
    }
}
