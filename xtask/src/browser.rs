//! A person's browser, for the stories about pages: Chromium with a Chinese font, playwright-core and axe-core.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use rustix::process::geteuid;

use crate::human::modules;
use crate::step::{run_step, workspace};

/// Where the stories look for it unless `PARLOUR_CHROMIUM` says otherwise.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Small, and has all signs of the pages.
const PACKAGES: [&str; 2] = ["chromium", "fonts-wqy-microhei"];

/// Installs what is not there.
pub(crate) fn install() -> Result<()> {
    if std::env::var_os("PARLOUR_CHROMIUM").is_none() && !Path::new(CHROMIUM).exists() {
        from_packages()?;
    }
    modules(&workspace().join("tests/browser"), "playwright-core and axe-core from npm")
}

fn from_packages() -> Result<()> {
    let may = geteuid().is_root() && has_apt();
    ensure!(
        may,
        "the stories about pages need {CHROMIUM}; install it, or name another one in PARLOUR_CHROMIUM"
    );
    run_step("apt-get update", Command::new("apt-get").arg("update"))?;
    let mut apt = Command::new("apt-get");
    apt.args(["install", "-y", "--no-install-recommends"]).args(PACKAGES);
    run_step("Chromium from the system's packages", &mut apt)
}

fn has_apt() -> bool {
    let mut command = Command::new("apt-get");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}
