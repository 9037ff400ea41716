//! What a homeserver calls (Matrix spec, application service API), and nothing of what is done with it.
//!
//! The paths without `/_matrix/app/v1` are the ones from before the specification; Synapse still tries them.

mod auth;
mod error;
mod ping;
mod rooms;
mod transactions;
mod users;

use std::{
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    routing::{any, get, post, put},
};
use bytes::Bytes;
use ruma::{RoomAliasId, UserId};
use secrecy::SecretString;

use auth::HsToken;
use error::{method_not_allowed, unrecognized};

/// Largest transaction, in bytes: a hundred events of the largest size, and as much again for everything else.
pub const MAX_BODY: usize = parlour_domain::limits::MAX_TRANSACTION_BYTES;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who takes what the homeserver brings.
pub trait Inbound: Send + Sync + 'static {
    /// Puts a transaction where it survives a crash; the homeserver forgets it once this is `Ok`.
    ///
    /// The future is dropped when the homeserver gives up waiting (Synapse: 60 s). The same transaction comes again
    /// then, perhaps while the first is still being written.
    fn transaction(&self, txn_id: String, body: Bytes) -> BoxFuture<'_, Result<(), TransactionError>>;

    /// The homeserver answers our ping with the id that we gave it.
    fn pinged(&self, txn_id: Option<String>);

    /// Whether this is a user of ours who exists. From memory: the homeserver is waiting with a lock held.
    fn knows_user(&self, user: &UserId) -> bool;

    /// Whether this is the alias of a room of ours that exists. From memory.
    fn knows_alias(&self, alias: &RoomAliasId) -> bool;
}

/// Why a transaction was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransactionError {
    /// Nothing in it can be kept. 400; the homeserver sends it again all the same, since none is ever skipped.
    #[error("the transaction is no JSON object")]
    NotJson,
    /// It could not be written down. 503; the homeserver tries again.
    #[error("the store is out of reach")]
    Unavailable,
}

struct Endpoint {
    inbound: Arc<dyn Inbound>,
    hs_token: HsToken,
    /// Of a wrong token, since the start.
    warned: AtomicBool,
}

/// The routes that the homeserver uses. Everything below `/_matrix` answers in Matrix errors.
pub fn router(inbound: Arc<dyn Inbound>, hs_token: SecretString) -> Router {
    let endpoint =
        Arc::new(Endpoint { inbound, hs_token: HsToken::new(hs_token), warned: AtomicBool::new(false) });
    Router::new()
        .route("/_matrix/app/v1/transactions/{txn_id}", put(transactions::put))
        .route("/transactions/{txn_id}", put(transactions::put))
        .route("/_matrix/app/v1/users/{user_id}", get(users::get))
        .route("/users/{user_id}", get(users::get))
        .route("/_matrix/app/v1/rooms/{alias}", get(rooms::get))
        .route("/rooms/{alias}", get(rooms::get))
        .route("/_matrix/app/v1/ping", post(ping::post))
        .method_not_allowed_fallback(method_not_allowed)
        .route("/_matrix", any(unrecognized))
        .route("/_matrix/", any(unrecognized))
        .route("/_matrix/{*rest}", any(unrecognized))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(endpoint)
}

#[cfg(test)]
mod tests;
