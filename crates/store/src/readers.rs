//! The connections that read, lent out one at a time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Reader, StoreError};

pub(crate) struct Readers {
    free: Arc<Semaphore>,
    connections: Mutex<Vec<Connection>>,
}

/// A connection that goes back whatever happens: the caller of [`crate::Store::read`] may go away in the middle, and
/// its work may panic.
struct Lent {
    connection: Option<Connection>,
    readers: Arc<Readers>,
    // falls after the connection is back
    _permit: OwnedSemaphorePermit,
}

impl Readers {
    pub(crate) fn new(connections: Vec<Connection>) -> Self {
        Self { free: Arc::new(Semaphore::new(connections.len())), connections: Mutex::new(connections) }
    }

    pub(crate) async fn read<T, F>(self: &Arc<Self>, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        metrics::counter!("parlour_store_reads_total").increment(1);
        let mut lent = self.lend().await?;
        let read = tokio::task::spawn_blocking(move || match &mut lent.connection {
            Some(connection) => snapshot(connection, work),
            None => Err(StoreError::Closed),
        });
        // panics are caught inside: what is left is a runtime that shuts down
        read.await.unwrap_or(Err(StoreError::Closed))
    }

    pub(crate) fn close(&self) {
        self.free.close();
    }

    async fn lend(self: &Arc<Self>) -> Result<Lent, StoreError> {
        let permit = self.free.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let connection = self.connections.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(Lent { connection, readers: self.clone(), _permit: permit })
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut connections = self.readers.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.extend(self.connection.take());
    }
}

fn snapshot<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let tx = Transaction::new(connection, TransactionBehavior::Deferred)?;
    let result = catch_unwind(AssertUnwindSafe(|| work(&Reader(&tx))));
    tx.rollback()?;
    result.unwrap_or(Err(StoreError::Panicked))
}
