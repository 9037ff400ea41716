//! The bridge as `up` runs it.

use std::cell::RefCell;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use parlour_synapse::Deadline;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use ureq::Agent;

use super::files::Files;
use super::stop::Stop;

/// A first start makes the lobbies; the bridge promises to be ready within two minutes.
const READY: Duration = Duration::from_secs(130);

/// The bridge promises to be gone 10 s after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(15);

/// A running `parlour serve`. Dropping it kills it.
pub(super) struct Bridge {
    // `try_wait` wants a mutable child where a look is all that is meant.
    child: RefCell<Child>,
    log: PathBuf,
}

/// Writes the registration anew at each start: the homeserver is about to be started with it, and so it always fits
/// the config, which may have been changed by hand.
pub(super) fn write_registration(parlour: &Path, files: &Files) -> Result<()> {
    let mut command = Command::new(parlour);
    command.arg("registration").arg("--config").arg(files.config());
    command.arg("--output").arg(files.registration()).arg("--force").current_dir(files.folder());
    // it tells what is to be done with the file, which is done here
    command.stdout(Stdio::null());
    let status = command.status().context("cannot run parlour")?;
    if !status.success() {
        bail!("`parlour registration` ended with {status}");
    }
    Ok(())
}

impl Bridge {
    /// Starts it and waits until `/ready` says so, or until somebody asks to stop.
    pub(super) fn start(parlour: &Path, files: &Files, port: u16, stop: &Stop) -> Result<Self> {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            bail!("port {port} is taken; stop what listens there (an earlier bridge?), or use --bridge-port");
        }
        let log = File::create(files.log()).context("cannot write parlour.log")?;
        let mut command = Command::new(parlour);
        command.arg("serve").arg("--config").arg(files.config()).current_dir(files.folder());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A Ctrl-C in the terminal is for us; the bridge stops before its homeserver does.
        let child = command.process_group(0).spawn().context("cannot start parlour")?;
        let bridge = Self { child: RefCell::new(child), log: files.log() };
        bridge.wait_until_ready(port, stop)?;
        Ok(bridge)
    }

    /// An error with its last words when it has ended.
    pub(super) fn check(&self) -> Result<()> {
        match self.child.borrow_mut().try_wait()? {
            Some(status) => bail!("the bridge ended ({status}). Its last words:\n{}", self.last_words()),
            None => Ok(()),
        }
    }

    /// SIGTERM, and SIGKILL when it does not go in time.
    pub(super) fn stop(self) -> Result<()> {
        let ended = || Ok(self.child.borrow_mut().try_wait()?);
        if ended()?.is_some() {
            return Ok(());
        }
        let pid = i32::try_from(self.child.borrow().id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("a pid out of range")?, Signal::TERM).context("cannot signal the bridge")?;
        match Deadline::after(PATIENCE).poll(ended)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("the bridge stopped with {status}. Its last words:\n{}", self.last_words()),
            None => bail!("the bridge did not stop within {PATIENCE:?} and was killed"),
        }
    }

    fn wait_until_ready(&self, port: u16, stop: &Stop) -> Result<()> {
        let agent = agent();
        let mut reason = String::from("it does not answer");
        let ready = Deadline::after(READY).poll(|| {
            self.check()?;
            reason = match ask(&agent, &format!("http://127.0.0.1:{port}/ready")) {
                Ok(None) => return Ok(Some(())),
                Ok(Some(reason)) => reason,
                Err(error) => error.to_string(),
            };
            Ok(stop.is_asked().then_some(()))
        })?;
        ready.with_context(|| {
            format!("the bridge is not ready: {reason}. Its last words:\n{}", self.last_words())
        })
    }

    fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let mut child = self.child.borrow_mut();
        // Both fail only for a child that has been reaped, and then nothing is left to do.
        let _ = child.kill();
        let _ = child.wait();
    }
}

pub(super) fn agent() -> Agent {
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    config.timeout_global(Some(Duration::from_secs(5))).build().into()
}

/// Nothing when it is ready, else what it says.
fn ask(agent: &Agent, url: &str) -> Result<Option<String>> {
    let mut answer = agent.get(url).call()?;
    if answer.status() == 200 {
        return Ok(None);
    }
    let text = answer.body_mut().read_to_string()?;
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let reason = body["reason"].as_str().or(body["message"].as_str()).unwrap_or(&text);
    Ok(Some(reason.trim().to_owned()))
}
