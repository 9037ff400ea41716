//! Memory follows the disk, in the order of the commits.

use std::sync::{Arc, atomic::Ordering};

use parlour_domain::ids::Seq;
use parlour_store::{SeatRow, StoreError, Tx};

use crate::app::App;

impl App {
    /// Writes, and once that is on disk lets memory `follow`, on the writer's own thread. A task that waited for the
    /// answer instead could be overtaken by a later commit: an agent would be handed the later message, acknowledge it,
    /// and with it the earlier one that it never saw (seen under load, 2026-11-30).
    ///
    /// # Errors
    /// As for [`parlour_store::Store::write_then`].
    pub(crate) async fn write_and_follow<T, U>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        follow: impl FnOnce(&Arc<Self>, T) -> U + Send + 'static,
    ) -> Result<U, StoreError>
    where
        T: Send + 'static,
        U: Send + 'static,
    {
        let followed = self.store.write_then(work, self.following(follow));
        // without an app there is nobody to follow, and nobody who asks
        followed.await?.ok_or(StoreError::Closed)
    }

    /// The same for what is made again after a power cut; see [`parlour_store::Store::rewrite_then`].
    ///
    /// # Errors
    /// As for [`parlour_store::Store::write_then`].
    pub(crate) async fn rewrite_and_follow<T, U>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        follow: impl FnOnce(&Arc<Self>, T) -> U + Send + 'static,
    ) -> Result<U, StoreError>
    where
        T: Send + 'static,
        U: Send + 'static,
    {
        let followed = self.store.rewrite_then(work, self.following(follow));
        followed.await?.ok_or(StoreError::Closed)
    }

    /// `None` once there is no app any more to follow.
    fn following<T, U>(
        &self,
        follow: impl FnOnce(&Arc<Self>, T) -> U + Send + 'static,
    ) -> impl FnOnce(T) -> Option<U> + Send + 'static {
        let me = self.me.clone();
        move |done| Some(follow(&me.upgrade()?, done))
    }

    /// What a seat is now.
    pub(crate) fn seat(self: &Arc<Self>, row: SeatRow) {
        if let Some(agent) = self.agents.get(row.agent) {
            agent.put_seat(row);
        }
    }

    /// Memory has everything that arrived up to and with this. Ask before looking at several logs, and look no
    /// further: between two of them later messages come in.
    pub(crate) fn arrived_through(&self) -> Seq {
        Seq(self.arrived_through.load(Ordering::Acquire))
    }

    pub(crate) fn has_arrived(&self, seq: Seq) {
        self.arrived_through.fetch_max(seq.0, Ordering::AcqRel);
    }
}
