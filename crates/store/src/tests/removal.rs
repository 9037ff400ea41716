use parlour_domain::{
    ids::{AgentKey, Seq},
    inbox::Ack,
    limits::ROOM_HISTORY,
};

use super::fixture::{Fixture, OTHER_AGENT, ROOM, SCOUT_KEY, answered, echo, event, said};
use crate::{Appended, Gap, NewEntry};

const KEPT: i64 = ROOM_HISTORY as i64;

fn enter(store: &Fixture, agent: AgentKey) {
    store.write(move |tx| tx.seat_confirmed(agent, ROOM));
}

fn leave(store: &Fixture, agent: AgentKey) {
    store.write(move |tx| tx.seat_left(agent, ROOM, true));
}

fn dropped(store: &Fixture, agent: AgentKey) -> usize {
    dropped_beside(store, agent, Seq(i64::MAX), &[])
}

fn dropped_beside(store: &Fixture, agent: AgentKey, through: Seq, held: &[Seq]) -> usize {
    let held = held.to_vec();
    store.read(move |r| {
        let seat = r.seats()?.into_iter().find(|s| s.agent == agent).unwrap().seat;
        r.dropped(agent, &seat, through, &held)
    })
}

fn acknowledge(store: &Fixture, agent: AgentKey, n: i64) {
    let up_to = store.message(n).seq;
    store.write(move |tx| tx.acknowledge(agent, Ack { up_to, room: None }));
}

fn hang_gap(store: &Fixture, n: i64, reason: &str) -> Gap {
    let gap = Gap { before: store.message(n).seq, after_event_id: Some(event(n - 1)), reason: reason.into() };
    let hung = gap.clone();
    store.write(move |tx| tx.add_gap(&hung));
    gap
}

fn gaps(store: &Fixture) -> Vec<Gap> {
    store.read(|r| r.room_gaps(ROOM))
}

#[test]
fn the_newest_five_hundred_by_place_stay() {
    let store = Fixture::new();
    store.says(1..=KEPT);
    assert!(store.evict().is_empty());
    store.says(KEPT + 1..=KEPT + 3);
    let first = store.log()[..3].iter().map(|m| m.seq).collect::<Vec<_>>();
    assert_eq!(store.evict(), first);
    assert_eq!(store.order(), (4..=KEPT + 3).collect::<Vec<_>>());
    assert!(store.evict().is_empty());
    assert_eq!(store.read(|r| r.evicted_through(ROOM)), first[2]);
}

#[test]
fn what_arrived_late_but_stands_early_goes_first() {
    let store = Fixture::new();
    store.says(1..=KEPT);
    let late = store.fill_in([-2, -1], Some(store.message(1).pos));
    let gone: Vec<Seq> = late.iter().map(|m| m.seq).collect();
    assert_eq!(store.evict(), gone);
    assert_eq!(store.order(), (1..=KEPT).collect::<Vec<_>>());
}

#[test]
fn what_has_left_does_not_come_back() {
    let store = Fixture::new();
    store.append(answered(0));
    store.says(1..=KEPT);
    store.evict();
    assert_eq!(store.append(echo(0)), Appended::Known);
    assert_eq!(store.append(answered(0)), Appended::Known);
    assert_eq!(store.order().len(), ROOM_HISTORY);
}

#[test]
fn rooms_are_cut_back_one_by_one() {
    let store = Fixture::new();
    store.says(1..=KEPT);
    store.append(NewEntry { room: super::fixture::OTHER_ROOM, ..said(9_999) });
    assert!(store.evict().is_empty());
}

#[test]
fn six_hundred_and_twenty_missed_are_five_hundred_and_a_count() {
    let store = Fixture::new();
    enter(&store, SCOUT_KEY);
    store.says(1..=620);
    store.evict();
    assert_eq!(dropped(&store, SCOUT_KEY), 120);
    acknowledge(&store, SCOUT_KEY, 300);
    assert_eq!(dropped(&store, SCOUT_KEY), 0);
    store.says(621..=921);
    store.evict();
    assert_eq!(dropped(&store, SCOUT_KEY), 121, "301 to 421 were never acknowledged");
}

/// An answer counts what it holds, and later asks what was missed.
#[test]
fn what_leaves_while_an_answer_is_made_is_not_counted_twice() {
    let store = Fixture::new();
    enter(&store, SCOUT_KEY);
    store.says(1..=620);
    store.evict();
    let held: Vec<Seq> = store.log().iter().map(|m| m.seq).collect();
    store.says(621..=1_320);
    store.evict();
    let through = *held.last().unwrap();
    assert_eq!(dropped_beside(&store, SCOUT_KEY, through, &held), 120);
    assert_eq!(dropped_beside(&store, SCOUT_KEY, through, &held[10..]), 130, "ten of them are not held");
    assert_eq!(dropped(&store, SCOUT_KEY), 820);
}

