//! Listening, with words for when it fails.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::{failure::Failure, listening::trouble};

/// # Errors
/// Names the key of the config that the address is from.
pub(super) fn bind(key: &str, address: SocketAddr) -> Result<TcpListener, Failure> {
    let bound = std::net::TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    });
    bound.map_err(|error| Failure::new(format!("{key}: {}", trouble(key, address, &error))))
}
