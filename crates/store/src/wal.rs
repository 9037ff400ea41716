//! Checkpoints: what is in the write-ahead log goes into the database, beside the writer and not in its way.
//!
//! SQLite's own checkpoints run inside a commit, every thousand pages, and hold it up for milliseconds (2 % of all
//! transactions took 8 ms instead of 0.3; measured 2026-11-30). They never wait for readers either, so that the log
//! grows for ever where reads overlap all the time (see the test).

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;

/// In bytes. Past this size the writer makes sure that the log starts over, as soon as a checkpoint has just left it
/// little to do.
pub(crate) const TOO_LONG: u64 = 16 << 20;

/// In bytes. Here it does so all the same, unless readers do not make way.
pub(crate) const FAR_TOO_LONG: u64 = 4 * TOO_LONG;

/// When the log starts over, SQLite cuts its file back to this many bytes. More than it needs as a rule: to sync a file
/// that grows costs 0.1 ms more than to sync one that is overwritten.
pub(crate) const JOURNAL_SIZE_LIMIT: u64 = 2 * TOO_LONG;

/// In pages: three times SQLite's own. Each checkpoint syncs the database, and other syncs wait behind it.
const CHECKPOINT_EVERY: u64 = 3_000;

const PAGE: u64 = 4_096;

/// For how long writes may wait for readers that are in the log. Ours take milliseconds; a backup takes as long as it
/// likes, and is let be.
const PATIENCE: Duration = Duration::from_millis(200);

thread_local! {
    /// Pages in the log after this thread's last commit. SQLite's hook is a bare function: it has nowhere else to
    /// put them.
    static PAGES: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct Wal {
    /// In pages: when to ask for the next checkpoint, and when to wait for one.
    checkpoint_at: u64,
    wait_at: u64,
    last: u64,
    /// The checkpoint that was asked for last is done.
    done: Arc<AtomicBool>,
    asking: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Wal {
    /// Takes a connection of its own for checkpoints, and names their thread.
    pub(crate) fn start(checkpoints: Connection, name: &str) -> std::io::Result<Self> {
        let (asking, asked) = sync_channel(1);
        let done = Arc::new(AtomicBool::new(false));
        let tell = done.clone();
        let run = move || checkpoint_when_asked(&checkpoints, &asked, &tell);
        let thread = std::thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Self {
            checkpoint_at: CHECKPOINT_EVERY,
            wait_at: TOO_LONG / PAGE,
            last: 0,
            done,
            asking: Some(asking),
            thread: Some(thread),
        })
    }

    /// Once: commits make no checkpoints any more, and say how long the log is.
    pub(crate) fn watch(writer: &Connection) {
        writer.wal_hook(Some(|_, pages| {
            PAGES.set(u64::try_from(pages).unwrap_or(0));
            Ok(())
        }));
    }

    /// After a commit, on the thread that made it.
    pub(crate) fn keep_short(&mut self, writer: &Connection) {
        let pages = PAGES.get();
        if pages < self.last {
            (self.checkpoint_at, self.wait_at) = (CHECKPOINT_EVERY, TOO_LONG / PAGE);
        }
        self.last = pages;
        let ready = self.done.load(Ordering::Acquire) || pages >= FAR_TOO_LONG / PAGE;
        if pages >= self.wait_at && ready {
            self.start_over(writer);
        } else if pages >= self.checkpoint_at {
            self.ask();
        }
    }

    fn ask(&mut self) {
        self.checkpoint_at = self.last + CHECKPOINT_EVERY;
        self.done.store(false, Ordering::Release);
        // one that is asked for already does
        let _ = self.asking.as_ref().map(|asking| asking.try_send(()));
    }

    fn start_over(&mut self, writer: &Connection) {
        match restart(writer) {
            Ok(true) => PAGES.set(0),
            Ok(false) => self.wait_at = self.last + TOO_LONG / PAGE,
            Err(error) => {
                tracing::warn!(%error, pages = self.last, "cannot shorten the write-ahead log");
                self.wait_at = self.last + TOO_LONG / PAGE;
            }
        }
    }
}

impl Drop for Wal {
    fn drop(&mut self) {
        drop(self.asking.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn checkpoint_when_asked(connection: &Connection, asked: &Receiver<()>, done: &AtomicBool) {
    while asked.recv().is_ok() {
        if let Err(error) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(%error, "cannot checkpoint");
        }
        done.store(true, Ordering::Release);
    }
}

/// `false` where readers did not make way in time.
fn restart(writer: &Connection) -> rusqlite::Result<bool> {
    writer.busy_timeout(PATIENCE)?;
    let busy: rusqlite::Result<bool> =
        writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0));
    writer.busy_timeout(Duration::from_millis(crate::db::BUSY_MS))?;
    Ok(!busy?)
}
