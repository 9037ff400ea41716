//! The one thread that writes, and what it makes of work that fails.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError, mpsc},
    thread::JoinHandle,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::{StoreError, Tx, wal::Wal};

/// As much as one commit takes in. More would make the first in it wait longer than a commit of their own costs.
const GROUP: usize = 64;

/// What a commit has to outlive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlives {
    /// Synced to the disk before it is answered.
    PowerCut,
    /// With the operating system when it is answered: enough where what is on disk already makes it again.
    Kill,
}

/// One piece of work on its way: done first, answered once it is known what became of its group.
trait Job: Send {
    /// `Err`: not only this, but everything done in the transaction so far is undone.
    fn run(&mut self, connection: &Connection) -> Result<(), Undone>;
    fn outlives(&self) -> Outlives;
    /// Nobody may be listening any more; the work stands all the same.
    fn answer(self: Box<Self>, group: Result<(), Undone>);
}

type Group = VecDeque<Box<dyn Job>>;

/// Why a whole group came to nothing, in SQLite's words.
#[derive(Clone, Debug)]
struct Undone(String);

impl From<rusqlite::Error> for Undone {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

/// A writer of one never meets SQLITE_BUSY, and needs no locks above the database.
pub(crate) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(mut connection: Connection, mut wal: Wal) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Box<dyn Job>>();
        let run = move || {
            Wal::watch(&connection);
            let mut outlives = Outlives::PowerCut;
            while let Ok(first) = queue.recv() {
                let group: Group = std::iter::once(first).chain(queue.try_iter().take(GROUP - 1)).collect();
                make_outlive(&connection, &group, &mut outlives);
                write(&mut connection, group);
                wal.keep_short(&connection);
            }
        };
        let thread = std::thread::Builder::new().name("parlour-writer".into()).spawn(run)?;
        Ok(Self { jobs: Mutex::new(Some(jobs)), thread: Mutex::new(Some(thread)) })
    }

    pub(crate) async fn run<T, U, F, G>(&self, outlives: Outlives, work: F, then: G) -> Result<U, StoreError>
    where
        T: Send + 'static,
        U: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        G: FnOnce(T) -> U + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        self.enqueue(Box::new(Work { outlives, work: Some(work), done: None, then, reply }))?;
        result.await.unwrap_or(Err(StoreError::Closed))
    }

    fn enqueue(&self, job: Box<dyn Job>) -> Result<(), StoreError> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.as_ref().ok_or(StoreError::Closed)?.send(job).map_err(|_| StoreError::Closed)
    }

    /// Blocks until what is queued is done. From the writer's own thread (the last handle to the store fell with a
    /// piece of work) there is nothing to wait for.
    pub(crate) fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|t| t.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

struct Work<T, U, F, G> {
    outlives: Outlives,
    work: Option<F>,
    done: Option<Result<T, StoreError>>,
    then: G,
    reply: oneshot::Sender<Result<U, StoreError>>,
}

impl<T, U, F, G> Job for Work<T, U, F, G>
where
    T: Send,
    U: Send,
    F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send,
    G: FnOnce(T) -> U + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Undone> {
        let Some(work) = self.work.take() else { return Ok(()) };
        connection.execute_batch("SAVEPOINT work")?;
        let done =
            catch_unwind(AssertUnwindSafe(|| work(&Tx(connection)))).unwrap_or(Err(StoreError::Panicked));
        let settled = settle(connection, done.as_ref().err());
        self.done = Some(done);
        settled
    }

    fn outlives(&self) -> Outlives {
        self.outlives
    }

    fn answer(self: Box<Self>, group: Result<(), Undone>) {
        let done = match (self.done, group) {
            // what went wrong with this one itself says more than what became of the others
            (Some(Err(own)), _) => Err(own),
            (_, Err(Undone(cause))) => Err(StoreError::NotStored(cause)),
            (Some(done), Ok(())) => done,
            (None, Ok(())) => Err(StoreError::Closed),
        };
        let then = self.then;
        // it is on disk: what goes wrong in memory afterwards must not stop all writing
        let follow = |done| catch_unwind(AssertUnwindSafe(|| then(done))).map_err(|_| StoreError::Panicked);
        let _ = self.reply.send(done.and_then(follow));
    }
}

/// Keeps or undoes one piece of work. A full disk or a failed read can make SQLite roll back the transaction around it
/// as well; then the rest of the group would run without one, each statement on its own.
fn settle(connection: &Connection, failed: Option<&StoreError>) -> Result<(), Undone> {
    if connection.is_autocommit() {
        return Err(Undone(failed.map_or_else(|| "SQLite rolled it back".to_owned(), ToString::to_string)));
    }
    if failed.is_some() {
        connection.execute_batch("ROLLBACK TO work")?;
    }
    Ok(connection.execute_batch("RELEASE work")?)
}

/// A group is synced if one piece of it has to be. The write-ahead log keeps the order: what is synced later takes what
/// was written before along.
fn make_outlive(connection: &Connection, group: &Group, now: &mut Outlives) {
    let all_again = group.iter().all(|job| job.outlives() == Outlives::Kill);
    let wanted = if all_again { Outlives::Kill } else { Outlives::PowerCut };
    if wanted == *now {
        return;
    }
    let level = if wanted == Outlives::Kill { "NORMAL" } else { "FULL" };
    match connection.pragma_update(None, "synchronous", level) {
        Ok(()) => *now = wanted,
        Err(error) => tracing::warn!(%error, level, "cannot change how writes are synced"),
    }
}

/// All of a group in one transaction. Where one piece of work takes the transaction down with it, those before it are
/// told that they came to nothing, and those after it get another.
fn write(connection: &mut Connection, mut group: Group) {
    while !group.is_empty() {
        let mut tried = vec![];
        let outcome = commit(connection, &mut group, &mut tried);
        if let Err(Undone(cause)) = &outcome {
            tracing::error!(%cause, undone = tried.len(), "cannot write");
        }
        tried.into_iter().for_each(|job| job.answer(outcome.clone()));
    }
}

fn commit(
    connection: &mut Connection,
    group: &mut Group,
    tried: &mut Vec<Box<dyn Job>>,
) -> Result<(), Undone> {
    let tx = match Transaction::new(connection, TransactionBehavior::Immediate) {
        Ok(tx) => tx,
        Err(error) => {
            tried.extend(group.drain(..));
            return Err(error.into());
        }
    };
    while let Some(mut job) = group.pop_front() {
        let settled = job.run(&tx);
        tried.push(job);
        settled?;
    }
    Ok(tx.commit()?)
}
