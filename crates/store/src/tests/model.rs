//! The log against a plain model of it: a list in the homeserver's order.

use std::collections::{BTreeSet, HashSet};

use parlour_domain::{ids::Seq, inbox::Ack, limits::ROOM_HISTORY};
use proptest::prelude::*;

use super::fixture::{Fixture, ROOM, SCOUT_KEY, answered, echo, event, said};
use crate::Appended;

#[derive(Clone, Debug)]
enum Step {
    /// So many people's messages.
    Say(usize),
    /// Ours, of which the answer comes first and the echo later, in a turn of its own.
    Answer,
    Echo(prop::sample::Index),
    /// The last step's messages once more.
    Replay(prop::sample::Index),
    FillIn {
        before: prop::sample::Index,
        count: usize,
        among: usize,
    },
    Redact(prop::sample::Index),
    Acknowledge(prop::sample::Index),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        5 => (1_usize..=150).prop_map(Step::Say),
        3 => Just(Step::Answer),
        3 => index().prop_map(Step::Echo),
        2 => index().prop_map(Step::Replay),
        4 => (index(), 0_usize..=250, 0_usize..4)
            .prop_map(|(before, count, among)| Step::FillIn { before, count, among }),
        2 => index().prop_map(Step::Redact),
        2 => index().prop_map(Step::Acknowledge),
        1 => Just(Step::Reopen),
    ]
}

#[derive(Default)]
struct Model {
    next: i64,
    /// In the room's order: number, and whether it is settled.
    order: Vec<(i64, bool)>,
    arrived: Vec<i64>,
    unacked: BTreeSet<i64>,
    missed: HashSet<i64>,
    mine: HashSet<i64>,
    overtaken: HashSet<i64>,
}

