use parlour_domain::{
    ids::{AgentKey, Pos, RoomKey, Seq},
    inbox::Ack,
    seat::{Context, Seat},
};

use ruma::user_id;

use super::fixture::{Fixture, OTHER_AGENT, OTHER_ROOM, ROOM, SCOUT_KEY, answered, echo};
use crate::SeatRow;

const STEP: i64 = Pos::STEP;

fn take(store: &Fixture) -> SeatRow {
    store.write(|tx| tx.seat_taken(SCOUT_KEY, ROOM))
}

fn confirm(store: &Fixture) -> SeatRow {
    store.write(|tx| tx.seat_confirmed(SCOUT_KEY, ROOM))
}

fn leave(store: &Fixture, away: bool) -> Option<SeatRow> {
    store.write(move |tx| tx.seat_left(SCOUT_KEY, ROOM, away))
}

fn stored(store: &Fixture) -> SeatRow {
    store.read(|r| r.seats()).into_iter().find(|s| (s.agent, s.seat.room) == (SCOUT_KEY, ROOM)).unwrap()
}

/// Places as multiples of [`Pos::STEP`].
fn periods(seat: &Seat) -> Vec<(i64, Option<i64>)> {
    seat.periods.iter().map(|p| (p.after.0 / STEP, p.until.map(|u| u.0 / STEP))).collect()
}

/// Numbers of the messages that were said while the agent was in.
fn was_there(store: &Fixture) -> Vec<String> {
    let seat = stored(store).seat;
    store.log().into_iter().filter(|m| !seat.before_join(m)).map(|m| m.body.text).collect()
}

fn inbox(store: &Fixture) -> Vec<String> {
    let seat = stored(store).seat;
    let me = user_id!("@agent_scout:example.org");
    store.log().into_iter().filter(|m| seat.holds(m, me)).map(|m| m.body.text).collect()
}

#[test]
fn a_seat_begins_after_what_was_said_and_its_event_says_where_exactly() {
    let store = Fixture::new();
    store.says([1, 2]);
    let taken = take(&store);
    assert!(taken.provisional && taken.seat.present() && !taken.seat.opened && !taken.away);
    assert_eq!(taken, stored(&store));
    store.says([3]);
    assert_eq!(was_there(&store), ["m3"]);
    let confirmed = confirm(&store);
    assert!(!confirmed.provisional);
    assert_eq!(confirmed, stored(&store));
    assert!(was_there(&store).is_empty(), "3 came before the join's event, so it was said before");
    store.says([4]);
    assert_eq!(was_there(&store), ["m4"]);
}

/// The homeserver can be seconds behind with its transactions, and the agent waits already.
#[test]
fn what_came_before_the_joins_event_stays_in_the_inbox_as_context() {
    let store = Fixture::new();
    store.says([1, 2]);
    take(&store);
    store.write(|tx| tx.seat_opened(SCOUT_KEY, ROOM, None, false));
    store.says([3, 4]);
    assert_eq!(inbox(&store), ["m3", "m4"]);
    let confirmed = confirm(&store);
    assert_eq!(confirmed, stored(&store));
    assert!(was_there(&store).is_empty());
    assert_eq!(inbox(&store), ["m3", "m4"]);
    store.says([5]);
    let up_to = store.log().into_iter().find(|m| m.body.text == "m4").unwrap().seq;
    store.write(move |tx| tx.acknowledge(SCOUT_KEY, Ack { up_to, room: None }));
    assert_eq!(inbox(&store), ["m5"]);
}

#[test]
fn what_was_acknowledged_before_the_joins_event_came_is_not_context() {
    let store = Fixture::new();
    take(&store);
    store.write(|tx| tx.seat_opened(SCOUT_KEY, ROOM, None, false));
    store.says([1]);
    let up_to = store.log()[0].seq;
    store.write(move |tx| tx.acknowledge(SCOUT_KEY, Ack { up_to, room: None }));
    store.says([2]);
    confirm(&store);
    assert_eq!(inbox(&store), ["m2"]);
}

#[test]
fn once_confirmed_nothing_moves_it() {
    let store = Fixture::new();
    store.says([1]);
    let first = confirm(&store);
    store.says([2]);
    assert_eq!(confirm(&store), first);
    assert_eq!(take(&store), first);
}

/// Their echoes come after the join's event, so that is what they were said after.
#[test]
fn what_is_known_from_answers_alone_comes_after_a_join_and_after_a_leave() {
    let store = Fixture::new();
    store.says([1]);
    store.append(answered(2));
    confirm(&store);
    assert_eq!(was_there(&store), ["m2"]);
    store.append(echo(2));
    store.append(answered(3));
    leave(&store, false);
    assert_eq!(was_there(&store), ["m2"]);
    store.append(echo(3));
    assert_eq!(was_there(&store), ["m2"]);
    assert_eq!(periods(&stored(&store).seat), [(1, Some(2))]);
}

#[test]
fn what_was_echoed_before_a_join_stays_before_it() {
    let store = Fixture::new();
    store.append(answered(1));
    store.append(echo(1));
    store.append(answered(2));
    take(&store);
    store.append(echo(2));
    confirm(&store);
    assert!(was_there(&store).is_empty());
}

