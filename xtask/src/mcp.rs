//! The official MCP clients and testers, for the stories.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::human::{node, same, stamp};
use crate::python;
use crate::step::{run_step, workspace};

/// The SDK for Python.
const SDK: &str = "mcp==2.3.0";

/// Where they are, absolute.
pub(crate) struct Hosts {
    /// The folder with the clients for Node.js, with what they need beside them.
    pub(crate) folder: PathBuf,
    /// The Python that has the SDK.
    pub(crate) python: PathBuf,
}

/// Installs them unless they are there.
pub(crate) fn install() -> Result<Hosts> {
    let folder = std::path::absolute(workspace().join("tests/mcp"))?;
    node()?;
    if !same(&folder.join("package-lock.json"), &stamp(&folder)) {
        // Not `npm ci`: the Inspector's web part, which is not used, wants a package for Windows that could not be had
        // (2026-11), and `ci` insists. The versions are those of the lock file all the same.
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&folder);
        run_step("MCP clients from npm", &mut npm)?;
        fs::copy(folder.join("package-lock.json"), stamp(&folder))?;
    }
    Ok(Hosts { folder, python: python::venv("mcp-venv", SDK)?.join("bin/python") })
}
