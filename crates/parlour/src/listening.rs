//! Why an address cannot be listened on, for `serve` and `check` alike.

use std::{io, net::SocketAddr};

/// What is wrong and what to do. `key` is the config's key for the address.
pub(crate) fn trouble(key: &str, address: SocketAddr, error: &io::Error) -> String {
    let todo = match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("another program listens there; stop it (another parlour?), or change {key}")
        }
        io::ErrorKind::AddrNotAvailable => {
            format!(
                "this machine has no such address; change {key}, for instance to 127.0.0.1:{}",
                address.port()
            )
        }
        io::ErrorKind::PermissionDenied => {
            format!("ports below 1024 need a right that this user lacks; change {key} to a higher one")
        }
        _ => format!("change {key}"),
    };
    format!("cannot listen on {address} ({error}): {todo}")
}
