//! Ports on loopback.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, Result};

/// Below the range from which Linux takes ports for outgoing connections (32768 and up): a server that is stopped
/// and started again on its port must not find it lent to some client in between.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port on 127.0.0.1 that nobody listens on at this moment. Each call gives another one, and processes that run
/// at once begin their search at different places, but nothing reserves the port.
///
/// # Errors
/// All 12,000 ports are taken.
pub fn free_port() -> Result<u16> {
    (0..COUNT).map(|_| candidate()).find(|port| is_free(*port)).context("no free port from 20000 to 31999")
}

/// Whether a server could listen there.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn candidate() -> u16 {
    // Processes started one after the other have neighbouring ids; the prime spreads them.
    let start = (u64::from(std::process::id()) * 7919) % u64::from(COUNT);
    let step = u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
    // The remainder is below COUNT, so it always fits.
    FIRST + u16::try_from((start + step) % u64::from(COUNT)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_ports_that_differ_and_can_be_used() {
        let (one, two) = (free_port().unwrap(), free_port().unwrap());
        assert_ne!(one, two);
        assert!((FIRST..FIRST + COUNT).contains(&one));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, two)).unwrap();
        assert!(!is_free(two));
        drop(listener);
    }
}
