use std::sync::mpsc;

use rusqlite::Connection;

use super::fixture::{Fixture, event, said};
use crate::{Store, StoreError, Tx};

/// Keeps the writer busy until the sender falls, so that what is written meanwhile becomes one group.
fn hold(store: &Store) -> (mpsc::Sender<()>, impl Future<Output = Result<(), StoreError>>) {
    let (release, held) = mpsc::channel::<()>();
    let (started, start) = mpsc::channel::<()>();
    let store = store.clone();
    let mut holding = Box::pin(async move {
        store
            .write(move |_| {
                started.send(()).unwrap();
                let _ = held.recv();
                Ok(())
            })
            .await
    });
    // once polled it is in the writer's queue
    let waker = std::task::Waker::noop();
    assert!(holding.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    start.recv().unwrap();
    (release, holding)
}

/// Queues all of it as one group behind a held writer, and gives what each was answered.
fn as_one_group(fixture: &Fixture, work: Vec<Work>) -> Vec<Result<(), StoreError>> {
    let (release, holding) = hold(&fixture.store);
    let mut waiting: Vec<_> = work.into_iter().map(|w| Box::pin(fixture.store.write(w))).collect();
    let waker = std::task::Waker::noop();
    for write in &mut waiting {
        assert!(write.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    drop(release);
    fixture.wait(holding).unwrap();
    waiting.into_iter().map(|write| fixture.wait(write)).collect()
}

type Work = Box<dyn FnOnce(&Tx<'_>) -> Result<(), StoreError> + Send>;

fn appends(n: i64) -> Work {
    Box::new(move |tx| tx.append(said(n)).map(drop))
}

fn order_on_disk(fixture: &Fixture) -> Vec<String> {
    let other = Connection::open(fixture.path()).unwrap();
    let mut query = other.prepare("SELECT event_id FROM log ORDER BY seq").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn an_answer_means_that_others_can_see_it() {
    let store = Fixture::new();
    for n in 1..=20 {
        store.says([n]);
        assert_eq!(order_on_disk(&store).len(), usize::try_from(n).unwrap());
    }
}

#[test]
fn many_at_once_are_all_kept() {
    let store = Fixture::new();
    let work = (1..=200).map(appends).collect();
    assert!(as_one_group(&store, work).iter().all(Result::is_ok));
    assert_eq!(store.order(), (1..=200).collect::<Vec<_>>());
}

#[test]
fn work_that_fails_or_panics_is_undone_alone() {
    let store = Fixture::new();
    let fails: Work = Box::new(|tx| {
        tx.append(said(2))?;
        Err(StoreError::Corrupt("on purpose".into()))
    });
    let panics: Work = Box::new(|tx| {
        tx.append(said(3))?;
        panic!("on purpose")
    });
    let misuses: Work = Box::new(|tx| {
        tx.append(said(4))?;
        Ok(tx.0.execute_batch("INSERT INTO nowhere VALUES (1)")?)
    });
    let told = as_one_group(&store, vec![appends(1), fails, panics, misuses, appends(5)]);
    assert!(told[0].is_ok() && told[4].is_ok());
    assert!(matches!(&told[1], Err(StoreError::Corrupt(what)) if what == "on purpose"));
    assert!(matches!(told[2], Err(StoreError::Panicked)));
    assert!(matches!(told[3], Err(StoreError::Sqlite(_))));
    assert_eq!(store.order(), [1, 5]);
}

/// As a full disk can make it: the transaction is gone under the work. What was done before it must not count as
/// stored, and what comes after must not run outside of a transaction.
#[test]
fn work_that_takes_the_transaction_down_takes_those_before_it_and_no_other() {
    let store = Fixture::new();
    let felled: Work = Box::new(|tx| {
        tx.append(said(3))?;
        tx.0.execute_batch("ROLLBACK")?;
        Err(StoreError::Corrupt("disk".into()))
    });
    let felled_unnoticed: Work = Box::new(|tx| Ok(tx.0.execute_batch("ROLLBACK")?));
    let fails: Work = Box::new(|tx| {
        tx.append(said(5))?;
        Err(StoreError::Corrupt("on purpose".into()))
    });
    let told = as_one_group(
        &store,
        vec![appends(1), appends(2), felled, appends(4), felled_unnoticed, fails, appends(6)],
    );
    for undone in [0, 1, 3, 4] {
        assert!(matches!(told[undone], Err(StoreError::NotStored(_))), "{undone}: {:?}", told[undone]);
    }
    assert!(matches!(&told[2], Err(StoreError::Corrupt(what)) if what == "disk"));
    assert!(matches!(told[5], Err(StoreError::Corrupt(_))));
    assert!(told[6].is_ok());
    assert_eq!(order_on_disk(&store), [event(6).to_string()]);
}

#[test]
fn a_full_disk_is_told_and_survived() {
    let store = Fixture::new();
    store.says([1]);
    let limit = |pages: i64| -> Work {
        Box::new(move |tx| {
            let set = format!("PRAGMA max_page_count = {pages}");
            Ok(tx.0.query_row(&set, [], |_| Ok(()))?)
        })
    };
    let pages: i64 = store.write(|tx| Ok(tx.0.query_row("PRAGMA page_count", [], |row| row.get(0))?));
    store.write(limit(pages + 4));
    let big = |n: i64| -> Work {
        Box::new(move |tx| {
            let mut entry = said(n);
            entry.content = "x".repeat(100_000);
            tx.append(entry).map(drop)
        })
    };
    let told = as_one_group(&store, vec![appends(2), big(3), appends(4)]);
    assert!(told[1].is_err());
    let kept: Vec<i64> =
        [2, 4].into_iter().zip([&told[0], &told[2]]).filter(|(_, t)| t.is_ok()).map(|(n, _)| n).collect();
    assert_eq!(store.order(), [vec![1], kept].concat());
    store.write(limit(1_000_000));
    store.says([5]);
    assert!(
        store.write(|tx| Ok(tx.0.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?))
            == "ok"
    );
}

#[test]
fn a_commit_that_fails_undoes_the_group_and_says_so() {
    let store = Fixture::new();
    // a deferred foreign key is looked at when the transaction commits
    let dangling: Work = Box::new(|tx| {
        tx.0.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        Ok(tx.0.execute_batch("INSERT INTO gaps VALUES (12345, NULL, 'too_many')")?)
    });
    let told = as_one_group(&store, vec![appends(1), dangling, appends(2)]);
    assert!(told.iter().all(|t| matches!(t, Err(StoreError::NotStored(_)))), "{told:?}");
    assert!(store.order().is_empty());
    store.says([3]);
    assert_eq!(store.order(), [3]);
}

#[test]
fn a_database_that_somebody_else_holds_is_told_not_hung_on() {
    let store = Fixture::new();
    store.write(|tx| Ok(tx.0.busy_timeout(std::time::Duration::ZERO)?));
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.try_write(|tx| tx.append(said(1))), Err(StoreError::NotStored(_))));
    other.execute_batch("ROLLBACK").unwrap();
    store.says([1]);
}

#[test]
fn work_is_done_although_its_caller_has_gone() {
    let store = Fixture::new();
    let (release, holding) = hold(&store.store);
    let mut write = Box::pin(store.store.write(|tx| tx.append(said(1))));
    let waker = std::task::Waker::noop();
    assert!(write.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    drop(write);
    drop(release);
    store.wait(holding).unwrap();
    store.says([2]);
    assert_eq!(store.order(), [1, 2]);
}

#[test]
fn a_closed_store_finishes_what_is_queued_and_takes_no_more() {
    let store = Fixture::new();
    let (release, holding) = hold(&store.store);
    let mut queued = Box::pin(store.store.write(|tx| tx.append(said(1))));
    let waker = std::task::Waker::noop();
    assert!(queued.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    drop(release);
    store.store.close();
    store.wait(holding).unwrap();
    assert!(store.wait(queued).is_ok());
    assert!(matches!(store.try_write(|tx| tx.append(said(2))), Err(StoreError::Closed)));
    assert!(matches!(store.wait(store.store.read(|r| r.rooms())), Err(StoreError::Closed)));
    store.store.close();
    assert_eq!(order_on_disk(&store).len(), 1);
    assert_eq!(store.reopened().order(), [1]);
}

#[test]
fn the_last_handle_may_fall_inside_the_writer() {
    let store = Fixture::new();
    let (folder, inside) = (store.folder.path().to_owned(), store.store.clone());
    let (done, finished) = mpsc::channel();
    let (alone, others_gone) = mpsc::channel::<()>();
    let mut write = Box::pin(store.store.write(move |_| {
        let _ = others_gone.recv();
        drop(inside);
        Ok(done.send(()))
    }));
    let waker = std::task::Waker::noop();
    assert!(write.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    drop(write);
    drop(store.store);
    drop(alone);
    finished.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
    assert!(folder.join("parlour.db").exists());
}

#[test]
fn what_follows_a_commit_comes_after_it_in_order_and_cannot_undo_it() {
    let store = Fixture::new();
    let (tell, told) = mpsc::channel();
    let (release, holding) = hold(&store.store);
    let path = store.path();
    let mut waiting: Vec<_> = (1..=3)
        .map(|n| {
            let (tell, path) = (tell.clone(), path.clone());
            let on_disk = move || {
                let other = Connection::open(path).unwrap();
                other.query_row("SELECT count(*) FROM log", [], |row| row.get::<_, i64>(0)).unwrap()
            };
            Box::pin(store.store.write_then(
                move |tx| {
                    if n == 2 { Err(StoreError::Corrupt("on purpose".into())) } else { tx.append(said(n)) }
                },
                move |_| {
                    tell.send((n, on_disk())).unwrap();
                    assert!(n != 3, "on purpose");
                },
            ))
        })
        .collect();
    let waker = std::task::Waker::noop();
    for write in &mut waiting {
        assert!(write.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    drop(release);
    store.wait(holding).unwrap();
    let answers: Vec<_> = waiting.into_iter().map(|write| store.wait(write)).collect();
    assert!(answers[0].is_ok());
    assert!(matches!(answers[1], Err(StoreError::Corrupt(_))));
    assert!(matches!(answers[2], Err(StoreError::Panicked)));
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [(1, 2), (3, 2)]);
    assert_eq!(store.order(), [1, 3]);
    store.says([4]);
}
