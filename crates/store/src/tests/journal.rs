use super::fixture::Fixture;
use crate::{Journaled, Queued};

const MINUTE: i64 = 60_000;

fn journal(store: &Fixture, txn_id: &str, body: impl AsRef<[u8]>, now_ms: i64) -> Journaled {
    let mut journaled = None;
    store.store.journal(txn_id, body.as_ref(), now_ms, |j| journaled = Some(j)).unwrap();
    journaled.unwrap()
}

fn queue(store: &Fixture) -> Vec<Queued> {
    let mut queue: Vec<Queued> = vec![];
    loop {
        let after = queue.last().map_or(0, |q| q.journal_id);
        match store.store.next_queued(after).unwrap() {
            Some(next) => queue.push(next),
            None => return queue,
        }
    }
}

fn rows(store: &Fixture) -> i64 {
    let other = rusqlite::Connection::open(store.folder.path().join("journal.db")).unwrap();
    other.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap()
}

#[test]
fn the_same_transaction_is_taken_once() {
    let store = Fixture::new();
    assert!(matches!(journal(&store, "1", "a", 0), Journaled::New(_)));
    assert_eq!(journal(&store, "1", "a", MINUTE), Journaled::Again);
    let bodies: Vec<Vec<u8>> = queue(&store).into_iter().map(|q| q.body).collect();
    assert_eq!(bodies, [b"a"]);
}

#[test]
fn it_is_known_also_when_worked_off_and_after_a_restart() {
    let store = Fixture::new();
    let Journaled::New(id) = journal(&store, "1", "a", 0) else { panic!("new") };
    store.write(move |tx| tx.journal_done(id));
    let store = store.reopened();
    assert_eq!(journal(&store, "1", "a", MINUTE), Journaled::Again);
    assert!(queue(&store).is_empty());
}

#[test]
fn a_homeserver_that_counts_from_one_again_is_believed() {
    let store = Fixture::new();
    journal(&store, "1", "a", 0);
    assert!(matches!(journal(&store, "1", "b", 1), Journaled::New(_)));
    assert!(matches!(journal(&store, "2", "a", 2), Journaled::New(_)));
    assert_eq!(journal(&store, "1", "a", 3), Journaled::Again);
    assert_eq!(queue(&store).len(), 3);
}

#[test]
fn id_and_body_do_not_run_into_each_other() {
    let store = Fixture::new();
    journal(&store, "12", "3", 0);
    assert!(matches!(journal(&store, "1", "23", 0), Journaled::New(_)));
}

#[test]
fn after_ten_minutes_the_same_may_be_another() {
    let store = Fixture::new();
    journal(&store, "1", "a", 0);
    assert_eq!(journal(&store, "1", "a", 10 * MINUTE), Journaled::Again);
    assert!(matches!(journal(&store, "1", "a", 10 * MINUTE + 1), Journaled::New(_)));
}

#[test]
fn the_queue_is_in_order_of_arrival_and_ids_are_never_used_again() {
    let store = Fixture::new();
    for (n, body) in ["a", "b", "c"].into_iter().enumerate() {
        journal(&store, "1", body, i64::try_from(n).unwrap());
    }
    let queued = queue(&store);
    assert_eq!(
        queued.iter().map(|q| (&q.body[..], q.received_at_ms)).collect::<Vec<_>>(),
        [(&b"a"[..], 0), (b"b", 1), (b"c", 2)]
    );
    let last = queued[2].journal_id;
    store.wait(store.store.forget_journaled(last, true)).unwrap();
    assert!(queue(&store).is_empty());
    // also where no row is left to tell
    let store = store.reopened();
    let forgotten = rusqlite::Connection::open(store.folder.path().join("journal.db")).unwrap();
    forgotten.execute("DELETE FROM transactions", []).unwrap();
    let store = store.reopened();
    let Journaled::New(next) = journal(&store, "1", "d", 3) else { panic!("new") };
    assert!(next > last);
}

#[test]
fn what_is_worked_off_does_not_come_again_after_a_restart_and_the_rest_does() {
    let store = Fixture::new();
    for body in ["a", "b", "c"] {
        journal(&store, "1", body, 0);
    }
    let second = queue(&store)[1].journal_id;
    store.write(move |tx| tx.journal_done(second));
    let store = store.reopened();
    assert_eq!(queue(&store).into_iter().map(|q| q.body).collect::<Vec<_>>(), [b"c"]);
    // a step back, as from a commit that was overtaken, forgets nothing
    store.write(move |tx| tx.journal_done(second - 1));
    assert_eq!(queue(&store.reopened()).len(), 1);
}

/// A power cut may take the commit that worked a transaction off. Its row must be there then: it goes only after that
/// commit was synced.
#[test]
fn rows_stay_until_they_are_let_go_and_then_go_with_those_that_come() {
    let store = Fixture::new();
    for n in 0..40 {
        journal(&store, &n.to_string(), "a", n);
    }
    let all = queue(&store);
    let (last, kept) = (all[29].journal_id, all[30].journal_id);
    store.write(move |tx| tx.journal_done(last));
    journal(&store, "40", "a", 40);
    assert_eq!(rows(&store), 41);
    store.wait(store.store.forget_journaled(last, false)).unwrap();
    assert_eq!(rows(&store), 41);
    for n in 41..46 {
        journal(&store, &n.to_string(), "a", n);
    }
    assert_eq!(rows(&store), 41 + 5 - 5 * 3);
    store.wait(store.store.forget_journaled(last, true)).unwrap();
    assert_eq!((rows(&store), queue(&store)[0].journal_id), (16, kept));
}

#[test]
fn a_journal_of_older_versions_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut old = rusqlite::Connection::open(folder.path().join("parlour.db")).unwrap();
    crate::db::migrations().to_version(&mut old, 4).unwrap();
    old.execute("INSERT INTO journal VALUES (7, '1', 5, 'a'), (9, '2', 6, 'b')", []).unwrap_err();
    old.execute("INSERT INTO journal VALUES (7, '1', 5, x'61'), (9, '2', 6, x'62')", []).unwrap();
    drop(old);
    let store = crate::Store::open(folder.path()).unwrap();
    let next = |after| store.next_queued(after).unwrap();
    assert_eq!(next(0), Some(Queued { journal_id: 7, received_at_ms: 5, body: b"a".into() }));
    assert_eq!(next(7), Some(Queued { journal_id: 9, received_at_ms: 6, body: b"b".into() }));
    assert_eq!(next(9), None);
    store.journal("3", b"c", 7, |new| assert_eq!(new, Journaled::New(10))).unwrap();
    drop(store);
    let main = rusqlite::Connection::open(folder.path().join("parlour.db")).unwrap();
    assert_eq!(main.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_closed_store_takes_nothing_down() {
    let store = Fixture::new();
    store.store.close();
    let told = store.store.journal("1", b"a", 0, |_| panic!("taken"));
    assert!(matches!(told, Err(crate::StoreError::Closed)));
}

#[test]
fn bodies_are_kept_byte_for_byte() {
    let store = Fixture::new();
    let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    journal(&store, "1", &body, 0);
    assert!(queue(&store)[0].body == body);
}
