//! The bridge under test as a process: killed, started again, and its pid for memory and CPU.
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    clock::{ms_since, now, pause},
    machine,
};

/// The contract with operators says that a bridge is gone this long after SIGTERM; a little on top for a busy machine.
const STOP: Duration = Duration::from_secs(15);

/// How to start the bridge that we run ourselves.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) binary: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) log: PathBuf,
    /// Over the config, for the next start.
    pub(crate) env: Vec<(String, String)>,
}

/// A bridge process: one of ours, or one that somebody else started.
pub(crate) enum Bridge {
    Ours { program: Program, child: Option<Child> },
    Foreign { pid: Option<u32>, restart: Option<String>, pid_file: Option<PathBuf> },
}

impl Bridge {
    /// Its pid, where it is known and runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Ours { child, .. } => child.as_ref().map(Child::id),
            Self::Foreign { pid, .. } => *pid,
        }
    }

    /// Whether a scenario may take it down and start it again.
    pub(crate) fn can_restart(&self) -> bool {
        match self {
            Self::Ours { .. } => true,
            Self::Foreign { pid, restart, pid_file } => {
                pid.is_some() && restart.is_some() && pid_file.is_some()
            }
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, Self::Ours { .. })
    }

    /// What stands over the config from the next start on, where the bridge is ours.
    pub(crate) fn set_env(&mut self, env: &[(String, String)]) {
        if let Self::Ours { program, .. } = self {
            program.env = env.to_vec();
        }
    }

    /// Starts it and returns at once; it answers a while later.
    pub(crate) fn start(&mut self) -> Result<()> {
        match self {
            Self::Ours { program, child } => *child = Some(program.serve()?),
            Self::Foreign { pid, restart, pid_file } => {
                *pid = Some(start_foreign(restart.as_deref(), pid_file.as_deref())?)
            }
        }
        Ok(())
    }

    /// `kill -9`, and waits until it is gone.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.end(Signal::KILL).await
    }

    /// SIGTERM, and waits until it has finished.
    pub(crate) async fn stop(&mut self) -> Result<()> {
        self.end(Signal::TERM).await
    }

    async fn end(&mut self, signal: Signal) -> Result<()> {
        let pid = self.pid().context("the bridge's pid is not known")?;
        let handle = Pid::from_raw(pid.cast_signed()).context("0 is no pid")?;
        kill_process(handle, signal).with_context(|| format!("cannot signal the bridge, pid {pid}"))?;
        let start = now();
        while self.is_alive(pid)? {
            if ms_since(start) > STOP.as_secs_f64() * 1000.0 {
                bail!("the bridge, pid {pid}, was still there {STOP:?} after {signal:?}");
            }
            // a process that is not our child tells nobody when it ends
            pause(5).await;
        }
        Ok(())
    }

    fn is_alive(&mut self, pid: u32) -> Result<bool> {
        match self {
            Self::Ours { child: Some(child), .. } => Ok(child.try_wait()?.is_none()),
            Self::Ours { child: None, .. } => Ok(false),
            Self::Foreign { .. } => Ok(machine::is_running(pid)),
        }
    }

    /// Fails where a bridge of ours has ended by itself.
    pub(crate) fn check_running(&mut self) -> Result<()> {
        let Self::Ours { program, child: Some(child) } = self else { return Ok(()) };
        match child.try_wait()? {
            Some(status) => bail!("the bridge ended with {status}; its log ends:\n{}", tail(&program.log)),
            None => Ok(()),
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Self::Ours { child: Some(child), .. } = self {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Program {
    /// Writes the registration that the homeserver has to load.
    pub(crate) fn write_registration(&self, output: &Path) -> Result<()> {
        let mut command = self.command("registration");
        command.arg("--output").arg(output);
        let status = command.status().with_context(|| format!("cannot run {}", self.binary.display()))?;
        if !status.success() {
            bail!("`{} registration` ended with {status}: {}", self.binary.display(), tail(&self.log));
        }
        Ok(())
    }

    fn serve(&self) -> Result<Child> {
        self.command("serve").spawn().with_context(|| format!("cannot run {}", self.binary.display()))
    }

    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.envs(self.env.iter().cloned());
        command.arg(subcommand).arg("--config").arg(&self.config).stdin(Stdio::null()).stdout(Stdio::null());
        let log = File::options().create(true).append(true).open(&self.log);
        command.stderr(log.map_or_else(|_| Stdio::null(), Stdio::from));
        command
    }
}

fn start_foreign(restart: Option<&str>, pid_file: Option<&Path>) -> Result<u32> {
    let (restart, pid_file) =
        restart.zip(pid_file).context("--restart-command and --pid-file are needed for a restart")?;
    let status = Command::new("sh").arg("-c").arg(restart).stdin(Stdio::null()).status()?;
    if !status.success() {
        bail!("--restart-command ended with {status}");
    }
    let text =
        std::fs::read_to_string(pid_file).with_context(|| format!("cannot read {}", pid_file.display()))?;
    text.trim().parse().with_context(|| format!("{} holds no pid", pid_file.display()))
}

/// The last lines of a log, for an error.
fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(folder: &Path, text: &str) -> Program {
        use std::os::unix::fs::PermissionsExt as _;
        let binary = folder.join("bridge");
        std::fs::write(&binary, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Program { binary, config: "unused".into(), log: folder.join("log"), env: vec![] }
    }

    #[tokio::test]
    async fn a_bridge_is_killed_and_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = Bridge::Ours { program: script(folder.path(), "exec sleep 60"), child: None };
        bridge.start().unwrap();
        let first = bridge.pid();
        bridge.kill().await.unwrap();
        assert!(bridge.check_running().is_err());
        bridge.start().unwrap();
        assert_ne!(bridge.pid(), first);
        bridge.check_running().unwrap();
        bridge.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_bridge_that_ends_by_itself_is_told_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let program = script(folder.path(), "echo the port is taken >&2; exit 3");
        let child = program.serve().unwrap();
        let mut bridge = Bridge::Ours { program, child: Some(child) };
        if let Bridge::Ours { child: Some(child), .. } = &mut bridge {
            child.wait().unwrap();
        }
        let error = bridge.check_running().unwrap_err().to_string();
        assert!(error.contains("the port is taken"), "{error}");
    }
}
