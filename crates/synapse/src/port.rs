//! Ports on loopback.

use std::fs::{self, File, TryLockError};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

/// Below the range from which Linux takes ports for outgoing connections (32768 and up): a server that is stopped
/// and started again on its port must not find it lent to some client in between.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);
/// Locked while this process lives.
static MARKS: Mutex<Vec<File>> = Mutex::new(vec![]);

/// A port on 127.0.0.1 that nobody listens on at this moment, and that no other process gets from here while this one
/// lives: from the search until a server listens it takes a second or two.
///
/// # Errors
/// All 12,000 ports are taken.
pub fn free_port() -> Result<u16> {
    let mut candidates = (0..COUNT).map(|_| candidate());
    candidates.find(|port| mark(*port) && is_free(*port)).context("no free port from 20000 to 31999")
}

/// `false`: another process has marked it. Where no marks can be made the port is taken without one.
fn mark(port: u16) -> bool {
    let folder = std::env::temp_dir().join(format!("parlour-ports-{}", rustix::process::getuid().as_raw()));
    let file = fs::create_dir_all(&folder).and_then(|()| File::create(folder.join(port.to_string())));
    let Ok(file) = file else { return true };
    let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    MARKS.lock().unwrap_or_else(PoisonError::into_inner).extend((!taken).then_some(file));
    !taken
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

    #[test]
    fn a_port_that_another_process_has_is_not_given() {
        let port = free_port().unwrap();
        assert!(
            !mark(port),
            "a lock belongs to the file that was opened, so this one stands for another process"
        );
    }
}
