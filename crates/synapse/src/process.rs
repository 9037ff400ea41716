//! The Synapse process: started, signalled, reaped.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use crate::{Deadline, nursery};

const RUN: &str = include_str!("run.py");

/// A running Synapse. Dropping it kills and reaps it.
pub(crate) struct Process(Child);

impl Process {
    /// Starts Synapse with this config file. What it prints before its log is set up goes to `stdout.log`.
    pub(crate) fn spawn(venv: &Path, data: &Path, yaml: &Path) -> Result<Self> {
        let python = std::path::absolute(venv)?.join("bin/python");
        let output = File::create(data.join("stdout.log")).context("cannot write stdout.log")?;
        let mut command = Command::new(&python);
        command.args(["-c", RUN, &std::process::id().to_string(), "-c"]).arg(yaml);
        command.current_dir(data).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        // A Ctrl-C in the terminal is for our parent, which stops Synapse in its turn.
        command.process_group(0);
        let child = nursery::spawn(command)
            .with_context(|| format!("cannot start {}; is Synapse installed there?", python.display()))?;
        Ok(Self(child))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.0.try_wait()?)
    }

    /// SIGTERM, then SIGKILL if it is still there after `patience`. True when the first was enough.
    pub(crate) fn stop(mut self, patience: Duration) -> Result<bool> {
        self.signal(Signal::TERM)?;
        // A paused process takes the SIGTERM only once it goes on.
        self.signal(Signal::CONT)?;
        let ended = Deadline::after(patience).poll(|| self.ended())?;
        Ok(ended.is_some_and(|status| status.signal() != Some(Signal::KILL.as_raw())))
    }

    /// Sends a signal. The child is not reaped yet, so its pid cannot belong to anyone else.
    pub(crate) fn signal(&mut self, signal: Signal) -> Result<()> {
        if self.ended()?.is_some() {
            return Ok(());
        }
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).context("a pid out of range")?;
        kill_process(pid, signal).with_context(|| format!("cannot signal Synapse ({})", self.pid()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a child that has been reaped, and then nothing is left to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