#[test]
fn out_and_in_again_makes_two_stays_and_a_first_wait_each() {
    let store = Fixture::new();
    store.says([1]);
    confirm(&store);
    store.write(|tx| tx.seat_opened(SCOUT_KEY, ROOM, None, false));
    store.says([2]);
    let left = leave(&store, true).unwrap();
    assert!(left.away && !left.seat.present() && left.seat.opened);
    assert_eq!(left, stored(&store));
    assert_eq!(leave(&store, true), None, "not in");
    store.says([3]);
    let back = take(&store);
    assert!(!back.away && back.provisional && !back.seat.opened);
    assert_eq!(periods(&back.seat), [(1, Some(2)), (3, None)]);
    confirm(&store);
    store.says([4]);
    assert_eq!(was_there(&store), ["m2", "m4"]);
}

#[test]
fn somebody_taken_out_for_good_is_not_put_back() {
    let store = Fixture::new();
    confirm(&store);
    leave(&store, true);
    store.write(|tx| tx.seat_given_up(SCOUT_KEY, ROOM));
    assert!(!stored(&store).away);
    assert_eq!(store.write(|tx| tx.seat_left(OTHER_AGENT, ROOM, true)), None);
}

#[test]
fn leaving_before_the_joins_event_came_leaves_an_empty_stay() {
    let store = Fixture::new();
    store.says([1]);
    take(&store);
    let left = leave(&store, false).unwrap();
    assert!(!left.provisional && !left.seat.present());
    store.says([2]);
    assert!(was_there(&store).is_empty());
}

#[test]
fn stays_of_which_nothing_is_left_are_forgotten() {
    let store = Fixture::new();
    for n in 0..20 {
        confirm(&store);
        store.says([n]);
        leave(&store, true);
    }
    assert_eq!(periods(&stored(&store).seat).len(), 20);
    store.says(100..600);
    store.evict();
    let up_to = store.read(|r| r.evicted_through(ROOM));
    confirm(&store);
    assert_eq!(periods(&stored(&store).seat).len(), 21, "what was missed in them is still counted");
    let dropped = store.read(|r| r.dropped(SCOUT_KEY, &r.seats()?.remove(0).seat, Seq(i64::MAX), &[]));
    assert_eq!(dropped, 20);
    leave(&store, true);
    store.write(move |tx| tx.acknowledge(SCOUT_KEY, Ack { up_to, room: None }));
    assert_eq!(periods(&confirm(&store).seat), [(520, None)]);
}

fn cursors(store: &Fixture) -> Vec<(AgentKey, RoomKey, i64)> {
    store.read(|r| r.seats()).into_iter().map(|s| (s.agent, s.seat.room, s.seat.acked.0)).collect()
}

fn acknowledge(store: &Fixture, up_to: i64, room: Option<RoomKey>) {
    store.write(move |tx| tx.acknowledge(SCOUT_KEY, Ack { up_to: Seq(up_to), room }));
}

#[test]
fn cursors_move_forward_in_one_room_or_in_all_and_for_one_agent() {
    let store = Fixture::new();
    for (agent, room) in [(SCOUT_KEY, ROOM), (SCOUT_KEY, OTHER_ROOM), (OTHER_AGENT, ROOM)] {
        store.write(move |tx| tx.seat_confirmed(agent, room));
    }
    let expect = |one, two| {
        assert_eq!(
            cursors(&store),
            [(SCOUT_KEY, ROOM, one), (SCOUT_KEY, OTHER_ROOM, two), (OTHER_AGENT, ROOM, 0)]
        );
    };
    acknowledge(&store, 7, Some(OTHER_ROOM));
    expect(0, 7);
    acknowledge(&store, 5, None);
    expect(5, 7);
    acknowledge(&store, 4, Some(ROOM));
    expect(5, 7);
    acknowledge(&store, 9, Some(RoomKey(99)));
    expect(5, 7);
}

#[test]
fn a_stay_keeps_its_cursor_when_the_agent_comes_back() {
    let store = Fixture::new();
    confirm(&store);
    acknowledge(&store, 5, None);
    leave(&store, true);
    assert_eq!(take(&store).seat.acked, Seq(5));
    assert_eq!(stored(&store).seat.acked, Seq(5));
}

#[test]
fn context_has_a_cursor_that_the_acknowledgement_moves_as_the_domain_does() {
    let store = Fixture::new();
    confirm(&store);
    let context = Context { after: Seq(3), until: Seq(8) };
    store.write(move |tx| tx.seat_opened(SCOUT_KEY, ROOM, Some(context), true));
    assert_eq!(stored(&store).seat.context, Some(context));
    assert!(stored(&store).seat.opened);
    for up_to in [2, 5, 4, 20] {
        let ack = Ack { up_to: Seq(up_to), room: Some(ROOM) };
        let mut expected = stored(&store).seat;
        ack.apply(&mut expected);
        acknowledge(&store, up_to, Some(ROOM));
        assert_eq!(stored(&store).seat, expected, "{up_to}");
    }
    assert_eq!(stored(&store).seat.context, Some(Context { after: Seq(8), until: Seq(8) }));
}

#[test]
fn a_newcomers_cursor_spares_what_may_turn_out_to_come_after_its_join() {
    let store = Fixture::new();
    store.append(answered(0));
    store.says(1..=499);
    store.append(answered(500));
    store.fill_in(-3..=-1, Some(store.message(0).pos));
    store.evict();
    let seat = confirm(&store).seat;
    assert!(seat.acked < store.message(500).seq);
    assert_eq!(was_there(&store), ["m500"]);
}
