//! Python programs that the stories use, each in a virtual environment of its own below `target/`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::step::{run_step, step, target};

/// The environment with this package, a pinned requirement such as `name==1.2`. Installed from PyPI unless it is there.
pub(crate) fn venv(name: &str, requirement: &str) -> Result<PathBuf> {
    let venv = std::path::absolute(target()?.join(name))?;
    // The last thing that is written, so that half an installation is done again.
    let stamp = venv.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirement) {
        return Ok(venv);
    }
    step(&format!("{requirement} from PyPI"), || {
        let mut make = Command::new("python3");
        run_step("a virtual environment", make.args(["-m", "venv", "--clear"]).arg(&venv))?;
        let mut pip = Command::new(venv.join("bin/python"));
        run_step("pip", pip.args(["-m", "pip", "install", "--quiet", requirement]))?;
        Ok(fs::write(&stamp, requirement)?)
    })?;
    Ok(venv)
}
