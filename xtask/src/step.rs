//! Steps of a longer command: each says what it is and how long it took, and the first that fails ends those that come
//! after it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Runs one step between two lines on standard error, the second with its time.
// How long a build or test run took is read off the real clock; nothing depends on it.
#[allow(clippy::disallowed_methods)]
pub(crate) fn step<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("==> {title}");
    let start = Instant::now();
    let result = work().with_context(|| format!("failed: {title}"));
    let word = if result.is_ok() { "ok" } else { "FAILED" };
    eprintln!("<== {title}: {word} in {:.1} s", start.elapsed().as_secs_f64());
    result
}

/// A step that is a command; its output goes where ours goes, unchanged.
pub(crate) fn run_step(title: &str, command: &mut Command) -> Result<()> {
    step(title, || succeed(command))
}

/// Installs Synapse unless it is there, and gives its virtual environment.
pub(crate) fn synapse() -> Result<PathBuf> {
    let venv = parlour_synapse::shared_venv();
    step("Synapse from PyPI", || parlour_synapse::install(&venv))?;
    Ok(venv)
}

/// Cargo in the workspace's folder, with these arguments.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    // Cargo tells its children which cargo it is, so that a chosen toolchain stays chosen.
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    command
}

/// `target/release/NAME`, built now.
pub(crate) fn release_binary(package: &str) -> Result<PathBuf> {
    // One package a call: together, cargo would join their dependencies' features and rebuild what is there.
    run_step(
        &format!("release build of {package}"),
        &mut cargo(&["build", "--release", "--package", package]),
    )?;
    Ok(target()?.join("release").join(package))
}

/// Whether `cargo nextest` is there. It is not installed here: building it takes longer than it saves.
pub(crate) fn has_nextest() -> bool {
    let mut command = cargo(&["nextest", "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The target folder, wherever cargo was told to put it: this program is in `TARGET/debug/`.
pub(crate) fn target() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where this program is")?;
    Ok(own.ancestors().nth(2).context("this program is not in a target folder")?.to_owned())
}

/// The workspace's folder.
pub(crate) fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

fn succeed(command: &mut Command) -> Result<()> {
    let status =
        command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{} ended with {status}", command.get_program().display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_says_which_it_was() {
        let error = run_step("the impossible", &mut Command::new("false")).unwrap_err();
        assert!(format!("{error:#}").starts_with("failed: the impossible: false ended with exit status: 1"));
        run_step("the easy", &mut Command::new("true")).unwrap();
    }

    #[test]
    fn cargo_runs_in_the_workspace() {
        assert!(workspace().join("xtask/Cargo.toml").is_file());
    }
}
