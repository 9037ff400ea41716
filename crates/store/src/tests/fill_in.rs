use parlour_domain::{ids::Pos, seat::Seat};

use super::fixture::{Fixture, ROOM, SCOUT_KEY, answered, event};

#[test]
fn between_two_messages() {
    let store = Fixture::new();
    store.says([1, 5]);
    let added = store.fill_in(2..=4, Some(store.message(5).pos));
    assert_eq!(store.order(), [1, 2, 3, 4, 5]);
    assert_eq!(added.iter().map(|m| m.seq).collect::<Vec<_>>(), {
        let mut seqs: Vec<_> = (2..=4).map(|n| store.message(n).seq).collect();
        seqs.sort();
        seqs
    });
    assert!(added[0].seq > store.message(5).seq, "they arrived later");
    assert_eq!(added[1], store.message(3));
}

#[test]
fn before_everything_and_at_the_end() {
    let store = Fixture::new();
    store.says([5]);
    store.fill_in(1..=2, Some(store.message(5).pos));
    store.fill_in(-3..=-1, Some(store.message(1).pos));
    store.fill_in(6..=7, None);
    store.says([8]);
    assert_eq!(store.order(), [-3, -2, -1, 1, 2, 5, 6, 7, 8]);
}

#[test]
fn nothing_and_into_an_empty_log() {
    let store = Fixture::new();
    assert!(store.fill_in([], None).is_empty());
    assert_eq!(store.fill_in(1..=3, None).len(), 3);
    store.says([4]);
    assert!(store.fill_in([], Some(store.message(2).pos)).is_empty());
    assert_eq!(store.order(), [1, 2, 3, 4]);
}

#[test]
fn known_ones_stay_and_what_stood_between_them_goes_there() {
    let store = Fixture::new();
    store.says([2, 4, 6, 9]);
    store.write(|tx| tx.redact(&event(4)));
    let added = store.fill_in(1..=8, Some(store.message(9).pos));
    assert_eq!(added.len(), 5, "neither 2 nor 6, and not 4, which was redacted");
    assert_eq!(store.order(), [1, 2, 3, 5, 6, 7, 8, 9]);
    assert!(store.fill_in(1..=8, Some(store.message(9).pos)).is_empty());
}

#[test]
fn a_known_one_that_stands_later_does_not_draw_the_others_there() {
    let store = Fixture::new();
    store.says([1, 5, 9]);
    store.fill_in([2, 9, 3], Some(store.message(5).pos));
    assert_eq!(store.order(), [1, 2, 3, 5, 9]);
}

#[test]
fn an_own_message_whose_echo_was_missed_keeps_what_came_before_it_before_it() {
    let store = Fixture::new();
    store.says([1]);
    store.append(answered(3));
    store.says([4]);
    store.fill_in([2, 3], Some(store.message(4).pos));
    assert_eq!(store.order(), [1, 2, 3, 4]);
}

#[test]
fn the_same_event_twice_in_what_is_filled_in_is_taken_once() {
    let store = Fixture::new();
    store.says([9]);
    assert_eq!(store.fill_in([1, 2, 1, 2], Some(store.message(9).pos)).len(), 2);
    assert_eq!(store.order(), [1, 2, 9]);
}

#[test]
fn what_has_left_the_log_stays_out() {
    let store = Fixture::new();
    store.says(1..=503);
    store.evict();
    assert!(store.fill_in(1..=3, Some(store.message(4).pos)).is_empty());
}

#[test]
fn five_hundred_fit_into_one_gap_and_again_into_a_gap_of_theirs() {
    let store = Fixture::new();
    store.says([0, 10_000]);
    store.fill_in(1_000..1_500, Some(store.message(10_000).pos));
    let moved: Vec<_> = store.log().iter().map(|m| m.pos).collect();
    store.fill_in(100..600, Some(store.message(1_000).pos));
    let log = store.log();
    let expected: Vec<i64> = [0].into_iter().chain(100..600).chain(1_000..1_500).chain([10_000]).collect();
    assert_eq!(store.order(), expected);
    assert!(moved.iter().all(|pos| log.iter().any(|m| m.pos == *pos)), "nothing had to move");
}

#[test]
fn history_paged_through_backwards_fits_page_by_page() {
    let store = Fixture::new();
    store.says([0, 1_000]);
    let first = store.message(0).pos;
    for page in (0..10).rev() {
        let before = store.log()[1].pos;
        store.fill_in(page * 100 + 1..=page * 100 + 99, Some(before));
    }
    let expected: Vec<i64> = (0..=1_000).filter(|n| *n == 0 || *n == 1_000 || n % 100 != 0).collect();
    assert_eq!(store.order(), expected);
    assert_eq!(store.message(0).pos, first, "nothing had to move");
}

/// Ever smaller gaps: at last the older messages are moved down, and with them what is counted by places.
#[test]
fn a_gap_that_is_used_up_is_made_wider() {
    let store = Fixture::new();
    store.says([0]);
    store.write(|tx| tx.seat_confirmed(SCOUT_KEY, ROOM));
    store.says([1, 100_000]);
    store.write(|tx| tx.seat_left(SCOUT_KEY, ROOM, false));
    let was_in = |store: &Fixture| {
        let seat: Seat = store.read(|r| r.seats()).remove(0).seat;
        store.log().iter().filter(|m| !seat.before_join(m)).map(|m| m.body.text.clone()).collect::<Vec<_>>()
    };
    let mut from = 100_000;
    let mut moved = false;
    for _ in 0..6 {
        let first = store.message(0).pos;
        from -= 400;
        // between 1 and what was filled in last, so the gap halves each time, and then some
        let before = store.log()[2].pos;
        store.fill_in(from..from + 400, Some(before));
        let narrow = store.log()[3].pos;
        store.fill_in([from + 1_000_000], Some(narrow));
        moved |= store.message(0).pos != first;
    }
    assert!(store.order().starts_with(&[0, 1]));
    assert_eq!(store.log().len(), 3 + 6 * 401);
    assert_eq!(was_in(&store)[0], "m1");
    for _ in 0..40 {
        let before = store.log()[2].pos;
        from -= 1;
        store.fill_in([from], Some(before));
        moved |= store.log()[0].pos < Pos(0);
    }
    assert!(moved, "the test is about gaps that are used up");
    assert_eq!(&store.order()[..4], [0, 1, from, from + 1]);
    assert_eq!(was_in(&store).len(), 2 + 6 * 401 + 40, "all but the one before the join");
}
