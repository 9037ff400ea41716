use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use parlour_app::runtime::Clock;
use tokio::sync::{oneshot, watch};

use crate::within;

/// 2026-11-30 12:00 UTC: away from midnight, when the keys of sources change.
const BEGINNING_MS: i64 = 1_796_040_000_000;

/// A clock that moves when it is told to. Cheap to clone; all clones are one clock.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// Ticks at every change of who sleeps.
    changes: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    now_ms: i64,
    next: u64,
    sleepers: BTreeMap<(i64, u64), oneshot::Sender<()>>,
}

impl Default for ManualClock {
    fn default() -> Self {
        let state = State { now_ms: BEGINNING_MS, next: 0, sleepers: BTreeMap::new() };
        Self(Arc::new(Inner { state: Mutex::new(state), changes: watch::Sender::new(()) }))
    }
}

impl ManualClock {
    /// Moves on, and wakes those whose time has come.
    pub fn advance(&self, ms: i64) {
        let mut state = self.0.state.lock();
        state.now_ms += ms;
        let later = (state.now_ms + 1, 0);
        let rest = state.sleepers.split_off(&later);
        let due = std::mem::replace(&mut state.sleepers, rest);
        drop(state);
        for sleeper in due.into_values() {
            // who went away meanwhile need not be woken
            let _ = sleeper.send(());
        }
        self.0.changes.send_replace(());
    }

    /// Waits until somebody sleeps until `at_ms`: only then does moving the clock there wake anybody.
    pub async fn until_sleeping_to(&self, at_ms: i64) {
        self.until(&format!("somebody sleeps until {at_ms}"), |at| at == at_ms).await;
    }

    /// The same for `ms` from now.
    pub async fn until_sleeping_for(&self, ms: i64) {
        self.until_sleeping_to(self.now_ms() + ms).await;
    }

    async fn until(&self, what: &str, mut is: impl FnMut(i64) -> bool) {
        let mut changes = self.0.changes.subscribe();
        let found = async {
            while !self.sleepers().into_iter().any(&mut is) {
                changes.changed().await.expect("the clock is here");
            }
        };
        within(what, found).await;
    }

    /// Until when each sleeper sleeps, earliest first.
    #[must_use]
    pub fn sleepers(&self) -> Vec<i64> {
        self.0.state.lock().sleepers.keys().map(|(at, _)| *at).collect()
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.0.state.lock().now_ms
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let mut state = self.0.state.lock();
        if at_ms <= state.now_ms {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        let id = (at_ms, state.next);
        state.next += 1;
        state.sleepers.insert(id, wake);
        drop(state);
        self.0.changes.send_replace(());
        let bed = Bed { clock: self.clone(), id };
        Box::pin(async move {
            let _bed = bed;
            let _ = woken.await;
        })
    }
}

/// Whoever gives up sleeping is no sleeper any more.
struct Bed {
    clock: ManualClock,
    id: (i64, u64),
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.clock.0.state.lock().sleepers.remove(&self.id);
        self.clock.0.changes.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn sleepers_wake_at_their_time_and_not_before() {
        let clock = ManualClock::default();
        let now = clock.now_ms();
        let (mut early, mut late) = (clock.sleep_until(now + 10), clock.sleep_until(now + 20));
        clock.advance(9);
        assert!(early.as_mut().now_or_never().is_none());
        clock.advance(1);
        assert!(early.now_or_never().is_some() && late.as_mut().now_or_never().is_none());
        assert_eq!(clock.sleepers(), [now + 20]);
        drop(late);
        assert!(clock.sleepers().is_empty());
        assert!(clock.sleep_until(now).now_or_never().is_some(), "the past is no time to sleep");
    }
}
