use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread::JoinHandle,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::{StoreError, Tx};

/// As much as one commit takes in. More would make the first in it wait longer than a commit of their own costs.
const GROUP: usize = 64;

/// One piece of work: does it, and returns what answers its caller once the group is on disk.
type Job = Box<dyn FnOnce(&Connection) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// The one thread that writes. A writer of one never meets SQLITE_BUSY, and needs no locks above the database.
pub(crate) struct Writer {
    jobs: std::sync::Mutex<Option<mpsc::Sender<Job>>>,
    thread: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(mut connection: Connection) -> Self {
        let (jobs, queue) = mpsc::channel::<Job>();
        let run = move || {
            while let Ok(first) = queue.recv() {
                let group: Vec<Job> = std::iter::once(first).chain(queue.try_iter().take(GROUP - 1)).collect();
                commit(&mut connection, group);
            }
        };
        let thread = std::thread::Builder::new().name("parlour-writer".into()).spawn(run).ok();
        Self { jobs: std::sync::Mutex::new(Some(jobs)), thread: std::sync::Mutex::new(thread) }
    }

    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let done = savepoint(connection, work);
            Box::new(move |committed| {
                // nobody listens any more where the caller went away; the work stands all the same
                let _ = reply.send(committed.and(done));
            })
        });
        self.enqueue(job)?;
        result.await.unwrap_or(Err(StoreError::Closed))
    }

    fn enqueue(&self, job: Job) -> Result<(), StoreError> {
        let jobs = self.jobs.lock().map_err(|_| StoreError::Closed)?;
        jobs.as_ref().ok_or(StoreError::Closed)?.send(job).map_err(|_| StoreError::Closed)
    }

    pub(crate) fn close(&self) {
        drop(self.jobs.lock().ok().and_then(|mut jobs| jobs.take()));
        if let Some(thread) = self.thread.lock().ok().and_then(|mut thread| thread.take()) {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

/// All of a group in one transaction. If the commit fails nothing of it happened, and everybody is told so.
fn commit(connection: &mut Connection, group: Vec<Job>) {
    let tx = match Transaction::new(connection, TransactionBehavior::Immediate) {
        Ok(tx) => tx,
        Err(error) => {
            tracing::error!(%error, "cannot begin a write");
            // the jobs fall with their channels, which their callers read as closed
            return;
        }
    };
    let answers: Vec<Answer> = group.into_iter().map(|job| job(&tx)).collect();
    let failed = tx.commit().err().map(|error| {
        tracing::error!(%error, "cannot commit");
        error.to_string()
    });
    for answer in answers {
        answer(failed.clone().map_or(Ok(()), |cause| Err(StoreError::Corrupt(cause))));
    }
}

/// Undoes one piece of work without the rest of its group.
fn savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.execute_batch("SAVEPOINT work")?;
    let done = catch_unwind(AssertUnwindSafe(|| work(&Tx(connection)))).unwrap_or(Err(StoreError::Panicked));
    if done.is_err() {
        connection.execute_batch("ROLLBACK TO work")?;
    }
    connection.execute_batch("RELEASE work")?;
    done
}