#[test]
fn own_messages_and_those_of_other_times_are_not_missed() {
    let store = Fixture::new();
    store.says(1..=10);
    enter(&store, SCOUT_KEY);
    enter(&store, OTHER_AGENT);
    store.says(11..=20);
    (21..=25).for_each(|n| drop(store.append(echo(n))));
    leave(&store, SCOUT_KEY);
    store.says(26..=30);
    enter(&store, SCOUT_KEY);
    store.says(31..=40);
    assert_eq!(dropped(&store, SCOUT_KEY), 0);
    store.says(1_000..1_000 + KEPT);
    store.evict();
    assert_eq!(dropped(&store, SCOUT_KEY), 20, "11 to 20 and 31 to 40");
    assert_eq!(dropped(&store, OTHER_AGENT), 30, "11 to 40, also what the other agent said");
}

#[test]
fn a_newcomer_has_missed_nothing_of_what_left_before() {
    let store = Fixture::new();
    store.says(1..=KEPT + 100);
    store.evict();
    enter(&store, SCOUT_KEY);
    assert_eq!(dropped(&store, SCOUT_KEY), 0);
    store.says(2_000..=2_000 + KEPT);
    store.evict();
    assert_eq!(dropped(&store, SCOUT_KEY), 1);
}

#[test]
fn what_is_filled_in_and_leaves_at_once_was_missed_by_those_who_were_there() {
    let store = Fixture::new();
    enter(&store, SCOUT_KEY);
    store.says([1]);
    enter(&store, OTHER_AGENT);
    acknowledge(&store, SCOUT_KEY, 1);
    store.says([10]);
    store.fill_in(2..=4, Some(store.message(10).pos));
    store.says(100..100 + KEPT - 1);
    store.evict();
    assert_eq!((dropped(&store, SCOUT_KEY), dropped(&store, OTHER_AGENT)), (3, 3));
}

#[test]
fn a_redacted_message_is_gone_and_nobody_missed_it() {
    let store = Fixture::new();
    enter(&store, SCOUT_KEY);
    store.says(1..=KEPT + 2);
    let seq = store.message(200).seq;
    assert_eq!(store.write(|tx| tx.redact(&event(200))), Some(seq));
    assert_eq!(store.write(|tx| tx.redact(&event(200))), None);
    assert_eq!(store.append(said(200)), Appended::Known);
    store.evict();
    assert_eq!(dropped(&store, SCOUT_KEY), 1);
    assert_eq!(store.write(|tx| tx.redact(&event(1))), None, "has left before");
    assert_eq!(dropped(&store, SCOUT_KEY), 0);
    assert_eq!(store.append(said(1)), Appended::Known);
}

#[test]
fn a_redaction_that_comes_first_keeps_the_message_out() {
    let store = Fixture::new();
    assert_eq!(store.write(|tx| tx.redact(&event(1))), None);
    let store = store.reopened();
    assert_eq!(store.append(said(1)), Appended::Known);
    assert!(store.fill_in([1], None).is_empty());
    assert!(store.order().is_empty());
}

#[test]
fn a_gap_moves_on_when_its_message_goes() {
    let store = Fixture::new();
    store.says(1..=KEPT);
    let gap = hang_gap(&store, 5, "too_many");
    assert_eq!(gaps(&store), std::slice::from_ref(&gap));
    store.write(|tx| tx.redact(&event(5)));
    assert_eq!(gaps(&store), [Gap { before: store.message(6).seq, ..gap.clone() }]);
    // the places decide, not the arrivals
    store.fill_in([5_555], Some(store.message(7).pos));
    store.write(|tx| tx.redact(&event(6)));
    assert_eq!(gaps(&store), [Gap { before: store.message(5_555).seq, ..gap.clone() }]);
    store.says(1_000..1_010);
    store.evict();
    assert_eq!(gaps(&store), [Gap { before: store.log()[0].seq, ..gap }], "evicted is not told");
}

#[test]
fn a_gap_does_not_push_out_another() {
    let store = Fixture::new();
    store.says(1..=3);
    hang_gap(&store, 2, "too_many");
    let other = hang_gap(&store, 3, "undecryptable");
    store.write(|tx| tx.redact(&event(2)));
    assert_eq!(gaps(&store), std::slice::from_ref(&other));
    let again = Gap { reason: "too_many".into(), ..other.clone() };
    store.write(move |tx| tx.add_gap(&again));
    assert_eq!(gaps(&store), [other]);
}

#[test]
fn a_gap_ends_with_the_last_message_of_its_room() {
    let store = Fixture::new();
    store.says([1]);
    store.append(NewEntry { room: super::fixture::OTHER_ROOM, ..said(2) });
    hang_gap(&store, 1, "too_many");
    store.write(|tx| tx.redact(&event(1)));
    assert!(gaps(&store).is_empty());
    assert!(store.read(|r| r.room_gaps(super::fixture::OTHER_ROOM)).is_empty());
}
