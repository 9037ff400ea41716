use std::sync::Arc;

use bytes::Bytes;
use parlour_matrix::{BoxFuture, Inbound, Transaction, TransactionError};
use parlour_store::Journaled;
use ruma::{RoomAliasId, UserId};

use super::processor::Piece;
use crate::app::App;

/// The app as the homeserver's counterpart.
#[derive(Clone)]
pub struct Intake(pub Arc<App>);

impl Inbound for Intake {
    fn transaction(&self, txn_id: String, body: Bytes) -> BoxFuture<'_, Result<(), TransactionError>> {
        Box::pin(async move { self.0.journal(&txn_id, &body) })
    }

    fn pinged(&self, _txn_id: Option<String>) {
        tracing::debug!("the homeserver reached us");
    }

    fn knows_user(&self, user: &UserId) -> bool {
        *user == self.0.settings.bot || self.0.agents.by_user(user).is_some()
    }

    fn knows_alias(&self, alias: &RoomAliasId) -> bool {
        let settings = &self.0.settings;
        let lobby = settings.lobbies.iter().find(|l| l.alias == alias.alias());
        alias.server_name() == settings.server_name
            && lobby.is_some_and(|l| self.0.rooms.lobby(&l.slug).is_some())
    }
}

impl App {
    /// On disk before the homeserver is told so. The same transaction again is none.
    fn journal(&self, txn_id: &str, body: &Bytes) -> Result<(), TransactionError> {
        let transaction = Transaction::parse(body).map_err(|_| TransactionError::NotJson)?;
        if transaction.malformed > 0 {
            metrics::counter!("parlour_malformed_entries_total").increment(transaction.malformed.into());
            tracing::warn!(
                entries = transaction.malformed,
                "parts of a transaction have no form that is known; they were left out"
            );
        }
        if self.handover.counts_anew(txn_id) {
            tracing::info!("the homeserver has been started anew; looking for what it has forgotten");
            self.outage.notify_one();
        }
        let (now, bytes) = (self.now(), body.len());
        // handed over with the commit: the homeserver may give up waiting before our answer
        let hand_over = |journaled| {
            if let Journaled::New(id) = journaled {
                metrics::counter!("parlour_transactions_total").increment(1);
                self.handover.put(Piece { journal_id: id, received_at_ms: now, transaction, bytes });
            }
        };
        self.store.journal(txn_id, body, now, hand_over).map_err(|error| {
            tracing::error!(%error, "cannot write a transaction down; the homeserver will send it again");
            TransactionError::Unavailable
        })
    }
}
