//! `kill -9`: what was answered is on disk, and the database is whole.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use super::fixture::{ROOM, furnish, said};
use crate::{Appended, Store};

const ROUNDS: usize = 20;
const FOLDER: &str = "PARLOUR_STORE_TEST_FOLDER";
const WRITERS: i64 = 4;

/// What the other test starts and kills: appends for ever, and prints what was answered. Does nothing by itself.
#[test]
#[ignore = "started by `killed_at_any_time_it_keeps_what_it_answered`"]
fn appends_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Store::open(Path::new(&folder)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let next = runtime.block_on(store.write(|tx| {
        if tx.0.query_row("SELECT NOT EXISTS (SELECT 1 FROM rooms)", [], |row| row.get(0))? {
            furnish(tx)?;
        }
        Ok(tx.0.query_row(
            "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'log'",
            [],
            |row| row.get::<_, i64>(0),
        )?)
    }));
    let first = next.unwrap() * 1_000;
    let writers: Vec<_> = (0..WRITERS)
        .map(|w| {
            std::thread::spawn({
                let store = store.clone();
                move || append_for_ever(&store, first + w)
            })
        })
        .collect();
    writers.into_iter().for_each(|w| w.join().unwrap());
}

fn append_for_ever(store: &Store, first: i64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for n in (first..).step_by(usize::try_from(WRITERS).unwrap()) {
        let appended = runtime.block_on(store.write(move |tx| {
            let appended = tx.append(said(n))?;
            tx.evict(ROOM)?;
            Ok(appended)
        }));
        let Ok(Appended::New(message)) = appended else { panic!("{appended:?}") };
        println!("\nkept {}", message.seq.0);
    }
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::killed::appends_until_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills it after it has answered `answers` times, and gives all that it said until it was dead.
fn kill_after(mut child: Child, answers: usize) -> Vec<i64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let kept = |line: String| line.strip_prefix("kept ").and_then(|n| n.parse().ok());
    let mut told: Vec<i64> = lines.by_ref().filter_map(kept).take(answers).collect();
    child.kill().unwrap();
    // what it had answered before it died, but nobody had read yet; its last line may be cut short
    let mut rest: Vec<String> = lines.filter(|l| l.starts_with("kept ")).collect();
    rest.pop();
    told.extend(rest.into_iter().filter_map(kept));
    child.wait().unwrap();
    told
}

#[test]
fn killed_at_any_time_it_keeps_what_it_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut told: Vec<i64> = vec![];
    for round in 0..ROUNDS {
        // from the first write to some way into the checkpoints
        let answers = 1 + (round * 7_919) % 900;
        let new = kill_after(start(folder.path()), answers);
        assert!(new.len() >= answers, "round {round}: it ended by itself after {}", new.len());
        told.extend(new);
        look(folder.path(), &told);
    }
    assert!(told.len() > 1_000);
}

fn look(folder: &Path, told: &[i64]) {
    let database = rusqlite::Connection::open(folder.join("parlour.db")).unwrap();
    let whole: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
    let mut there = database.prepare("SELECT seq FROM log UNION ALL SELECT seq FROM evicted").unwrap();
    let there: std::collections::BTreeSet<i64> =
        there.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let lost: Vec<&i64> = told.iter().filter(|seq| !there.contains(seq)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let kept: i64 = database.query_row("SELECT count(*) FROM log", [], |row| row.get(0)).unwrap();
    assert!(kept <= 500, "evicted in the same transaction: {kept}");
}
