//! Pauses between tries, each of its own length: longer each time, and cut short by news.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

const FIRST_MS: i64 = 5_000;
const LONGEST_MS: i64 = 10 * 60_000;

#[derive(Debug)]
pub(crate) struct Rests<K>(Mutex<BTreeMap<K, Rest>>);

#[derive(Debug)]
struct Rest {
    next_ms: i64,
    /// Also told of news that comes while there is another try: no rest follows on that.
    cut_short: Arc<Notify>,
}

impl Default for Rest {
    fn default() -> Self {
        Self { next_ms: FIRST_MS, cut_short: Arc::default() }
    }
}

impl<K> Default for Rests<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Clone> Rests<K> {
    /// There is a try: news counts from here on.
    pub(crate) fn attempt(&self, of: &K) {
        self.0.lock().entry(of.clone()).or_default();
    }

    /// It came to nothing: how long to rest now, and what tells that there is no need to any more.
    pub(crate) fn begin(&self, of: &K) -> (i64, Arc<Notify>) {
        let mut rests = self.0.lock();
        let rest = rests.entry(of.clone()).or_default();
        let ms = rest.next_ms;
        rest.next_ms = (ms * 2).min(LONGEST_MS);
        (ms, rest.cut_short.clone())
    }

    pub(crate) fn news(&self, of: &K) {
        self.0.lock().get_mut(of).into_iter().for_each(Rest::end);
    }

    pub(crate) fn news_of_all(&self) {
        self.0.lock().values_mut().for_each(Rest::end);
    }

    /// There is nothing left to try.
    pub(crate) fn done(&self, of: &K) {
        self.0.lock().remove(of);
    }
}

impl Rest {
    /// The next one is a short one again.
    fn end(&mut self) {
        self.next_ms = FIRST_MS;
        self.cut_short.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn rests_grow_each_by_itself_up_to_a_bound() {
        let rests = Rests::default();
        let took: Vec<_> = (0..9).map(|_| rests.begin(&1).0 / 1_000).collect();
        assert_eq!(took, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(rests.begin(&2).0, FIRST_MS);
        rests.done(&1);
        assert_eq!(rests.begin(&1).0, FIRST_MS);
    }

    /// Whether a rest that begins now is over at once, and how long it would be.
    fn rest(rests: &Rests<i32>, of: i32) -> (bool, i64) {
        let (ms, cut_short) = rests.begin(&of);
        (cut_short.notified().now_or_never().is_some(), ms)
    }

    #[test]
    fn news_ends_a_rest_once_and_begins_anew() {
        let rests = Rests::default();
        assert_eq!(
            (rest(&rests, 1), rest(&rests, 1), rest(&rests, 2)),
            ((false, 5_000), (false, 10_000), (false, 5_000))
        );
        rests.news(&1);
        assert_eq!((rest(&rests, 1), rest(&rests, 2)), ((true, 5_000), (false, 10_000)));
        assert_eq!(rest(&rests, 1), (false, 10_000));
        rests.news_of_all();
        assert_eq!((rest(&rests, 1), rest(&rests, 2)), ((true, 5_000), (true, 5_000)));
    }

    #[test]
    fn news_in_the_middle_of_the_first_try_counts() {
        let rests = Rests::default();
        rests.news(&1);
        rests.attempt(&1);
        assert!(!rest(&rests, 1).0, "what was there before is what is tried");
        rests.done(&1);
        rests.attempt(&1);
        rests.news(&1);
        assert!(rest(&rests, 1).0);
    }
}
