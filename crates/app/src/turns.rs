//! One after the other for each key; different keys do not wait for each other.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

#[derive(Debug)]
pub(crate) struct Turns<K>(Mutex<HashMap<K, Weak<tokio::sync::Mutex<()>>>>);

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + std::hash::Hash> Turns<K> {
    /// Waits for those before; the turn ends when this is dropped.
    pub(crate) async fn take(&self, key: K) -> OwnedMutexGuard<()> {
        let turn = self.turn(key);
        turn.lock_owned().await
    }

    /// Known for as long as somebody has it or waits for it.
    fn turn(&self, key: K) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock();
        turns.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = turns.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        turns.insert(key, Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn one_at_a_time_for_each_key_and_nothing_is_kept() {
        let turns = Turns::default();
        let first = turns.take(1).now_or_never();
        let mut second = Box::pin(turns.take(1));
        assert!(first.is_some() && (&mut second).now_or_never().is_none());
        assert!(turns.take(2).now_or_never().is_some());
        drop(first);
        assert!((&mut second).now_or_never().is_some());
        drop(second);
        assert!(turns.take(3).now_or_never().is_some());
        assert_eq!(turns.0.lock().len(), 1, "those of 1 and 2 are over");
    }

    #[test]
    fn who_gives_up_waiting_lets_the_next_one_through() {
        let turns = Turns::default();
        let first = turns.take(1).now_or_never();
        let (mut second, mut third) = (Box::pin(turns.take(1)), Box::pin(turns.take(1)));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop((first, second));
        assert!((&mut third).now_or_never().is_some());
    }
}
