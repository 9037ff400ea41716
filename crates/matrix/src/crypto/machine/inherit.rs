//! Taking over what an earlier device of the same puppet could read.

use std::sync::Arc;

use matrix_sdk_crypto::{olm::InboundGroupSession, store::CryptoStore};

use super::{Machine, RoomKey};
use crate::crypto::{CryptoError, Rows, store::PuppetStore};

impl Machine {
    /// Takes over the room keys that others gave to an earlier device of this puppet (its account's number): what was
    /// said to that one and comes late can be read still. Nothing that the earlier device spoke with is taken over, and
    /// what cannot be read of its rows is left out.
    ///
    /// # Errors
    /// The rows cannot be read at all.
    pub async fn inherit(&mut self, rows: Arc<dyn Rows>, predecessor: i64) -> Result<(), CryptoError> {
        let before = PuppetStore::new(predecessor, rows.clone(), Arc::default(), self.sealing.clone());
        let keys = before.readable_inbound().await?;
        self.store(rows).save_inbound_group_sessions(keys, None).await?;
        Ok(())
    }

    /// All room keys of others that this device has.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn room_keys(&self, rows: Arc<dyn Rows>) -> Result<Vec<RoomKey>, CryptoError> {
        let name = |key: InboundGroupSession| RoomKey {
            room_id: key.room_id().to_owned(),
            session_id: key.session_id().to_owned(),
        };
        Ok(self.store(rows).readable_inbound().await?.into_iter().map(name).collect())
    }

    /// This device's rows, beside the SDK's own view of them.
    fn store(&self, rows: Arc<dyn Rows>) -> PuppetStore {
        PuppetStore::new(self.account(), rows, self.buffer.clone(), self.sealing.clone())
    }
}
