//! Ctrl-C and SIGTERM, noted instead of obeyed at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether somebody asked this process to stop.
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on SIGINT, SIGTERM and SIGHUP (a closed terminal) are only noted.
    pub(super) fn on_signals() -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&asked)).context("cannot watch for Ctrl-C")?;
        }
        Ok(Self(asked))
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
