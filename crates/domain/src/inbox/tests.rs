//! Contract section 5, rules 6 to 10, as tables. An inbox is drawn as one letter per entry, oldest first: `w` wakes,
//! `a` is by somebody waited for, `.` is neither. Of an answer, `^` is given and `W` is given and named as waking.

use rstest::rstest;

use super::*;
use crate::{
    ids::Pos,
    message::samples::{ADA, BOB, said},
    room::RoomKind,
    visibility::{Membership, Period},
    wake::Rule,
};

const ME: &str = "@agent_me:x";

fn user(id: &str) -> OwnedUserId {
    UserId::parse(id).unwrap()
}

fn inbox(drawn: &str) -> Vec<Entry> {
    let entry = |(n, letter): (i64, char)| {
        let message = Arc::new(said(n, if letter == 'a' { BOB } else { ADA }));
        let arrival = message.seq;
        Entry { message, arrival, wakes: letter == 'w', awaited: letter == 'a', beyond: false }
    };
    (1..).zip(drawn.chars()).map(entry).collect()
}

fn terms(limit: usize) -> Terms {
    let watch = Watch::default();
    Terms {
        wait_ms: 30_000,
        limit,
        settle_ms: 5_000,
        digest_ms: None,
        watch,
        mentions_only: false,
        room: None,
    }
}

fn draw(len: usize, handout: &Handout) -> String {
    let letter = |i: usize| match (handout.given.contains(&i), handout.woke.contains(&i)) {
        (true, true) => 'W',
        (true, false) => '^',
        (false, woke) => {
            assert!(!woke, "{i} woke but is not given");
            '-'
        }
    };
    (0..len).map(letter).collect()
}

fn check(handout: &Handout, len: usize, expected: &str, left_out: (usize, usize)) {
    assert!(handout.given.is_sorted(), "oldest first: {handout:?}");
    assert_eq!(draw(len, handout), expected);
    assert_eq!((handout.skipped, handout.remaining), left_out, "skipped and remaining");
}

use Reason::{Admitted, AllReplied, Digest, Knocks, Messages, Superseded, Timeout};

#[rstest]
#[case::all_if_they_fit(5, Messages, "..w.w", "^^W^W", (0, 0))]
#[case::the_newest_beside_what_woke(3, Messages, "..w...", "--W-^^", (3, 0))]
#[case::a_waking_one_is_never_pushed_out(1, Messages, "w.....", "W-----", (0, 5))]
#[case::the_newest_if_one_woke_long_ago(2, Messages, "w.....", "W----^", (4, 0))]
#[case::the_earliest_if_too_many_woke(2, Messages, ".w.w.w.", "-W-W---", (2, 3))]
#[case::as_many_woke_as_fit(3, Messages, ".w.w.w.", "-W-W-W-", (3, 1))]
#[case::skipped_are_before_the_last_given_and_remaining_after(2, Messages, "..ww..ww", "--WW----", (2, 4))]
#[case::those_waited_for_do_not_push_out_what_woke(2, Messages, "aaaw.", "---W^", (3, 0))]
#[case::those_waited_for_woke_nobody_alone(5, Messages, "a.w", "^^W", (0, 0))]
#[case::all_of_them_woke_together(3, AllReplied, ".a.w.a.", "-W-W-W-", (3, 1))]
#[case::all_replied_and_the_rest(9, AllReplied, ".a.a.", "^W^W^", (0, 0))]
#[case::a_digest_is_all_and_names_none(9, Digest, "...", "^^^", (0, 0))]
#[case::a_digest_that_does_not_fit_is_the_newest(2, Digest, "....", "--^^", (2, 0))]
#[case::a_digest_first_gives_those_waited_for(2, Digest, "a...", "^--^", (2, 0))]
#[case::a_knock_gives_nothing(9, Knocks, "...", "---", (0, 3))]
#[case::a_knock_leaves_those_waited_for(9, Knocks, "a..", "---", (0, 3))]
#[case::a_timeout_gives_nothing(9, Timeout, "...", "---", (0, 3))]
#[case::a_timeout_gives_what_the_waited_for_said(9, Timeout, "..a.a.", "--^-^-", (3, 1))]
#[case::and_of_that_the_earliest(1, Timeout, "..a.a.", "--^---", (2, 3))]
#[case::superseded_gives_nothing(9, Superseded, "w.a", "---", (0, 3))]
#[case::admission_gives_nothing(9, Admitted, "w.a", "---", (0, 3))]
#[case::an_empty_inbox_is_empty(9, Messages, "", "", (0, 0))]
fn a_wait_gives(
    #[case] limit: usize,
    #[case] reason: Reason,
    #[case] drawn: &str,
    #[case] expected: &str,
    #[case] left_out: (usize, usize),
) {
    check(&hand_out(&terms(limit), reason, false, &inbox(drawn)), drawn.len(), expected, left_out);
}

