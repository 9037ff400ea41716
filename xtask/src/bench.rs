//! `cargo xtask bench`: the release build beside the raw homeserver, in one run.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use crate::step::{release_binary, run_step, synapse};

/// Builds bridge and bench, and runs `parlour-bench all` with further arguments passed on.
pub(crate) fn run(arguments: &[OsString]) -> Result<()> {
    let venv = synapse()?;
    let parlour = release_binary("parlour")?;
    let mut bench = Command::new(release_binary("parlour-bench")?);
    bench.arg("all").arg("--parlour").arg(parlour).arg("--venv").arg(venv).args(arguments);
    run_step("bench", &mut bench)
}
