//! A Synapse under our control.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::client::{Client, User};
use crate::process::Process;
use crate::{Config, Deadline, free_port, homeserver_yaml, port};

/// How long a stop may take before it becomes a kill.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often a start with a port of our choice is tried again when another process took the port meanwhile.
const PORT_TRIES: u32 = 5;

/// What of a log goes into an error: some forty lines.
const TAIL: usize = 4_000;

/// A homeserver that runs until it is stopped, killed or dropped. All methods block, and all take `&self`, so that a
/// test can share one.
pub struct Synapse {
    config: Config,
    port: u16,
    client: Client,
    process: Mutex<Option<Process>>,
}

impl Synapse {
    /// Starts Synapse and waits until it answers `/health`.
    ///
    /// # Errors
    /// The data folder cannot be written, the port is taken, Synapse refuses its config, another one runs on the same
    /// data, or it is not up in time. The error holds the end of its log.
    pub fn start(mut config: Config) -> Result<Self> {
        make_private_folder(&config.data)?;
        config.data = config.data.canonicalize()?;
        let chosen = config.port == 0;
        for _ in 0..PORT_TRIES {
            let port = if chosen { free_port()? } else { config.port };
            let synapse = Self::new(config.clone(), port);
            match synapse.launch() {
                Err(_) if chosen && !port::is_free(port) => (),
                result => return result.map(|()| synapse),
            }
        }
        bail!("{PORT_TRIES} free ports in a row were taken by others before Synapse could listen")
    }

    fn new(config: Config, port: u16) -> Self {
        let client = Client::new(format!("http://127.0.0.1:{port}"));
        Self { config, port, client, process: Mutex::new(None) }
    }

    /// The client-server API, `http://127.0.0.1:PORT` without a slash at the end.
    pub fn url(&self) -> &str {
        self.client.url()
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The part after the colon in user ids.
    pub fn server_name(&self) -> &str {
        &self.config.server_name
    }

    /// The folder with its database and `homeserver.log`.
    pub fn data(&self) -> &Path {
        &self.config.data
    }

    /// The process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.running().as_ref().map(Process::pid)
    }

    /// How it ended, if it did so by itself since the last start.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn ended(&self) -> Result<Option<ExitStatus>> {
        self.running().as_mut().map_or(Ok(None), Process::ended)
    }

    /// SIGTERM, and SIGKILL if it is still there after 15 s. Nothing happens when it does not run. True when it went
    /// by itself.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn stop(&self) -> Result<bool> {
        let process = self.running().take();
        process.map_or(Ok(true), |process| process.stop(PATIENCE))
    }

    /// SIGKILL, at once, also while it is paused.
    pub fn kill(&self) {
        drop(self.running().take());
    }

    /// Stops it if it runs, and starts it with the same port, data and config; also after [`kill`](Self::kill).
    ///
    /// # Errors
    /// As for [`start`](Self::start).
    pub fn restart(&self) -> Result<()> {
        self.stop()?;
        self.launch()
    }

    /// SIGSTOP: connections stay open and nothing is answered.
    ///
    /// # Errors
    /// It does not run.
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT after [`pause`](Self::pause).
    ///
    /// # Errors
    /// It does not run.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Makes an account and logs it in.
    ///
    /// # Errors
    /// The name is taken or not allowed, or Synapse does not answer.
    pub fn register_user(&self, localpart: &str, password: &str) -> Result<User> {
        self.client.register(localpart, password)
    }

    /// Logs an account in, with a new device.
    ///
    /// # Errors
    /// Wrong name or password, or Synapse does not answer.
    pub fn login(&self, localpart: &str, password: &str) -> Result<User> {
        self.client.login(localpart, password)
    }

    /// Makes the account unless it is there.
    ///
    /// # Errors
    /// The name is not allowed, or Synapse does not answer.
    pub fn ensure_user(&self, localpart: &str, password: &str) -> Result<()> {
        if self.client.is_available(localpart).with_context(|| format!("cannot look {localpart} up"))? {
            self.register_user(localpart, password)?;
        }
        Ok(())
    }

    /// The end of what Synapse printed and logged since it was started.
    pub fn log_tail(&self) -> String {
        let tails = ["stdout.log", "homeserver.log"].map(|name| tail(&self.config.data.join(name)));
        tails.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn launch(&self) -> Result<()> {
        if !port::is_free(self.port) {
            bail!("port {} is taken; stop what listens there, or choose another port", self.port);
        }
        let yaml = homeserver_yaml::write(&self.config, self.port)?;
        let process = Process::spawn(&self.config.venv, &self.config.data, &yaml)?;
        *self.running() = Some(process);
        self.wait_until_healthy().inspect_err(|_| self.kill())
    }

    fn wait_until_healthy(&self) -> Result<()> {
        let limit = self.config.start_timeout;
        let up = Deadline::after(limit).poll(|| match self.ended()? {
            Some(status) => bail!("Synapse did not start ({status}). Its last words:\n{}", self.log_tail()),
            None => Ok(self.client.is_healthy().then_some(())),
        })?;
        up.with_context(|| format!("Synapse is not up after {limit:?}. Its last words:\n{}", self.log_tail()))
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        self.running().as_mut().context("Synapse does not run")?.signal(signal)
    }

    /// A panic in one test thread must not keep another from stopping Synapse, so a poisoned lock is taken as it is.
    fn running(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

/// The last [`TAIL`] bytes of a file, whatever they are; empty when there is no file.
fn tail(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL)..]).trim().to_owned()
}
