//! Whether a sleep or an answer is right, from the contract's sentences and not from how the rules are written.

use crate::{
    inbox::{Entry, Handout},
    limits::SETTLE_CAP_MS,
    wait::{Reason, State, Terms, missing},
};

fn deadline(terms: &Terms, state: &State<'_>) -> i64 {
    state.began_ms + terms.wait_ms
}

fn first(entries: &[Entry], which: impl Fn(&&Entry) -> bool) -> Option<i64> {
    entries.iter().filter(which).map(|e| e.message.received_at_ms).min()
}

fn all_replied(terms: &Terms, state: &State<'_>) -> bool {
    !terms.watch.wait_for.is_empty() && missing(&terms.watch, state.entries).is_empty()
}

/// A sleep ends later than now, by the deadline, and before anything is due.
pub(super) fn sleep(terms: &Terms, state: &State<'_>, until_ms: i64) {
    assert!(state.now_ms < until_ms, "no busy loop");
    assert!(until_ms <= deadline(terms, state), "past the deadline");
    assert!(!state.look && !state.knocks && !state.superseded && !state.admitted, "due at once");
    let woke_at = first(state.entries, |e| e.wakes);
    let triggered = woke_at.is_some() || all_replied(terms, state);
    assert!(!triggered || terms.settle_ms > 0, "settle 0 sleeps on nothing");
    assert!(!triggered || terms.mentions_only || state.entries.len() < terms.limit, "full, and sleeps");
    assert!(woke_at.is_none_or(|at| until_ms <= at + SETTLE_CAP_MS), "past the cap");
    let digest_at = first(state.entries, |_| true).zip(terms.digest_ms).map(|(at, ms)| at + ms);
    assert!(triggered || digest_at.is_none_or(|at| until_ms <= at), "past the digest");
}

pub(super) fn answer(terms: &Terms, state: &State<'_>, reason: Reason, handout: &Handout) {
    cause(terms, state, reason);
    selection(terms, reason, state.entries, handout);
    let complete = state.look && !terms.mentions_only && state.entries.len() <= terms.limit;
    let ended = matches!(reason, Reason::Superseded | Reason::Admitted);
    assert!(!complete || ended || handout.given.len() == state.entries.len(), "a look gives everything");
    assert!(!ended || handout.given.is_empty(), "{reason:?} gives nothing");
}

fn cause(terms: &Terms, state: &State<'_>, reason: Reason) {
    let woke = state.entries.iter().any(|e| e.wakes);
    let at_deadline = state.now_ms >= deadline(terms, state);
    let digest_at = first(state.entries, |_| true).zip(terms.digest_ms).map(|(at, ms)| at + ms);
    let digest_due = !state.look && digest_at.is_some_and(|at| at <= state.now_ms);
    let right = match reason {
        Reason::Superseded => state.superseded,
        Reason::Admitted => state.admitted,
        Reason::AllReplied => all_replied(terms, state),
        Reason::Messages => woke && !all_replied(terms, state),
        Reason::Digest => !woke && digest_due,
        Reason::Knocks => !woke && !digest_due && state.knocks,
        Reason::Timeout => !woke && !digest_due && !state.knocks && (state.look || at_deadline),
    };
    assert!(right, "{reason:?} for {state:?}");
}

fn selection(terms: &Terms, reason: Reason, entries: &[Entry], handout: &Handout) {
    let Handout { given, skipped, remaining, woke, .. } = handout;
    assert!(given.is_sorted_by(|a, b| a < b), "oldest first, none twice");
    assert!(given.len() <= terms.limit);
    assert_eq!(given.len() + skipped + remaining, entries.len());
    assert_eq!(given.last().map_or(entries.len(), |last| entries.len() - last - 1), *remaining);
    assert!(woke.iter().all(|i| given.contains(i)));
    if matches!(reason, Reason::Messages | Reason::AllReplied) {
        assert!(!woke.is_empty(), "something woke it, so it is given");
        let by_itself = |i: &usize| entries[*i].wakes;
        assert!(
            reason == Reason::AllReplied || woke.iter().all(by_itself),
            "some are missing, so they woke nobody"
        );
        waking_first(entries, handout);
    }
}

/// What woke is left out only where nothing but earlier waking ones is given.
fn waking_first(entries: &[Entry], handout: &Handout) {
    let left_out = (0..entries.len()).find(|i| entries[*i].wakes && !handout.given.contains(i));
    if let Some(left_out) = left_out {
        assert_eq!(handout.given, handout.woke, "displaced by what woke nobody");
        assert!(handout.given.iter().all(|i| *i < left_out), "displaced by a later one");
    }
}
