//! SIGTERM and Ctrl-C.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on both are noted instead of ending the process.
    pub(super) fn watch() -> Result<Self, Failure> {
        let watch = |kind| {
            signal(kind).map_err(|e| {
                Failure::new(format!("cannot watch for signals: {e}; raise the limits of this user"))
            })
        };
        Ok(Self { terminate: watch(SignalKind::terminate())?, interrupt: watch(SignalKind::interrupt())? })
    }

    /// The name of the next one.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