#[rstest]
#[case::everything(9, Timeout, "..a.", "^^^^", (0, 0))]
#[case::the_newest_of_too_much(2, Timeout, "....", "--^^", (2, 0))]
#[case::everything_and_names_what_woke(9, Messages, ".w.", "^W^", (0, 0))]
#[case::everything_beside_a_knock(9, Knocks, "...", "^^^", (0, 0))]
#[case::nothing_when_superseded(9, Superseded, "w..", "---", (0, 3))]
#[case::nothing_when_admitted(9, Admitted, "w..", "---", (0, 3))]
fn a_look_gives(
    #[case] limit: usize,
    #[case] reason: Reason,
    #[case] drawn: &str,
    #[case] expected: &str,
    #[case] left_out: (usize, usize),
) {
    check(&hand_out(&terms(limit), reason, true, &inbox(drawn)), drawn.len(), expected, left_out);
}

#[rstest]
#[case::only_what_wakes(9, Messages, false, ".w..w.", "-W--W-", (3, 1))]
#[case::the_earliest_of_too_many(1, Messages, false, ".w..w.", "-W----", (1, 4))]
#[case::no_chat_to_fill_up(2, Messages, false, ".w....", "-W----", (1, 4))]
#[case::a_look_without_a_mention_gives_nothing(9, Timeout, true, "...", "---", (0, 3))]
#[case::a_look_with_one_gives_that(9, Messages, true, "..w.", "--W-", (2, 1))]
#[case::a_knock_gives_nothing(9, Knocks, false, "...", "---", (0, 3))]
fn mentions_only_gives(
    #[case] limit: usize,
    #[case] reason: Reason,
    #[case] look: bool,
    #[case] drawn: &str,
    #[case] expected: &str,
    #[case] left_out: (usize, usize),
) {
    let terms = Terms { mentions_only: true, ..terms(limit) };
    check(&hand_out(&terms, reason, look, &inbox(drawn)), drawn.len(), expected, left_out);
}

#[rstest]
#[case::at_the_deadline(Timeout, "..a", &[ADA])]
#[case::when_nobody_spoke(Timeout, "...", &[ADA, BOB])]
#[case::when_another_woke(Messages, "w.a", &[ADA])]
#[case::at_a_knock(Knocks, "...", &[ADA, BOB])]
#[case::but_not_when_superseded(Superseded, "...", &[])]
fn missing_is_told(#[case] reason: Reason, #[case] drawn: &str, #[case] expected: &[&str]) {
    let watch = Watch { wait_for: [user(ADA), user(BOB)].into(), ..Watch::default() };
    let handout = hand_out(&Terms { watch, ..terms(9) }, reason, false, &inbox(drawn));
    assert_eq!(handout.missing, expected.iter().map(|u| user(u)).collect());
}

/// In room 1 from after message `after` on.
fn seat(after: i64) -> Seat {
    let joined = Period { membership: Membership::Joined, after: Pos(after), until: None };
    Seat::new(RoomKey(1), joined)
}

fn log(n: i64) -> Vec<Message> {
    (1..=n).map(|n| said(n, ADA)).collect()
}

fn held(seat: &Seat, log: &[Message]) -> Vec<i64> {
    log.iter().filter(|m| seat.holds(m, &user(ME))).map(|m| m.seq.0).collect()
}

fn leave_and_return(seat: &mut Seat, left: i64, back: i64) {
    seat.periods.last_mut().unwrap().until = Some(Pos(left));
    seat.periods.push(Period { membership: Membership::Joined, after: Pos(back), until: None });
    seat.opened = false;
}

#[rstest]
#[case::what_is_in_the_inbox(said(5, ADA), None, true)]
#[case::in_its_own_room_alone(said(5, ADA), Some(RoomKey(1)), true)]
#[case::but_not_in_another(said(5, ADA), Some(RoomKey(2)), false)]
#[case::not_what_i_said(said(5, ME), None, false)]
#[case::not_what_is_acknowledged(said(3, ADA), None, false)]
#[case::not_what_was_said_before_i_came(said(1, ADA), None, false)]
fn an_ack_takes(#[case] message: Message, #[case] room: Option<RoomKey>, #[case] taken: bool) {
    let seat = Seat { acked: Seq(3), ..seat(2) };
    let expected = taken.then_some(Ack { up_to: message.seq, room });
    assert_eq!(acknowledge(&message, &seat, room, &user(ME)), expected);
}

