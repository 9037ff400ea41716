//! Who waits, and who is woken. All in memory: between a commit and an answer there is no disk and no homeserver.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use parlour_domain::{
    ids::{AgentKey, RoomKey},
    message::Message,
    wait::Terms,
    wake::Setting,
};
use tokio::sync::{Notify, watch};

use crate::live::AgentLive;

/// One running wait.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) agent: Arc<AgentLive>,
    pub(crate) terms: Terms,
    wake: Notify,
    superseded: AtomicBool,
    /// A knock of the agent was answered with yes.
    admitted: AtomicBool,
    /// Something has woken it already, it only waits for quiet: then all that arrives counts.
    stirred: AtomicBool,
}

impl Waiter {
    /// Resolves when there may be something to decide.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    #[must_use]
    pub(crate) fn superseded(&self) -> bool {
        self.superseded.load(Ordering::Acquire)
    }

    #[must_use]
    pub(crate) fn admitted(&self) -> bool {
        self.admitted.load(Ordering::Acquire)
    }

    pub(crate) fn stirred(&self) {
        self.stirred.store(true, Ordering::Release);
    }

    fn covers(&self, room: RoomKey) -> bool {
        self.terms.room.is_none_or(|r| r == room) && self.agent.is_in(room)
    }

    fn cares(&self, message: &Message, setting: Setting) -> bool {
        let me = self.agent.user_id();
        message.sender != me
            && (self.stirred.load(Ordering::Acquire)
                || self.terms.watch.awaits(message, setting)
                || self.terms.digest_ms.is_some()
                || self.terms.watch.wakes(message, me, setting))
    }
}

/// Everybody who waits: one wait for each agent.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    waiters: Mutex<HashMap<AgentKey, Arc<Waiter>>>,
    /// Counts what changed in lobbies, for those who look in.
    lobbies: watch::Sender<u64>,
}

/// Ends the wait when dropped, answered or not.
#[derive(Debug)]
pub(crate) struct Waiting {
    hub: Arc<Hub>,
    pub(crate) waiter: Arc<Waiter>,
}

impl Hub {
    /// Begins a wait. An older one of the same agent ends.
    pub(crate) fn wait(self: &Arc<Self>, agent: Arc<AgentLive>, terms: Terms) -> Waiting {
        let waiter = Arc::new(Waiter {
            agent: agent.clone(),
            terms,
            wake: Notify::new(),
            superseded: AtomicBool::new(false),
            admitted: AtomicBool::new(false),
            stirred: AtomicBool::new(false),
        });
        let older = self.waiters.lock().insert(agent.key(), waiter.clone());
        if let Some(older) = older {
            older.superseded.store(true, Ordering::Release);
            older.wake.notify_one();
        }
        metrics::gauge!("parlour_waiters").set(self.count() as f64);
        Waiting { hub: self.clone(), waiter }
    }

    /// Tells those whom a new message concerns.
    pub(crate) fn arrived(&self, message: &Message, setting: Setting) {
        for waiter in self.waiters.lock().values() {
            if waiter.covers(message.room) && waiter.cares(message, setting) {
                waiter.wake.notify_one();
            }
        }
    }

    /// Somebody began or stopped typing: matters to those who wait for quiet.
    pub(crate) fn typing(&self, room: RoomKey) {
        for waiter in self.waiters.lock().values() {
            if waiter.stirred.load(Ordering::Acquire) && waiter.covers(room) {
                waiter.wake.notify_one();
            }
        }
    }

    /// Something changed that only this agent has to look at.
    pub(crate) fn nudge(&self, agent: AgentKey) {
        if let Some(waiter) = self.waiters.lock().get(&agent) {
            waiter.wake.notify_one();
        }
    }

    /// The agent was let in somewhere: its wait ends, so that the next one covers that room too.
    pub(crate) fn admit(&self, agent: AgentKey) {
        if let Some(waiter) = self.waiters.lock().get(&agent) {
            waiter.admitted.store(true, Ordering::Release);
            waiter.wake.notify_one();
        }
    }

    /// Something is new in a lobby, or gone from it. Tell after memory has it.
    pub(crate) fn lobby_changed(&self) {
        self.lobbies.send_modify(|count| *count += 1);
    }

    /// Follows what changes in lobbies.
    pub(crate) fn lobby_changes(&self) -> watch::Receiver<u64> {
        self.lobbies.subscribe()
    }

    #[must_use]
    pub(crate) fn is_waiting(&self, agent: AgentKey) -> bool {
        self.waiters.lock().contains_key(&agent)
    }

    fn count(&self) -> usize {
        self.waiters.lock().len()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waiters = self.hub.waiters.lock();
        let key = self.waiter.agent.key();
        if waiters.get(&key).is_some_and(|w| Arc::ptr_eq(w, &self.waiter)) {
            waiters.remove(&key);
        }
        metrics::gauge!("parlour_waiters").set(waiters.len() as f64);
    }
}
