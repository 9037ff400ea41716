use std::sync::Arc;

use parlour_domain::{
    ids::{Pos, RoomKey},
    message::{Body, Message},
    seat::Seat,
    visibility::{Membership, Period, Visibility},
};
use ruma::UserId;

use super::fixture::{ADA, Fixture, OTHER_ROOM, ROOM, SCOUT, event, said};
use crate::{Edited, NewEdit};

/// Edit `n` of message `of`, made at `n` seconds.
fn edit(n: i64, of: i64, text: &str) -> NewEdit {
    NewEdit {
        room: ROOM,
        event_id: event(n),
        target: event(of),
        sender: UserId::parse(ADA).unwrap(),
        sent_at_ms: n * 1_000,
        content: "{}".into(),
        body: Body { text: text.into(), ..Body::default() },
        visibility: Visibility::Shared,
        encrypted: false,
    }
}

/// What the message reads like afterwards, where that was told.
fn takes(store: &Fixture, edit: NewEdit) -> Option<String> {
    let edited = store.write(move |tx| tx.edit(&edit, None));
    edited.map(|edited| wording(store, edited))
}

fn redacts(store: &Fixture, n: i64) -> Option<String> {
    let edited = store.write(move |tx| tx.redact_edit(&event(n)));
    edited.map(|edited| wording(store, edited))
}

fn wording(store: &Fixture, (seq, edits): Edited) -> String {
    let message = store.log().into_iter().find(|m| m.seq == seq).unwrap();
    assert_eq!(message.edits, edits, "told as it is stored");
    reads(message)
}

/// To somebody who may read all of it.
fn reads(message: Message) -> String {
    let ever = Period { membership: Membership::Joined, after: Pos(i64::MIN), until: None };
    Seat::new(message.room, ever).read(&Arc::new(message)).unwrap().body.text.clone()
}

fn texts(store: &Fixture) -> Vec<String> {
    store.log().into_iter().map(reads).collect()
}

fn one_message() -> Fixture {
    let store = Fixture::new();
    store.says([1]);
    store
}

#[test]
fn the_latest_edit_wins_whatever_the_order_of_arrival() {
    for order in [[2, 3, 4], [4, 3, 2], [3, 4, 2], [4, 2, 3]] {
        let store = one_message();
        let mut latest = 0;
        for n in order {
            latest = latest.max(n);
            let changed = takes(&store, edit(n, 1, &format!("edit {n}")));
            assert_eq!(changed, Some(format!("edit {latest}")), "{order:?} at {n}");
        }
        assert_eq!(texts(&store), ["edit 4"], "{order:?}");
    }
}

#[test]
fn of_two_at_the_same_time_the_greater_event_id_wins() {
    for order in [[2, 3], [3, 2]] {
        let store = one_message();
        for n in order {
            takes(&store, NewEdit { sent_at_ms: 9_000, ..edit(n, 1, &format!("edit {n}")) });
        }
        assert_eq!(texts(&store), ["edit 3"], "{order:?}");
    }
}

#[test]
fn a_redacted_edit_gives_the_text_before_it_back() {
    let store = one_message();
    takes(&store, edit(2, 1, "second"));
    takes(&store, edit(3, 1, "third"));
    assert_eq!(redacts(&store, 2).as_deref(), Some("third"), "not the one that is shown");
    assert_eq!(texts(&store), ["third"]);
    assert_eq!(redacts(&store, 3).as_deref(), Some("m1"));
    assert_eq!(redacts(&store, 3), None);
    assert_eq!(texts(&store), ["m1"]);
    assert_eq!(takes(&store, edit(4, 1, "fourth")).as_deref(), Some("fourth"));
    assert_eq!(redacts(&store, 4).as_deref(), Some("m1"));
}

#[test]
fn somebody_elses_edit_changes_nothing() {
    let store = one_message();
    let foreign = NewEdit { sender: UserId::parse(SCOUT).unwrap(), ..edit(2, 1, "foreign") };
    assert_eq!(takes(&store, foreign), None);
    assert_eq!(texts(&store), ["m1"]);
    assert!(!store.read(|r| r.had(&event(2))));
    assert_eq!(takes(&store, NewEdit { room: OTHER_ROOM, ..edit(3, 1, "from elsewhere") }), None);
    assert_eq!(texts(&store), ["m1"]);
}

#[test]
fn what_was_said_encrypted_is_not_reworded_in_clear() {
    let store = Fixture::new();
    assert_eq!(takes(&store, edit(2, 1, "in clear, too early")), None);
    store.append(crate::NewEntry { encrypted: true, ..said(1) });
    assert_eq!(takes(&store, edit(3, 1, "in clear")), None);
    assert_eq!(texts(&store), ["m1"]);
    let sealed = NewEdit { encrypted: true, ..edit(4, 1, "sealed") };
    assert_eq!(takes(&store, sealed).as_deref(), Some("sealed"));
}