impl Model {
    fn fresh(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn arrives(&mut self, n: i64, settled: bool) {
        self.stands(self.order.len(), n, settled);
        self.arrived(n);
    }

    fn stands(&mut self, at: usize, n: i64, settled: bool) {
        self.order.insert(at, (n, settled));
    }

    fn arrived(&mut self, n: i64) {
        self.arrived.push(n);
        if !self.mine.contains(&n) {
            self.unacked.insert(n);
        }
    }

    /// Its echo: behind all that is settled; it stays where it is if it stands there already.
    fn echoes(&mut self, n: i64) {
        let at = self.order.iter().position(|(m, _)| *m == n).unwrap();
        let overtaken = self.order[at..].iter().any(|(_, settled)| *settled) || self.overtaken.contains(&n);
        self.order.remove(at);
        let to = if overtaken { self.order.len() } else { at };
        self.order.insert(to, (n, true));
    }

    fn evict(&mut self) {
        let over = self.order.len().saturating_sub(ROOM_HISTORY);
        for (n, _) in self.order.drain(..over) {
            if self.unacked.contains(&n) {
                self.missed.insert(n);
            }
        }
    }

    fn redact(&mut self, n: i64) {
        // what it had overtaken stays overtaken: places remember it
        if let Some(at) = self.order.iter().position(|m| *m == (n, true)) {
            self.overtaken.extend(self.order[..at].iter().map(|(m, _)| m));
        }
        self.order.retain(|(m, _)| *m != n);
        self.unacked.remove(&n);
        self.missed.remove(&n);
    }

    fn acknowledge(&mut self, n: i64) {
        let at = self.arrived.iter().position(|m| *m == n).unwrap();
        for m in &self.arrived[..=at] {
            self.unacked.remove(m);
            self.missed.remove(m);
        }
    }
}

/// One step in both. The model's numbers are the store's event ids.
fn apply(store: Fixture, model: &mut Model, step: &Step) -> Fixture {
    match step {
        Step::Say(count) => {
            let new: Vec<i64> = (0..*count).map(|_| model.fresh()).collect();
            new.iter().for_each(|n| model.arrives(*n, true));
            store.says(new);
        }
        Step::Answer => {
            let n = model.fresh();
            model.mine.insert(n);
            model.arrives(n, false);
            assert!(matches!(store.append(answered(n)), Appended::New(_)));
        }
        Step::Echo(index) => echo_one(&store, model, index),
        Step::Replay(index) if !model.arrived.is_empty() => {
            let n = *index.get(&model.arrived);
            if !model.mine.contains(&n) {
                assert_eq!(store.append(said(n)), Appended::Known);
            }
        }
        Step::FillIn { before, count, among } if !model.order.is_empty() => {
            fill_in(&store, model, before.index(model.order.len()), *count, *among);
        }
        Step::Redact(index) if !model.arrived.is_empty() => {
            let n = *index.get(&model.arrived);
            model.redact(n);
            store.write(move |tx| tx.redact(&event(n)));
        }
        Step::Acknowledge(index) if !model.order.is_empty() => {
            let n = index.get(&model.order).0;
            model.acknowledge(n);
            let up_to = store.message(n).seq;
            store.write(move |tx| tx.acknowledge(SCOUT_KEY, Ack { up_to, room: None }));
        }
        Step::Reopen => return store.reopened(),
        _ => {}
    }
    store
}

fn echo_one(store: &Fixture, model: &mut Model, index: &prop::sample::Index) {
    let mine: Vec<i64> = model.arrived.iter().copied().filter(|n| model.mine.contains(n)).collect();
    if mine.is_empty() {
        return;
    }
    let n = *index.get(&mine);
    let waits = model.order.contains(&(n, false));
    let told = store.append(echo(n));
    assert_eq!(matches!(told, Appended::Confirmed { .. }), waits, "{n}: {told:?}");
    if waits {
        model.echoes(n);
    }
}

/// New ones before the message at `at`, with up to `among` of those that precede it in between.
fn fill_in(store: &Fixture, model: &mut Model, at: usize, count: usize, among: usize) {
    let mut list: Vec<i64> = model.order[at.saturating_sub(among)..at].iter().map(|(n, _)| *n).collect();
    let anchor = model.order[at].0;
    let before = store.message(anchor).pos;
    let new: Vec<i64> = (0..count).map(|_| model.fresh()).collect();
    for (i, n) in new.iter().enumerate() {
        // spread over the known ones, the same way in both
        let slot = i * (list.len() + 1) / count.max(1);
        list.insert(slot.min(list.len()), *n);
    }
    let mut follower = anchor;
    for n in list.iter().rev() {
        if new.contains(n) {
            let to = model.order.iter().position(|(m, _)| *m == follower).unwrap();
            model.stands(to, *n, true);
        }
        follower = *n;
    }
    list.iter().filter(|n| new.contains(n)).for_each(|n| model.arrived(*n));
    let entries = list.into_iter().map(said).collect();
    let added = store.write(move |tx| tx.fill_in(entries, Some(before)));
    assert_eq!(added.len(), count);
    let log = store.log();
    assert!(added.iter().all(|m| log.contains(m)), "given as it is stored");
}

fn check(store: &Fixture, model: &Model) {
    assert_eq!(store.order(), model.order.iter().map(|(n, _)| *n).collect::<Vec<_>>());
    let log = store.read(|r| r.room_log(ROOM));
    let places: BTreeSet<_> = log.iter().map(|m| m.pos).collect();
    assert_eq!(places.len(), log.len());
    let dropped = store.read(|r| r.dropped(SCOUT_KEY, &r.seats()?.remove(0).seat, Seq(i64::MAX), &[]));
    assert_eq!(dropped, model.missed.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn order_number_and_count_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 1..40)) {
        let mut store = Fixture::new();
        let mut model = Model::default();
        store.write(|tx| {
            tx.seat_confirmed(SCOUT_KEY, ROOM)?;
            // in from the beginning, also of what is filled in before everything that was known at the join
            let ever = r#"UPDATE seats SET periods = '[{"membership":"joined","after":-1000000000000000,"until":null}]'"#;
            Ok(tx.0.execute_batch(ever)?)
        });
        for step in &steps {
            store = apply(store, &mut model, step);
            store.evict();
            model.evict();
            check(&store, &model);
        }
    }
}
