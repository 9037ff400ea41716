//! Quotas: so many uses in a fixed window (wire contract, section 6). A window starts with the first use in it and
//! ends after its length, for a source at the next UTC midnight if that comes first: there its digest changes, and
//! the old count could not be found any more.
//!
//! All times are UTC milliseconds. Nothing here keeps state: the caller stores the [`Window`] it gets back, in the same
//! transaction as what the use was for.

use serde::{Deserialize, Serialize};

/// A day in milliseconds.
pub const DAY_MS: i64 = 86_400_000;
/// An hour in milliseconds.
pub const HOUR_MS: i64 = 3_600_000;
/// A minute in milliseconds.
pub const MINUTE_MS: i64 = 60_000;

/// What was used so far, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The first use.
    pub started_at_ms: i64,
    /// Uses, the first included.
    pub count: u32,
}

/// How much is allowed in how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Uses in one window; 0 allows none.
    pub limit: u32,
    /// Length of a window; less than a millisecond counts as one.
    pub length_ms: i64,
    /// Whether the window also ends at UTC midnight.
    pub until_midnight: bool,
}

/// How long to wait until the rule allows the next use: whole seconds, rounded up, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryAfter(pub u64);

impl Rule {
    /// A rule for an agent, a lobby, a room.
    #[must_use]
    pub const fn new(limit: u32, length_ms: i64) -> Self {
        Self { limit, length_ms, until_midnight: false }
    }

    /// A rule for a source, known by a digest that lasts until midnight.
    #[must_use]
    pub const fn of_source(limit: u32, length_ms: i64) -> Self {
        Self { limit, length_ms, until_midnight: true }
    }

    /// When a window that starts then is over.
    #[must_use]
    pub fn end_of(self, started_at_ms: i64) -> i64 {
        let end = started_at_ms.saturating_add(self.length_ms.max(1));
        if self.until_midnight { end.min(next_midnight(started_at_ms)) } else { end }
    }

    /// The window that counts now, if any does.
    #[must_use]
    pub fn current(self, window: Option<Window>, now_ms: i64) -> Option<Window> {
        window.filter(|w| self.is_running(*w, now_ms))
    }

    /// Whether a window still counts. One that starts later than now counts too, so that a small step of the clock
    /// backwards gives nothing away; but not if it lies more than a length ahead, or a clock that was once a year fast
    /// would lock everybody out for that year.
    fn is_running(self, window: Window, now_ms: i64) -> bool {
        let earliest = window.started_at_ms.saturating_sub(self.length_ms.max(1));
        earliest <= now_ms && now_ms < self.end_of(window.started_at_ms)
    }
}

impl RetryAfter {
    /// Until that moment.
    #[must_use]
    pub fn until(end_ms: i64, now_ms: i64) -> Self {
        let left = u64::try_from(end_ms.saturating_sub(now_ms)).unwrap_or(0);
        Self(left.div_ceil(1000).max(1))
    }
}

/// One use now: the window to store, or how long to wait, in which case nothing changes.
///
/// # Errors
/// The limit is used up. A limit of 0 names the length of a window that would start now.
pub fn take(window: Option<Window>, rule: Rule, now_ms: i64) -> Result<Window, RetryAfter> {
    let fresh = Window { started_at_ms: now_ms, count: 0 };
    let current = rule.current(window, now_ms).unwrap_or(fresh);
    if current.count >= rule.limit {
        return Err(RetryAfter::until(rule.end_of(current.started_at_ms), now_ms));
    }
    Ok(Window { count: current.count + 1, ..current })
}

/// One use under several rules at once: all of them give, or none does. The windows come back in the order asked.
///
/// # Errors
/// At least one limit is used up; the longest wait of those that are, since a shorter one would only meet the next.
pub fn take_all(uses: &[(Option<Window>, Rule)], now_ms: i64) -> Result<Vec<Window>, RetryAfter> {
    let taken: Vec<_> = uses.iter().map(|(window, rule)| take(*window, *rule, now_ms)).collect();
    match taken.iter().filter_map(|t| t.err()).max() {
        Some(longest) => Err(longest),
        None => Ok(taken.into_iter().flatten().collect()),
    }
}

/// Undoes a use that came to nothing. `taken` is what [`take`] returned, `current` what is stored now. Others may have
/// used the window meanwhile; if it is gone, so is the use. `None`: the window was never used, forget it.
#[must_use]
pub fn give_back(current: Option<Window>, taken: Window) -> Option<Window> {
    let mut window = current?;
    if window.started_at_ms == taken.started_at_ms {
        window.count = window.count.saturating_sub(1);
    }
    (window.count > 0).then_some(window)
}

/// The number of the UTC day, 0 being 1 January 1970.
#[must_use]
pub fn utc_day(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}