#[rstest]
#[case::all_rooms(None, Seq(5), Seq(5))]
#[case::this_room(Some(RoomKey(1)), Seq(5), Seq(5))]
#[case::another_room(Some(RoomKey(2)), Seq(5), Seq(3))]
#[case::an_older_message(None, Seq(2), Seq(3))]
fn an_ack_moves_cursors_forward_only(#[case] room: Option<RoomKey>, #[case] up_to: Seq, #[case] acked: Seq) {
    let mut seat = Seat { acked: Seq(3), ..seat(0) };
    Ack { up_to, room }.apply(&mut seat);
    assert_eq!(seat.acked, acked);
}

#[test]
fn an_ack_takes_what_arrived_up_to_it_and_skipped_ones_with_it() {
    let (log, mut seat) = (log(9), seat(0));
    let ack = acknowledge(&log[5], &seat, None, &user(ME)).unwrap();
    ack.apply(&mut seat);
    assert_eq!(held(&seat, &log), [7, 8, 9]);
    assert_eq!(acknowledge(&log[5], &seat, None, &user(ME)), None, "once is enough");
}

#[test]
fn context_is_acknowledged_like_the_rest() {
    let (log, mut seat) = (log(9), seat(6));
    seat.open(log.iter(), &user(ME));
    assert_eq!(held(&seat, &log), (1..=9).collect::<Vec<_>>(), "repeated until acknowledged");
    acknowledge(&log[2], &seat, None, &user(ME)).unwrap().apply(&mut seat);
    assert_eq!(held(&seat, &log), (4..=9).collect::<Vec<_>>());
    acknowledge(&log[7], &seat, None, &user(ME)).unwrap().apply(&mut seat);
    assert_eq!(held(&seat, &log), [9]);
}

#[test]
fn an_ack_elsewhere_does_not_take_the_context_of_a_room_not_yet_opened() {
    let (log, mut seat) = (log(6), seat(6));
    Ack { up_to: Seq(50), room: None }.apply(&mut seat);
    seat.open(log.iter(), &user(ME));
    assert_eq!(held(&seat, &log), (1..=6).collect::<Vec<_>>());
    Ack { up_to: Seq(51), room: None }.apply(&mut seat);
    assert_eq!(held(&seat, &log), [0; 0]);
}

#[test]
fn what_was_said_while_away_is_context_whatever_was_acknowledged_meanwhile() {
    let (log, mut seat) = (log(9), seat(2));
    seat.open(log.iter().take(3), &user(ME));
    Ack { up_to: Seq(3), room: None }.apply(&mut seat);
    leave_and_return(&mut seat, 3, 8);
    Ack { up_to: Seq(50), room: None }.apply(&mut seat);
    seat.open(log.iter(), &user(ME));
    assert_eq!(
        held(&seat, &log),
        [4, 5, 6, 7, 8],
        "not again the context and the messages acknowledged before"
    );
}

#[test]
fn returning_before_anything_more_is_said_gives_nothing_again() {
    let (log, mut seat) = (log(5), seat(2));
    seat.open(log.iter(), &user(ME));
    Ack { up_to: Seq(5), room: None }.apply(&mut seat);
    leave_and_return(&mut seat, 5, 5);
    seat.open(log.iter(), &user(ME));
    assert_eq!(held(&seat, &log), [0; 0]);
}

#[test]
fn context_never_wakes_and_is_nobodys_word() {
    let me = user(ME);
    let watch = Watch { rule: Rule::All, ..Watch::default() };
    let waiting = Watch { wait_for: [user(ADA)].into(), ..Watch::default() };
    let setting = Setting { kind: RoomKind::Lobby, of_two: false, max_hops: 8 };
    let entry =
        |n, watch| Entry::new(Arc::new(said(n, ADA).mentioning(&[ME])), &seat(2), watch, &me, setting);
    assert!(!entry(2, &watch).wakes && entry(3, &watch).wakes);
    assert!(!entry(2, &waiting).awaited && entry(3, &waiting).awaited && !entry(3, &waiting).wakes);
}
