//! Puts Synapse from PyPI into a virtual environment.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

/// The Synapse that everything here was measured with.
pub const VERSION: &str = "1.163.2";

/// Says which version a complete installation has; written last.
const MARKER: &str = "parlour-synapse-version";

/// Python's oldest minor version that this Synapse runs on (its package metadata, `Requires-Python`).
const OLDEST_PYTHON: &str = "3.10";

/// Where the environment is that all tests share: `PARLOUR_SYNAPSE_VENV`, else `target/synapse-venv` of the workspace.
// A place on this machine, not a setting of the bridge, so the config is not asked.
#[allow(clippy::disallowed_methods)]
pub fn shared_venv() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = own.ancestors().nth(2).unwrap_or(own);
    std::env::var("PARLOUR_SYNAPSE_VENV")
        .map_or_else(|_| workspace.join("target/synapse-venv"), PathBuf::from)
}

/// Makes sure that `venv` is a virtual environment with Synapse [`VERSION`]. Costs nothing when it is one; else some
/// 20 s and a download. Several processes may call it at once: one installs, the others wait.
///
/// # Errors
/// There is no Python 3.10 or newer, Python has no venv module, or pip fails. Each says what to do.
pub fn install(venv: &Path) -> Result<()> {
    if is_installed(venv) {
        return Ok(());
    }
    let _lock = lock(venv)?;
    if is_installed(venv) {
        return Ok(());
    }
    check_python()?;
    make_venv(venv)?;
    pip_install(venv)?;
    write_marker(venv)
}

/// The marker alone would not do: an upgrade of the system's Python leaves the environment with a dangling link.
fn is_installed(venv: &Path) -> bool {
    let version = std::fs::read_to_string(venv.join(MARKER)).unwrap_or_default();
    version.trim() == VERSION && venv.join("bin/python").exists()
}

/// Held until it is dropped. The kernel lets go of it when the holder dies, so a leftover file blocks nobody.
fn lock(venv: &Path) -> Result<File> {
    let parent = venv.parent().context("the virtual environment needs a folder to be in")?;
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    let path = venv.with_extension("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

fn check_python() -> Result<()> {
    let test = format!("import sys; sys.exit(sys.version_info < ({}))", OLDEST_PYTHON.replace('.', ", "));
    match Command::new("python3").args(["-c", &test]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => bail!(
            "Synapse {VERSION} needs Python {OLDEST_PYTHON} or newer, and `python3` is older; install one"
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("there is no `python3` on the PATH; install Python {OLDEST_PYTHON} or newer")
        }
        Err(error) => Err(error).context("cannot run python3"),
    }
}

fn make_venv(venv: &Path) -> Result<()> {
    let make = || run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv));
    let first = make()?;
    if first.status.success() {
        return Ok(());
    }
    // Debian and Ubuntu keep the module in a package of its own.
    if apt_install_venv() && make()?.status.success() {
        return Ok(());
    }
    bail!(
        "`python3 -m venv` failed; on Debian or Ubuntu run `apt-get install python3-venv` and try again. \
         It said:\n{}",
        last_words(&first)
    )
}

/// False when we may not install packages, or it did not work.
fn apt_install_venv() -> bool {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        command.output().is_ok_and(|output| output.status.success())
    };
    rustix::process::geteuid().is_root()
        && apt(&["update", "-qq"])
        && apt(&["install", "-y", "-qq", "python3-venv"])
}

fn pip_install(venv: &Path) -> Result<()> {
    let package = format!("matrix-synapse=={VERSION}");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package];
    let output = run(Command::new(venv.join("bin/python")).args(pip))?;
    if !output.status.success() {
        bail!(
            "pip could not install {package}; is the Python package index reachable? It said:\n{}",
            last_words(&output)
        );
    }
    Ok(())
}

fn write_marker(venv: &Path) -> Result<()> {
    std::fs::write(venv.join(MARKER), VERSION).context("cannot mark the virtual environment as complete")
}

fn run(command: &mut Command) -> Result<Output> {
    command.output().with_context(|| format!("cannot run {}", command.get_program().display()))
}

/// The end of what a command printed. venv complains on standard output, pip on standard error.
fn last_words(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("\n");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_without_its_python_is_not_installed() {
        let folder = tempfile::tempdir().unwrap();
        write_marker(folder.path()).unwrap();
        assert!(!is_installed(folder.path()));
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        File::create(folder.path().join("bin/python")).unwrap();
        assert!(is_installed(folder.path()));
        std::fs::write(folder.path().join(MARKER), "1.0.0").unwrap();
        assert!(!is_installed(folder.path()));
    }

    #[test]
    fn the_lock_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("venv");
        let held = lock(&venv).unwrap();
        let other = File::open(venv.with_extension("lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        other.try_lock().unwrap();
    }
}
