//! What an inbox hands over, and how it is acknowledged. Contract section 5, rules 6 to 10.

use std::{collections::BTreeSet, sync::Arc};

use ruma::{OwnedUserId, UserId};

use crate::{
    ids::{RoomKey, Seq},
    message::Message,
    seat::Seat,
    wait::{Reason, Terms, missing},
    wake::{Setting, Watch},
};

/// An unacknowledged message in somebody's inbox.
#[derive(Clone, Debug)]
pub struct Entry {
    pub message: Arc<Message>,
    /// Wakes by itself.
    pub wakes: bool,
    /// By one of those who are waited for.
    pub awaited: bool,
    /// Too far down a chain of agents' answers: it waits until something else wakes.
    pub beyond: bool,
    /// When it came, for this agent.
    pub arrival: Seq,
}

impl Entry {
    /// The message as an entry of `me`'s inbox. Context (from before the join) never wakes.
    #[must_use]
    pub fn new(message: Arc<Message>, seat: &Seat, watch: &Watch, me: &UserId, setting: Setting) -> Self {
        let live = !seat.before_join(&message);
        let wakes = live && watch.wakes(&message, me, setting);
        let awaited = live && watch.awaits(&message, setting);
        let beyond = setting.is_beyond(&message);
        let arrival = seat.arrival(&message);
        Self { message, wakes, awaited, beyond, arrival }
    }
}

/// What one answer hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handout {
    /// Indexes into the entries, by arrival.
    pub given: Vec<usize>,
    /// Left out before the last one given.
    pub skipped: usize,
    /// After the last one given.
    pub remaining: usize,
    /// Indexes of those given that woke the agent.
    pub woke: Vec<usize>,
    /// Who has not spoken yet.
    pub missing: BTreeSet<OwnedUserId>,
}

/// Chooses what an answer with this reason hands over. `entries` is the inbox in scope, by arrival; `look` as in
/// [`crate::wait::State`].
#[must_use]
pub fn hand_out(terms: &Terms, reason: Reason, look: bool, entries: &[Entry]) -> Handout {
    let pool = pool(terms, reason, look, entries);
    let woke = |i: &usize| woke(reason, &entries[*i]);
    let given = fit(&pool, terms.limit, woke);
    let before_last = given.last().map_or(0, |last| last + 1);
    let named = matches!(reason, Reason::Messages | Reason::AllReplied);
    Handout {
        skipped: before_last - given.len(),
        remaining: entries.len() - before_last,
        woke: given.iter().copied().filter(|i| named && woke(i)).collect(),
        given,
        missing: if reason == Reason::Superseded { BTreeSet::new() } else { missing(&terms.watch, entries) },
    }
}

/// Which entries may be given at all.
fn pool(terms: &Terms, reason: Reason, look: bool, entries: &[Entry]) -> Vec<usize> {
    let everything = look || matches!(reason, Reason::Messages | Reason::AllReplied | Reason::Digest);
    let may = |e: &Entry| match reason {
        Reason::Superseded | Reason::Admitted => false,
        _ if terms.mentions_only => everything && e.wakes,
        Reason::Timeout if !look => e.awaited,
        _ => everything,
    };
    (0..entries.len()).filter(|&i| may(&entries[i])).collect()
}

/// Those waited for wake together or not at all: they must not push out what did wake.
fn woke(reason: Reason, entry: &Entry) -> bool {
    entry.wakes || (entry.awaited && reason != Reason::Messages)
}

/// All if they fit; else those that woke, earliest first, and then the newest of the rest.
fn fit(pool: &[usize], limit: usize, woke: impl Fn(&usize) -> bool) -> Vec<usize> {
    if pool.len() <= limit {
        return pool.to_vec();
    }
    let (waking, rest): (Vec<usize>, Vec<usize>) = pool.iter().partition(|i| woke(i));
    let mut given: Vec<usize> = waking.into_iter().take(limit).collect();
    let room = limit - given.len();
    given.extend(rest.into_iter().rev().take(room));
    given.sort_unstable();
    given
}

/// What acknowledging `message` means, of `room` alone or of every room of the agent. `None` where it is not in the
/// inbox or not in that room (somebody else's, already acknowledged): then nothing changes.
#[must_use]
pub fn acknowledge(message: &Message, seat: &Seat, room: Option<RoomKey>, me: &UserId) -> Option<Ack> {
    let in_scope = room.is_none_or(|r| r == seat.room);
    (in_scope && seat.holds(message, me)).then(|| Ack { up_to: seat.arrival(message), room })
}

/// An acknowledgement: everything that arrived up to and with `up_to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    pub up_to: Seq,
    pub room: Option<RoomKey>,
}

impl Ack {
    /// Cursors only ever move forward.
    pub fn apply(self, seat: &mut Seat) {
        if self.room.is_none_or(|r| r == seat.room) {
            seat.acked = seat.acked.max(self.up_to);
            seat.late.retain(|_, arrival| *arrival > self.up_to);
            seat.context = seat.context.map(|c| c.acknowledged(self.up_to));
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
