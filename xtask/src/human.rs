//! People with clients that encrypt, for the stories: matrix-js-sdk from npm and matrix-nio from PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;

use crate::python;
use crate::step::{run_step, workspace};

/// matrix-js-sdk runs on this and newer ones.
const NODE: u32 = 20;

/// An encryption of its own, on vodozemac, with wheels for all common platforms.
const NIO: &str = "matrix-nio[e2e]==0.26.0";

/// The two clients' places, absolute.
pub(crate) struct Clients {
    /// `human.mjs`, with what it needs beside it.
    pub(crate) js: PathBuf,
    /// The Python that has matrix-nio.
    pub(crate) nio: PathBuf,
}

/// Installs both unless they are there.
pub(crate) fn install() -> Result<Clients> {
    let folder = workspace().join("tests/human");
    node()?;
    modules(&folder, "matrix-js-sdk from npm")?;
    Ok(Clients { js: std::path::absolute(folder.join("human.mjs"))?, nio: nio()? })
}

/// Installs what a folder's lock file names, unless it is there.
pub(crate) fn modules(folder: &Path, title: &str) -> Result<()> {
    if !same(&folder.join("package-lock.json"), &stamp(folder)) {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(folder);
        run_step(title, &mut npm)?;
        fs::copy(folder.join("package-lock.json"), stamp(folder))?;
    }
    Ok(())
}

/// What the folder's modules were installed from; gone when they are.
pub(crate) fn stamp(folder: &Path) -> PathBuf {
    folder.join("node_modules/.installed-from")
}

pub(crate) fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).is_ok_and(|text| fs::read(other).is_ok_and(|other| text == other))
}

/// Node.js and npm, from the system's packages where there are none and we may.
pub(crate) fn node() -> Result<()> {
    if !(runs("node") && runs("npm")) {
        let may = geteuid().is_root() && runs("apt-get");
        ensure!(may, "the stories with encryption need Node.js {NODE} or newer with npm; install them");
        run_step("apt-get update", Command::new("apt-get").arg("update"))?;
        let mut apt = Command::new("apt-get");
        apt.args(["install", "-y", "--no-install-recommends", "nodejs", "npm"]);
        run_step("Node.js from the system's packages", &mut apt)?;
    }
    let version = version("node")?;
    match major(&version) {
        Some(major) if major >= NODE => Ok(()),
        _ => bail!("Node.js here is {version}; the stories with encryption need {NODE} or newer"),
    }
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

fn version(program: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `v20.11.1` is 20.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

fn nio() -> Result<PathBuf> {
    Ok(python::venv("nio-venv", NIO)?.join("bin/python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node() {
        assert_eq!([major("v20.11.1"), major("v22"), major("")], [Some(20), Some(22), None]);
    }

    #[test]
    fn modules_are_installed_again_when_the_lock_file_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (lock, stamp) = (folder.path().join("package-lock.json"), stamp(folder.path()));
        fs::write(&lock, "one").unwrap();
        assert!(!same(&lock, &stamp));
        fs::create_dir(folder.path().join("node_modules")).unwrap();
        fs::copy(&lock, &stamp).unwrap();
        assert!(same(&lock, &stamp));
        fs::write(&lock, "two").unwrap();
        assert!(!same(&lock, &stamp));
    }
}
