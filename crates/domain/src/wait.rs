//! When a wait ends and why. Contract section 5, rules 4, 5, 7 and 9.
//!
//! A wait has no state of its own but the moment it began: what it decides follows from the inbox, who is typing and
//! the time. So it survives anything, and a decision can be checked by making it again.

use std::collections::BTreeSet;

use ruma::{OwnedUserId, UserId};

use crate::{
    ids::RoomKey,
    inbox::Entry,
    limits::SETTLE_CAP_MS,
    typing::{Typing, TypingBoard},
    wake::Watch,
};

/// What an agent asked for; ranges are checked where requests are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Bounds the whole call, settling included.
    pub wait_ms: i64,
    pub limit: usize,
    /// How long the conversation has to be quiet; 0 answers at once.
    pub settle_ms: i64,
    /// Hand over what woke nobody once it has waited this long.
    pub digest_ms: Option<i64>,
    pub watch: Watch,
    /// Give only what wakes.
    pub mentions_only: bool,
    /// Only this room.
    pub room: Option<RoomKey>,
}

/// Why a wait ended, as in `wake.reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    AllReplied,
    Messages,
    Digest,
    Knocks,
    Timeout,
    /// A knock was answered while the wait ran: told as a timeout, and hands over nothing.
    Admitted,
    Superseded,
}

impl Reason {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllReplied => "all_replied",
            Self::Messages => "messages",
            Self::Digest => "digest",
            Self::Knocks => "knocks",
            Self::Timeout | Self::Admitted => "timeout",
            Self::Superseded => "superseded",
        }
    }
}

/// All that a decision depends on. `entries` is the inbox in scope, by arrival.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    pub now_ms: i64,
    pub began_ms: i64,
    pub entries: &'a [Entry],
    pub typing: &'a TypingBoard,
    /// `wait=0`, or the first wait since entering a room in scope: look and go.
    pub look: bool,
    /// A newer wait of the same agent is there, or the bridge shuts down.
    pub superseded: bool,
    /// A knock was answered: the agent is in one more room.
    pub admitted: bool,
    /// Somebody knocks who has not been told of yet.
    pub knocks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Answer(Reason),
    /// Decide again at this moment, or when something arrives.
    Sleep {
        until_ms: i64,
    },
}

/// Decides what a wait does now.
#[must_use]
pub fn step(terms: &Terms, state: &State<'_>) -> Step {
    if state.superseded {
        return Step::Answer(Reason::Superseded);
    }
    if state.admitted {
        return Step::Answer(Reason::Admitted);
    }
    let at_once = state.look || state.knocks || state.now_ms >= deadline(terms, state);
    match Trigger::find(terms, state) {
        Some(t) if at_once || t.is_settled(terms, state) => Step::Answer(t.reason),
        Some(t) => Step::Sleep { until_ms: t.settles_at(terms, state).min(deadline(terms, state)) },
        None => without_trigger(terms, state),
    }
}

/// A look is told as a timeout even if a digest is due: it hands over everything anyway.
fn without_trigger(terms: &Terms, state: &State<'_>) -> Step {
    let (deadline, digest_at) = (deadline(terms, state), digest_at(terms, state));
    if !state.look && digest_at.is_some_and(|at| at <= state.now_ms) {
        Step::Answer(Reason::Digest)
    } else if state.knocks {
        Step::Answer(Reason::Knocks)
    } else if state.look || state.now_ms >= deadline {
        Step::Answer(Reason::Timeout)
    } else {
        Step::Sleep { until_ms: digest_at.map_or(deadline, |at| at.min(deadline)) }
    }
}

fn deadline(terms: &Terms, state: &State<'_>) -> i64 {
    state.began_ms + terms.wait_ms
}

fn digest_at(terms: &Terms, state: &State<'_>) -> Option<i64> {
    let counts = state.entries.iter().filter(|e| !e.beyond);
    let oldest = counts.map(|e| e.message.received_at_ms).min()?;
    Some(oldest + terms.digest_ms?)
}

/// Those of `wait_for` who have not spoken yet.
#[must_use]
pub fn missing(watch: &Watch, entries: &[Entry]) -> BTreeSet<OwnedUserId> {
    let spoke: BTreeSet<&UserId> = entries.iter().filter(|e| e.awaited).map(|e| &*e.message.sender).collect();
    watch.wait_for.iter().filter(|u| !spoke.contains(&***u)).cloned().collect()
}

/// What woke the agent.
struct Trigger<'a> {
    reason: Reason,
    /// When the first of it came: the cap on settling counts from here.
    since_ms: i64,
    waking: Vec<&'a Entry>,
}

impl<'a> Trigger<'a> {
    fn find(terms: &Terms, state: &State<'a>) -> Option<Self> {
        Self::all_replied(&terms.watch, state.entries).or_else(|| Self::messages(state.entries))
    }

    fn all_replied(watch: &Watch, entries: &'a [Entry]) -> Option<Self> {
        let first = |user: &OwnedUserId| {
            let theirs = entries.iter().filter(|e| e.awaited && e.message.sender == *user);
            theirs.map(|e| e.message.received_at_ms).min()
        };
        let firsts: Option<Vec<i64>> = watch.wait_for.iter().map(first).collect();
        let complete_ms = firsts?.into_iter().max()?;
        let waking = entries.iter().filter(|e| e.wakes || e.awaited).collect();
        // what woke before, by itself, has been settling since then
        let since_ms = Self::messages(entries).map_or(complete_ms, |t| t.since_ms.min(complete_ms));
        Some(Self { reason: Reason::AllReplied, since_ms, waking })
    }

    fn messages(entries: &'a [Entry]) -> Option<Self> {
        let waking: Vec<&Entry> = entries.iter().filter(|e| e.wakes).collect();
        let since_ms = waking.iter().map(|e| e.message.received_at_ms).min()?;
        Some(Self { reason: Reason::Messages, since_ms, waking })
    }

    fn is_settled(&self, terms: &Terms, state: &State<'_>) -> bool {
        self.is_full(terms, state.entries) || self.settles_at(terms, state) <= state.now_ms
    }

    /// As many as one answer can hold: more quiet would bring nothing more.
    fn is_full(&self, terms: &Terms, entries: &[Entry]) -> bool {
        let given = if terms.mentions_only { self.waking.len() } else { entries.len() };
        given >= terms.limit
    }

    /// The moment at which the conversation counts as settled if nothing more happens.
    fn settles_at(&self, terms: &Terms, state: &State<'_>) -> i64 {
        if terms.settle_ms == 0 {
            return self.since_ms;
        }
        let quiet = self.last_arrival(state.entries).max(self.typed_until(state)) + terms.settle_ms;
        quiet.min(self.since_ms + SETTLE_CAP_MS)
    }

    fn last_arrival(&self, entries: &[Entry]) -> i64 {
        let here = |e: &&Entry| self.waking.iter().any(|w| w.message.room == e.message.room);
        entries.iter().filter(here).map(|e| e.message.received_at_ms).max().unwrap_or(self.since_ms)
    }

    /// Whoever woke us and types on is not done; those who stopped restart the quiet.
    fn typed_until(&self, state: &State<'_>) -> i64 {
        let of = |e: &&Entry| state.typing.of(e.message.room, &e.message.sender, state.now_ms);
        let at = |t| match t {
            Typing::Until(ms) | Typing::Stopped(ms) => ms,
        };
        self.waking.iter().filter_map(of).map(at).max().unwrap_or(i64::MIN / 2)
    }
}

#[cfg(test)]
mod tests;
