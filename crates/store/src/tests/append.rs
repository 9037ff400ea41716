use parlour_domain::{ids::Pos, message::Body, visibility::Visibility};

use super::fixture::{Fixture, OTHER_ROOM, ROOM, answered, echo, event, said};
use crate::{Appended, NewEntry};

fn new(appended: Appended) -> parlour_domain::message::Message {
    match appended {
        Appended::New(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_appended_is_what_is_read() {
    let store = Fixture::new();
    let mut entry = said(2);
    entry.body = Body {
        attachment_name: Some("a.png".into()),
        mentions: vec!["@bob:x".try_into().unwrap()],
        mentions_everyone: true,
        reply_to: Some(event(1)),
        thread: Some(event(1)),
        ..entry.body
    };
    entry.visibility = Visibility::Joined;
    store.says([1]);
    let message = new(store.append(entry.clone()));
    assert_eq!(message.body, entry.body);
    assert_eq!(message.replied.as_ref().map(|r| r.sender.as_str()), Some("@ada:x"));
    assert_eq!(store.message(2), message);
    let first = store.message(1);
    assert!(first.seq < message.seq);
    assert_eq!(message.pos.0 - first.pos.0, Pos::STEP);
}

#[test]
fn an_event_is_taken_once() {
    let store = Fixture::new();
    store.says([1, 2]);
    assert_eq!(store.append(said(1)), Appended::Known);
    // neither does one whose room is another
    assert_eq!(store.append(NewEntry { room: OTHER_ROOM, ..said(2) }), Appended::Known);
    assert_eq!(store.order(), [1, 2]);
}

#[test]
fn the_answer_and_then_the_echo_make_one_message_with_the_homeservers_time() {
    let store = Fixture::new();
    store.says([1]);
    let own = new(store.append(answered(2)));
    assert_eq!(own.sent_at_ms, 1_993);
    let confirmed = Appended::Confirmed { seq: own.seq, pos: own.pos, sent_at_ms: 2_000 };
    assert_eq!(store.append(echo(2)), confirmed);
    assert_eq!(store.message(2), parlour_domain::message::Message { sent_at_ms: 2_000, ..own });
    assert_eq!(store.append(echo(2)), Appended::Known);
    assert_eq!(store.append(answered(2)), Appended::Known);
}

#[test]
fn the_echo_and_then_the_answer_make_one_message() {
    let store = Fixture::new();
    let own = new(store.append(echo(1)));
    assert_eq!(store.append(answered(1)), Appended::Known);
    assert_eq!(store.message(1), own);
}

#[test]
fn an_own_message_that_others_overtook_goes_behind_them() {
    let store = Fixture::new();
    let own = new(store.append(answered(1)));
    store.says([2, 3]);
    assert_eq!(store.order(), [1, 2, 3]);
    let Appended::Confirmed { seq, pos, .. } = store.append(echo(1)) else { panic!("confirmed") };
    assert_eq!(store.order(), [2, 3, 1]);
    assert_eq!((seq, store.message(1).pos), (own.seq, pos));
    store.says([4]);
    assert_eq!(store.order(), [2, 3, 1, 4]);
}

#[test]
fn own_messages_whose_echoes_come_in_turn_do_not_move() {
    let store = Fixture::new();
    (1..=3).for_each(|n| drop(store.append(answered(n))));
    let before: Vec<Pos> = store.log().iter().map(|m| m.pos).collect();
    (1..=3).for_each(|n| drop(store.append(echo(n))));
    assert_eq!(store.log().iter().map(|m| m.pos).collect::<Vec<_>>(), before);
    (4..=5).for_each(|n| drop(store.append(answered(n))));
    [5, 4].into_iter().for_each(|n| drop(store.append(echo(n))));
    assert_eq!(store.order(), [1, 2, 3, 5, 4]);
}

#[test]
fn the_order_goes_on_after_the_log_was_emptied() {
    let store = Fixture::new();
    store.says([1, 2]);
    let last = store.message(2);
    store.write(|tx| Ok((tx.redact(&event(1))?, tx.redact(&event(2))?)));
    let store = store.reopened();
    assert!(store.order().is_empty());
    store.says([3]);
    let next = store.message(3);
    assert!(next.pos > last.pos && next.seq > last.seq);
}

#[test]
fn rooms_have_their_own_order_and_one_sequence() {
    let store = Fixture::new();
    store.says([1]);
    let elsewhere = new(store.append(NewEntry { room: OTHER_ROOM, ..said(2) }));
    let here = new(store.append(said(3)));
    assert_eq!(elsewhere.pos, Pos(Pos::STEP));
    assert_eq!(here.pos, Pos(2 * Pos::STEP));
    assert!(elsewhere.seq < here.seq);
}

#[test]
fn a_reply_across_rooms_tells_nothing_of_what_it_answers() {
    let store = Fixture::new();
    store.append(NewEntry { room: OTHER_ROOM, ..said(1) });
    let mut reply = said(2);
    reply.body.reply_to = Some(event(1));
    assert_eq!(new(store.append(reply)).replied, None);
}

#[test]
fn a_room_that_is_not_there_is_an_error() {
    let store = Fixture::new();
    let entry = NewEntry { room: parlour_domain::ids::RoomKey(99), ..said(1) };
    assert!(store.try_write(move |tx| tx.append(entry)).is_err());
    assert!(store.read(|r| r.room_log(ROOM)).is_empty());
}

#[test]
fn what_was_had_is_known_wherever_it_went() {
    let store = Fixture::new();
    store.says(1..=502);
    store.evict();
    store.write(|tx| tx.redact(&event(400)));
    let had = |n| store.read(move |r| r.had(&event(n)));
    assert!(had(1) && had(502) && had(400) && !had(503));
    let edge = |newest| store.read(move |r| r.edge(ROOM, newest)).unwrap().1;
    assert_eq!((edge(false), edge(true)), (event(3), event(502)));
    assert_eq!(store.read(|r| r.edge(OTHER_ROOM, true)), None);
}
