use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
    mpsc,
};

use super::fixture::{Fixture, ROOM, said};
use crate::{StoreError, db::READERS, wal::FAR_TOO_LONG};

#[test]
fn a_reader_sees_one_moment() {
    let store = Fixture::new();
    store.says(1..=2);
    let writer = store.store.clone();
    let counts = store.read(move |r| {
        let before = r.room_log(ROOM)?.len();
        let (done, written) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(writer.write(|tx| tx.append(said(3)))).unwrap();
            done.send(()).unwrap();
        });
        written.recv().unwrap();
        Ok((before, r.room_log(ROOM)?.len()))
    });
    assert_eq!(counts, (2, 2));
    assert_eq!(store.order(), [1, 2, 3]);
}

#[test]
fn callers_that_go_away_take_no_connection_with_them() {
    let store = Fixture::new();
    for _ in 0..3 * READERS {
        let (started, start) = tokio::sync::oneshot::channel();
        let (release, held) = mpsc::channel::<()>();
        let read = store.store.read(move |_| {
            started.send(()).unwrap();
            let _ = held.recv();
            Ok(())
        });
        store.wait(async {
            // polled until its work runs, which may have to wait for those before, then dropped
            tokio::select! {
                _ = read => panic!("done before it was released"),
                started = start => started.unwrap(),
            }
        });
        drop(release);
    }
    for _ in 0..3 * READERS {
        assert!(store.read(|r| r.rooms()).len() == 2);
    }
}

#[test]
fn reads_that_panic_or_fail_are_told_and_harm_nothing() {
    let store = Fixture::new();
    for _ in 0..2 * READERS {
        let told: Result<(), _> = store.wait(store.store.read(|_| panic!("on purpose")));
        assert!(matches!(told, Err(StoreError::Panicked)));
        let told: Result<(), _> = store.wait(store.store.read(|_| Err(StoreError::Corrupt("x".into()))));
        assert!(matches!(told, Err(StoreError::Corrupt(_))));
    }
    assert_eq!(store.read(|r| r.rooms()).len(), 2);
}

#[test]
fn a_reader_cannot_write() {
    let store = Fixture::new();
    let told = store.wait(store.store.read(|r| Ok(r.0.execute("DELETE FROM rooms", [])?)));
    assert!(matches!(told, Err(StoreError::Sqlite(_))), "{told:?}");
    assert_eq!(store.read(|r| r.rooms()).len(), 2);
}

/// Readers that overlap all the time keep SQLite from ever starting the log over by itself: without
/// [`crate::wal::Wal`] it was 132 MiB here, and growing.
#[test]
fn the_write_ahead_log_stays_short_under_readers_that_overlap() {
    let store = Fixture::new();
    let stop = Arc::new(AtomicBool::new(false));
    let begun = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let readers: Vec<_> = (0..2).map(|me| read_until(&store, &stop, &begun, me)).collect();
    let wal = store.folder.path().join("parlour.db-wal");
    let (mut longest, mut written) = (0, 0);
    while written < 3 * FAR_TOO_LONG {
        let body = vec![0; 1 << 20];
        written += body.len() as u64;
        store.write(move |tx| tx.set_meta("test", &body));
        longest = longest.max(std::fs::metadata(&wal).unwrap().len());
    }
    stop.store(true, Ordering::Relaxed);
    readers.into_iter().for_each(|r| r.join().unwrap());
    assert!(longest < FAR_TOO_LONG + (4 << 20), "{} MiB of {}", longest >> 20, written >> 20);
}

/// One of two that read in turns, each snapshot ending after the other's next has begun.
fn read_until(
    fixture: &Fixture,
    stop: &Arc<AtomicBool>,
    begun: &Arc<[AtomicU64; 2]>,
    me: usize,
) -> std::thread::JoinHandle<()> {
    let (store, stop, begun) = (fixture.store.clone(), stop.clone(), begun.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        while !stop.load(Ordering::SeqCst) {
            let (stop, begun) = (stop.clone(), begun.clone());
            let look = move |r: &crate::Reader<'_>| {
                r.room_log(ROOM)?;
                let seen = begun[1 - me].load(Ordering::SeqCst);
                begun[me].fetch_add(1, Ordering::SeqCst);
                while begun[1 - me].load(Ordering::SeqCst) == seen && !stop.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Ok(())
            };
            runtime.block_on(store.read(look)).unwrap();
        }
    })
}
