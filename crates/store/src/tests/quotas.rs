use parlour_domain::quota::{DAY_MS, HOUR_MS, MINUTE_MS, RetryAfter, Rule, Window};

use super::fixture::Fixture;
use crate::{Charge, Overdrawn};

const NOON: i64 = 20_000 * DAY_MS + 12 * HOUR_MS;

fn charge(subject: &str, rule: Rule) -> Charge {
    Charge { subject: subject.into(), rule }
}

fn minute() -> Charge {
    charge("minute:7", Rule::new(2, MINUTE_MS))
}

fn day() -> Charge {
    charge("day:7", Rule::new(3, DAY_MS))
}

fn take(store: &Fixture, charges: &[Charge], now_ms: i64) -> Result<Vec<Window>, u64> {
    let charges = charges.to_vec();
    store.write(move |tx| tx.charge(&charges, now_ms)).map_err(|Overdrawn(RetryAfter(s))| s)
}

fn used(store: &Fixture, subject: &'static str) -> Option<u32> {
    store.write(move |tx| {
        let mut query = tx.0.prepare("SELECT used FROM quotas WHERE subject = ?1")?;
        let mut rows = query.query([subject])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    })
}

#[test]
fn all_are_charged_or_none() {
    let store = Fixture::new();
    let both = [day(), minute()];
    for _ in 0..2 {
        assert!(take(&store, &both, NOON).is_ok());
    }
    assert_eq!(take(&store, &both, NOON + 1), Err(60));
    assert_eq!((used(&store, "day:7"), used(&store, "minute:7")), (Some(2), Some(2)));
    assert!(take(&store, &both, NOON + MINUTE_MS).is_ok());
    assert_eq!(take(&store, &both, NOON + MINUTE_MS), Err(86_340), "the longer of the two waits");
    assert_eq!((used(&store, "day:7"), used(&store, "minute:7")), (Some(3), Some(1)));
}

#[test]
fn windows_outlive_a_restart() {
    let store = Fixture::new();
    take(&store, &[minute()], NOON).unwrap();
    take(&store, &[minute()], NOON).unwrap();
    let store = store.reopened();
    assert_eq!(take(&store, &[minute()], NOON + MINUTE_MS - 1), Err(1));
    assert!(take(&store, &[minute()], NOON + MINUTE_MS).is_ok());
}

#[test]
fn what_came_to_nothing_is_given_back_once_and_to_its_own_window() {
    let store = Fixture::new();
    let both = vec![minute(), day()];
    let first = take(&store, &both, NOON).unwrap();
    let second = take(&store, &both, NOON).unwrap();
    let back = |taken: &[Window]| {
        let (charges, taken) = (both.clone(), taken.to_vec());
        store.write(move |tx| tx.refund(&charges, &taken));
    };
    back(&second);
    assert_eq!(used(&store, "minute:7"), Some(1));
    take(&store, &both, NOON + MINUTE_MS).unwrap();
    back(&first);
    assert_eq!(used(&store, "minute:7"), Some(1), "the window that it was charged in is over");
    assert_eq!(used(&store, "day:7"), Some(1), "that one goes on");
    back(&first);
    assert_eq!(used(&store, "day:7"), None, "never used, so forgotten");
}

#[test]
fn a_sources_window_ends_at_midnight() {
    let store = Fixture::new();
    let source = [charge("source:abc", Rule::of_source(1, DAY_MS))];
    take(&store, &source, NOON).unwrap();
    assert_eq!(take(&store, &source, NOON), Err(12 * 3_600));
    assert!(take(&store, &source, NOON + 12 * HOUR_MS).is_ok());
}

#[test]
fn windows_that_are_over_are_forgotten_and_no_others() {
    let store = Fixture::new();
    take(&store, &[minute(), day()], NOON).unwrap();
    let forget = |now_ms| store.write(move |tx| tx.forget_quotas(now_ms));
    assert_eq!(forget(NOON + MINUTE_MS - 1), 0);
    assert_eq!(forget(NOON + MINUTE_MS), 1);
    assert_eq!((used(&store, "day:7"), used(&store, "minute:7")), (Some(1), None));
}

#[test]
fn nothing_to_charge_is_free() {
    let store = Fixture::new();
    assert_eq!(take(&store, &[], NOON), Ok(vec![]));
}

#[test]
fn the_most_taken_of_a_kind_come_first_and_no_others() {
    let store = Fixture::new();
    let minute = Rule::new(9, MINUTE_MS);
    let used =
        [("minute:1", 1, NOON), ("minute:2", 3, NOON), ("minute:30", 3, NOON + 5), ("minute:4", 4, NOON)];
    for (subject, times, at_ms) in used {
        for _ in 0..times {
            take(&store, &[charge(subject, minute)], at_ms).unwrap();
        }
    }
    let others = ["minute", "minute-day:5", "minute;6", "minut:7", "minutes:8"];
    for other in others {
        take(&store, &[charge(other, minute)], NOON).unwrap();
    }
    let most = |now_ms, most| {
        let rows = store.read(move |r| r.most_taken("minute", minute, now_ms, most));
        rows.into_iter().map(|(subject, window)| (subject, window.count)).collect::<Vec<_>>()
    };
    let expected = [("minute:4", 4), ("minute:30", 3), ("minute:2", 3), ("minute:1", 1)]
        .map(|(subject, count)| (subject.to_owned(), count));
    assert_eq!(most(NOON + 6, 100), expected);
    assert_eq!(most(NOON + 6, 2), expected[..2]);
    assert_eq!(
        most(NOON + MINUTE_MS, 2),
        expected[1..2],
        "those that are over make room for one that is not"
    );
}

#[test]
fn a_sources_window_counts_no_longer_than_its_day() {
    let store = Fixture::new();
    let day = Rule::of_source(5, DAY_MS);
    take(&store, &[charge("day:abc", day)], NOON).unwrap();
    let counts = |now_ms| store.read(move |r| r.most_taken("day", day, now_ms, 9)).len();
    assert_eq!((counts(NOON + 12 * HOUR_MS - 1), counts(NOON + 12 * HOUR_MS)), (1, 0));
}
