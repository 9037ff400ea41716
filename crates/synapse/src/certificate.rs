//! What a homeserver shows others, who do not look at it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

const MAKE: &str = include_str!("certificate.py");

/// A new certificate with its key, in PEM. Made by the Python of Synapse's environment, which has what it takes.
pub(crate) fn make(venv: &Path) -> Result<String> {
    let python = std::path::absolute(venv)?.join("bin/python");
    let made = Command::new(&python).args(["-c", MAKE]).output();
    let made = made.with_context(|| format!("cannot start {}", python.display()))?;
    let words = String::from_utf8_lossy(&made.stderr);
    ensure!(made.status.success(), "cannot make a certificate: {words}");
    Ok(String::from_utf8(made.stdout)?)
}