/// Whatever comes first: message, edits, somebody else's edit, and a deletion of one of them.
#[test]
fn an_edit_that_comes_before_its_message_counts() {
    let store = Fixture::new();
    assert_eq!(takes(&store, edit(3, 1, "third")), None);
    assert_eq!(
        takes(&store, NewEdit { sender: UserId::parse(SCOUT).unwrap(), ..edit(5, 1, "foreign") }),
        None
    );
    assert_eq!(takes(&store, edit(4, 1, "fourth")), None);
    assert!(store.read(|r| r.had(&event(3))));
    assert_eq!(redacts(&store, 4), None);
    let store = store.reopened();
    store.says([1]);
    assert_eq!(texts(&store), ["third"]);
    assert_eq!(redacts(&store, 3).as_deref(), Some("m1"));
}

#[test]
fn a_deletion_that_comes_first_counts_for_its_senders_own_alone() {
    let store = Fixture::new();
    let retracts = |n, by, room: RoomKey| {
        let by = UserId::parse(by).unwrap();
        store.write(move |tx| tx.retract(room, &event(n), &by));
    };
    retracts(1, SCOUT, ROOM);
    retracts(1, ADA, OTHER_ROOM);
    retracts(2, ADA, ROOM);
    retracts(3, ADA, ROOM);
    store.append(said(1));
    store.append(said(2));
    assert_eq!(store.order(), [1]);
    assert_eq!(takes(&store, edit(3, 1, "taken back")), None);
    assert_eq!(texts(&store), ["m1"]);
}

#[test]
fn the_newest_ten_edits_of_a_message_are_kept() {
    let store = one_message();
    for n in 2..=30 {
        assert_eq!(takes(&store, edit(n, 1, &format!("edit {n}"))), Some(format!("edit {n}")));
    }
    let kept: Vec<_> = store.message(1).edits.into_iter().map(|e| e.text).collect();
    assert_eq!(kept, (21..=30).map(|n| format!("edit {n}")).collect::<Vec<_>>());
}

#[test]
fn edits_of_nothing_do_not_pile_up() {
    let store = Fixture::new();
    store.write(|tx| (0..600).try_for_each(|n| tx.edit(&edit(n, 10_000 + n, "of nothing"), None).map(drop)));
    assert_eq!(edits(&store), 500);
    store.says(1_000..=1_500);
    store.evict();
    assert_eq!(edits(&store), 0, "their messages would not be kept any more");
}

fn edits(store: &Fixture) -> i64 {
    store.write(|tx| Ok(tx.0.query_row("SELECT count(*) FROM edits", [], |row| row.get(0))?))
}

#[test]
fn an_edit_is_taken_once_and_not_after_its_redaction() {
    let store = one_message();
    assert!(takes(&store, edit(2, 1, "second")).is_some());
    assert_eq!(takes(&store, edit(2, 1, "second")), None);
    assert!(store.read(|r| r.had(&event(2))));
    redacts(&store, 2);
    assert_eq!(takes(&store, edit(2, 1, "second")), None);
    redacts(&store, 3);
    assert_eq!(takes(&store, edit(3, 1, "redacted before it came")), None);
    let store = store.reopened();
    assert_eq!(takes(&store, edit(2, 1, "second")), None);
    assert_eq!(texts(&store), ["m1"]);
}

#[test]
fn an_edit_of_what_is_not_kept_is_none() {
    let store = one_message();
    assert_eq!(takes(&store, edit(3, 2, "of nothing")), None);
    takes(&store, edit(4, 1, "fourth"));
    store.write(|tx| tx.redact(&event(1)));
    assert_eq!(takes(&store, edit(5, 1, "of a redacted one")), None);
    assert_eq!(redacts(&store, 4), None, "went with its message");
    assert!(store.order().is_empty());
}

#[test]
fn an_edit_changes_the_text_and_nothing_about_whom_it_addresses() {
    let store = Fixture::new();
    let mut entry = super::fixture::said(1);
    entry.body.mentions = vec![UserId::parse(SCOUT).unwrap()];
    entry.body.reply_to = Some(event(77));
    store.append(entry.clone());
    let mut new = edit(2, 1, "new");
    new.body.attachment_name = Some("a.png".into());
    new.body.mentions_everyone = true;
    store.write(move |tx| tx.edit(&new, None));
    let message = store.message(1);
    assert_eq!(message.body, entry.body);
    let attachment_name = Some("a.png".into());
    let expected = Body { text: "new".into(), attachment_name, edited: true, ..entry.body };
    assert_eq!(message.worded(&message.edits[0]).body, expected);
}

#[test]
fn who_wrote_what_is_known_of_messages_and_edits() {
    let store = one_message();
    takes(&store, edit(2, 1, "second"));
    let author = |n| store.write(move |tx| tx.author_of(&event(n)));
    assert_eq!(author(1).as_deref(), Some(ADA));
    assert_eq!(author(2).as_deref(), Some(ADA));
    assert_eq!(author(3), None);
    let room = |n| store.write(move |tx| tx.room_of(&event(n)));
    assert_eq!((room(1).is_some(), room(2)), (true, room(1)));
    assert_eq!(room(3), None);
}

#[test]
fn an_edited_message_that_leaves_the_log_takes_its_edits_along() {
    let store = one_message();
    takes(&store, edit(9_000, 1, "edited"));
    store.says(2..=501);
    assert_eq!(store.evict().len(), 1);
    assert_eq!(edits(&store), 0);
}
