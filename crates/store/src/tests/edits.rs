use parlour_domain::message::Body;
use ruma::UserId;

use super::fixture::{ADA, Fixture, SCOUT, event};
use crate::NewEdit;

/// Edit `n` of message `of`, made at `n` seconds.
fn edit(n: i64, of: i64, text: &str) -> NewEdit {
    NewEdit {
        event_id: event(n),
        target: event(of),
        sender: UserId::parse(ADA).unwrap(),
        sent_at_ms: n * 1_000,
        content: "{}".into(),
        body: Body { text: text.into(), ..Body::default() },
    }
}

fn takes(store: &Fixture, edit: NewEdit) -> Option<String> {
    store.write(move |tx| tx.edit(&edit)).map(|(_, body)| body.text)
}

fn redacts(store: &Fixture, n: i64) -> Option<String> {
    store.write(move |tx| tx.redact_edit(&event(n))).map(|(_, body)| body.text)
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
            let changed = takes(&store, edit(n, 1, &format!("edit {n}")));
            assert_eq!(changed, (n > latest).then(|| format!("edit {n}")), "{order:?} at {n}");
            latest = latest.max(n);
        }
        assert_eq!(store.texts(), ["edit 4"], "{order:?}");
    }
}

#[test]
fn of_two_at_the_same_time_the_greater_event_id_wins() {
    for order in [[2, 3], [3, 2]] {
        let store = one_message();
        for n in order {
            takes(&store, NewEdit { sent_at_ms: 9_000, ..edit(n, 1, &format!("edit {n}")) });
        }
        assert_eq!(store.texts(), ["edit 3"], "{order:?}");
    }
}

#[test]
fn a_redacted_edit_gives_the_text_before_it_back() {
    let store = one_message();
    takes(&store, edit(2, 1, "second"));
    takes(&store, edit(3, 1, "third"));
    assert_eq!(redacts(&store, 2), None, "not the one that is shown");
    assert_eq!(store.texts(), ["third"]);
    assert_eq!(redacts(&store, 3).as_deref(), Some("m1"));
    assert_eq!(redacts(&store, 3), None);
    assert_eq!(store.texts(), ["m1"]);
    assert_eq!(takes(&store, edit(4, 1, "fourth")).as_deref(), Some("fourth"));
    assert_eq!(redacts(&store, 4).as_deref(), Some("m1"));
}

#[test]
fn somebody_elses_edit_changes_nothing() {
    let store = one_message();
    let foreign = NewEdit { sender: UserId::parse(SCOUT).unwrap(), ..edit(2, 1, "foreign") };
    assert_eq!(takes(&store, foreign), None);
    assert_eq!(store.texts(), ["m1"]);
    assert!(!store.read(|r| r.had(&event(2))));
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
    assert_eq!(store.texts(), ["m1"]);
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
    store.write(move |tx| tx.edit(&new));
    let expected = Body { text: "new".into(), attachment_name: Some("a.png".into()), ..entry.body };
    assert_eq!(store.message(1).body, expected);
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
    let left: i64 =
        store.write(|tx| Ok(tx.0.query_row("SELECT count(*) FROM edits", [], |row| row.get(0))?));
    assert_eq!(left, 0);
}
