use super::fixture::Fixture;
use crate::{Journaled, Queued};

const MINUTE: i64 = 60_000;

fn journal(store: &Fixture, txn_id: &'static str, body: &'static str, now_ms: i64) -> Journaled {
    store.write(move |tx| tx.journal(txn_id, body.as_bytes(), now_ms))
}

fn queue(store: &Fixture) -> Vec<Queued> {
    let mut queue: Vec<Queued> = vec![];
    loop {
        let after = queue.last().map_or(0, |q| q.journal_id);
        match store.read(move |r| r.next_queued(after)) {
            Some(next) => queue.push(next),
            None => return queue,
        }
    }
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
    store.write(move |tx| queued.iter().try_for_each(|q| tx.journal_done(q.journal_id)));
    assert!(queue(&store).is_empty());
    let Journaled::New(next) = journal(&store, "1", "d", 3) else { panic!("new") };
    assert!(next > last);
}

#[test]
fn bodies_are_kept_byte_for_byte() {
    let store = Fixture::new();
    let body: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let sent = body.clone();
    store.write(move |tx| tx.journal("1", &sent, 0));
    assert!(queue(&store)[0].body == body);
}
