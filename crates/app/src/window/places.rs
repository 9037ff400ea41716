//! How many follow, all together and from one source.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use parlour_domain::{
    fault::{Code, Fault},
    limits::{MAX_WATCHERS, MAX_WATCHERS_PER_SOURCE},
    source::SourceKey,
};

use crate::request::Source;

/// Where a browser that was turned away may ask again.
const AGAIN_S: u64 = 30;

#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    by_source: HashMap<SourceKey, usize>,
    all: usize,
}

/// One who follows, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    source: SourceKey,
}

impl Places {
    /// # Errors
    /// `rate_limited`: too many, from there or at all.
    pub(crate) fn take(self: &Arc<Self>, source: Source) -> Result<Place, Fault> {
        let mut taken = self.0.lock();
        let mine = taken.by_source.get(&source.0).copied().unwrap_or(0);
        if mine >= MAX_WATCHERS_PER_SOURCE {
            return Err(too_many("Too many windows are open from your address. Close one, then try again."));
        }
        if taken.all >= MAX_WATCHERS {
            return Err(too_many("Too many people are watching right now. Try again in a while."));
        }
        taken.by_source.insert(source.0, mine + 1);
        taken.all += 1;
        metrics::gauge!("parlour_watchers").set(taken.all as f64);
        Ok(Place { places: self.clone(), source: source.0 })
    }

    pub(crate) fn taken(&self) -> usize {
        self.0.lock().all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock();
        taken.all -= 1;
        let left = taken.by_source.get(&self.source).map_or(0, |n| n - 1);
        match left {
            0 => taken.by_source.remove(&self.source),
            _ => taken.by_source.insert(self.source, left),
        };
        metrics::gauge!("parlour_watchers").set(taken.all as f64);
    }
}

fn too_many(message: &str) -> Fault {
    Fault::new(Code::RateLimited, message).retry_after(AGAIN_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u8) -> Source {
        Source(SourceKey([n; 16]))
    }

    #[test]
    fn one_source_has_only_so_many_and_they_come_back() {
        let places = Arc::new(Places::default());
        let mut held: Vec<Place> =
            (0..MAX_WATCHERS_PER_SOURCE).map(|_| places.take(source(1)).unwrap()).collect();
        let refused = places.take(source(1)).unwrap_err();
        assert_eq!((refused.code, refused.retry_after_s), (Code::RateLimited, Some(AGAIN_S)));
        assert!(places.take(source(2)).is_ok());
        held.pop();
        assert!(places.take(source(1)).is_ok());
        drop(held);
        assert_eq!(places.taken(), 0);
        assert!(places.0.lock().by_source.is_empty());
    }

    #[test]
    fn all_together_are_limited_too() {
        let places = Arc::new(Places::default());
        let many: Vec<_> =
            (0..MAX_WATCHERS).map(|n| places.take(source(u8::try_from(n / 20).unwrap()))).collect();
        assert!(many.iter().all(Result::is_ok));
        assert_eq!(places.take(source(255)).unwrap_err().code, Code::RateLimited);
    }
}