fn next_midnight(at_ms: i64) -> i64 {
    (utc_day(at_ms) + 1).saturating_mul(DAY_MS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const T: i64 = 20_000 * DAY_MS + 5 * HOUR_MS;
    const PER_MINUTE: Rule = Rule::new(3, MINUTE_MS);

    fn window(started_at_ms: i64, count: u32) -> Window {
        Window { started_at_ms, count }
    }

    #[rstest]
    #[case::first(None, T, Ok(window(T, 1)))]
    #[case::second(Some(window(T, 1)), T + 5, Ok(window(T, 2)))]
    #[case::last(Some(window(T, 2)), T + MINUTE_MS - 1, Ok(window(T, 3)))]
    #[case::used_up(Some(window(T, 3)), T + 1, Err(RetryAfter(60)))]
    #[case::used_up_late(Some(window(T, 3)), T + MINUTE_MS - 1, Err(RetryAfter(1)))]
    #[case::rounded_up(Some(window(T, 3)), T + MINUTE_MS - 1001, Err(RetryAfter(2)))]
    #[case::whole_seconds(Some(window(T, 3)), T + MINUTE_MS - 2000, Err(RetryAfter(2)))]
    #[case::over(Some(window(T, 3)), T + MINUTE_MS, Ok(window(T + MINUTE_MS, 1)))]
    #[case::limit_lowered(Some(window(T, 9)), T, Err(RetryAfter(60)))]
    #[case::clock_a_little_back(Some(window(T, 3)), T - 1000, Err(RetryAfter(61)))]
    #[case::clock_was_far_ahead(Some(window(T + 365 * DAY_MS, 3)), T, Ok(window(T, 1)))]
    fn uses(#[case] before: Option<Window>, #[case] now: i64, #[case] expected: Result<Window, RetryAfter>) {
        assert_eq!(take(before, PER_MINUTE, now), expected);
    }

    #[test]
    fn a_limit_of_nought_allows_none() {
        assert_eq!(take(None, Rule::new(0, HOUR_MS), T), Err(RetryAfter(3600)));
    }

    #[rstest]
    #[case::hour_within_the_day(HOUR_MS, T, T + HOUR_MS)]
    #[case::hour_cut(HOUR_MS, 20_001 * DAY_MS - 10, 20_001 * DAY_MS)]
    #[case::day_cut(DAY_MS, T, 20_001 * DAY_MS)]
    #[case::from_midnight(DAY_MS, 20_000 * DAY_MS, 20_001 * DAY_MS)]
    #[case::before_1970(DAY_MS, -5, 0)]
    fn a_sources_window_ends_at_midnight(#[case] length: i64, #[case] start: i64, #[case] end: i64) {
        assert_eq!(Rule::of_source(1, length).end_of(start), end);
        assert_eq!(Rule::new(1, length).end_of(start), start + length);
    }

    #[test]
    fn all_or_nothing_with_the_longest_wait() {
        let hour = Rule::new(5, HOUR_MS);
        let fits = [(Some(window(T, 1)), PER_MINUTE), (None, hour)];
        assert_eq!(take_all(&fits, T + 1), Ok(vec![window(T, 2), window(T + 1, 1)]));
        let both = [(Some(window(T, 5)), hour), (Some(window(T, 3)), PER_MINUTE), (None, hour)];
        assert_eq!(take_all(&both, T), Err(RetryAfter(3600)));
        assert_eq!(take_all(&[], T), Ok(vec![]));
    }

    #[rstest]
    #[case::others_used_it(Some(window(T, 3)), window(T, 1), Some(window(T, 2)))]
    #[case::only_ours(Some(window(T, 1)), window(T, 1), None)]
    #[case::another_window(Some(window(T + 9, 1)), window(T, 1), Some(window(T + 9, 1)))]
    #[case::gone(None, window(T, 1), None)]
    #[case::nought(Some(window(T, 0)), window(T, 1), None)]
    fn giving_back(#[case] current: Option<Window>, #[case] taken: Window, #[case] left: Option<Window>) {
        assert_eq!(give_back(current, taken), left);
    }

    #[rstest]
    #[case(0, 0)]
    #[case(DAY_MS - 1, 0)]
    #[case(DAY_MS, 1)]
    #[case(-1, -1)]
    fn days_are_utc(#[case] at: i64, #[case] day: i64) {
        assert_eq!(utc_day(at), day);
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit_in_any_window(
            limit in 1u32..6, length in 1i64..50, source: bool, steps in prop::collection::vec(0i64..20, 1..200),
        ) {
            let rule = Rule { limit, length_ms: length, until_midnight: source };
            let (mut now, mut stored, mut given) = (DAY_MS - 500, None, Vec::new());
            for step in steps {
                now += step;
                match take(stored, rule, now) {
                    Ok(w) => { given.push((w.started_at_ms, now)); stored = Some(w); }
                    // A wait that is over lets the next use through.
                    Err(RetryAfter(s)) => {
                        prop_assert!(s >= 1);
                        prop_assert!(take(stored, rule, now + i64::try_from(s).unwrap() * 1000).is_ok());
                    }
                }
            }
            for (start, at) in &given {
                let same = given.iter().filter(|(s, _)| s == start).count();
                prop_assert!(same <= limit as usize);
                prop_assert!((*start..rule.end_of(*start)).contains(at));
            }
        }

        #[test]
        fn a_use_given_back_at_once_leaves_no_trace(
            count in 0u32..5, age in -100i64..200, limit in 1u32..6, length in 1i64..100,
        ) {
            let rule = Rule::new(limit, length);
            let stored = (count > 0).then_some(window(T - age, count));
            if let Ok(taken) = take(stored, rule, T) {
                let back = give_back(Some(taken), taken);
                let running = stored.filter(|w| w.started_at_ms == taken.started_at_ms);
                prop_assert_eq!(back, running.filter(|w| age != 0 || w.count == count));
            }
        }

        #[test]
        fn no_numbers_make_it_panic(
            start: i64, count: u32, limit: u32, length: i64, now: i64, source: bool, none: bool,
        ) {
            let rule = Rule { limit, length_ms: length, until_midnight: source };
            let stored = (!none).then_some(window(start, count));
            match take(stored, rule, now) {
                Ok(w) => prop_assert!(w.count >= 1 && w.count <= limit),
                Err(RetryAfter(s)) => prop_assert!(s >= 1),
            }
        }
    }
}
