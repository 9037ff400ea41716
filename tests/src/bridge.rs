//! The built binary as a child process.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use parking_lot::Mutex;
use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};

use crate::http::{Answer, client};
use crate::time::until;

/// A first start makes the lobbies; the bridge promises two minutes for thirty of them.
const READY: u64 = 120;

/// The bridge promises to be gone 10 s after SIGTERM; the rest is for a busy machine.
const PATIENCE: u64 = 14;

/// A bridge that is started, killed and started again on the same config and data. Dropping it kills it.
pub struct Bridge {
    folder: PathBuf,
    port: u16,
    metrics: u16,
    http: Client,
    child: Mutex<Option<Child>>,
}

/// Where the binary is: `PARLOUR_BIN`, else beside the folder of the test's own binary.
fn binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("PARLOUR_BIN") {
        return Ok(path.into());
    }
    let test = std::env::current_exe()?;
    let target = test.ancestors().nth(2).context("the test's binary is nowhere")?;
    let path = target.join("parlour");
    ensure!(path.exists(), "there is no {}: run `cargo build -p parlour` or set PARLOUR_BIN", path.display());
    Ok(path)
}

impl Bridge {
    pub(crate) fn new(folder: &Path, port: u16, metrics: u16) -> Result<Self> {
        Ok(Self { folder: folder.to_owned(), port, metrics, http: client()?, child: Mutex::new(None) })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs `parlour COMMAND --config ...` to its end; gives what it printed.
    ///
    /// # Errors
    /// It cannot be run, or does not end with 0.
    pub fn command(&self, arguments: &[&str]) -> Result<String> {
        run(self.prepared(arguments)?)
    }

    /// The same while the story goes on.
    ///
    /// # Errors
    /// It cannot be started, or fails; then with its words.
    pub async fn command_beside(&self, arguments: &[&str]) -> Result<String> {
        let command = self.prepared(arguments)?;
        tokio::task::spawn_blocking(move || run(command)).await?
    }

    fn prepared(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(binary()?);
        command.args(arguments).arg("--config").arg(self.folder.join("parlour.toml"));
        command.current_dir(&self.folder).stdin(Stdio::null());
        Ok(command)
    }

    /// Starts `parlour serve`. Not ready yet when this returns.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self) -> Result<()> {
        let log = OpenOptions::new().create(true).append(true).open(self.log_path())?;
        let mut command = Command::new(binary()?);
        command.args([
            "serve",
            "--log",
            "info,parlour=debug,parlour_app=debug,parlour_matrix=debug",
            "--config",
        ]);
        command.arg(self.folder.join("parlour.toml")).current_dir(&self.folder);
        // In the test's process group, so that whoever stops the test stops the bridge too.
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        *self.child.lock() = Some(child);
        Ok(())
    }

    /// Waits until `/ready` says so.
    ///
    /// # Errors
    /// It ends, or is not ready after two minutes; the error has its last words.
    pub async fn ready(&self) -> Result<()> {
        let mut reason = String::from("no answer");
        let ready = until("the bridge to be ready", READY, async || {
            if let Some(status) = self.ended()? {
                bail!("the bridge ended ({status})");
            }
            match self.readiness().await {
                Ok(answer) if answer.status == 200 => return Ok(Some(())),
                Ok(answer) => reason = answer.body.to_string(),
                Err(_) => (),
            }
            Ok(None)
        });
        let ready = ready.await;
        ready.with_context(|| format!("not ready: {reason}. Its last words:\n{}", self.last_words()))
    }

    /// `GET /ready`.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn readiness(&self) -> Result<Answer> {
        let request = self.http.get(format!("{}/ready", self.url()));
        Answer::of(request.timeout(Duration::from_secs(5))).await
    }

    /// A figure of `/metrics`; `None` where there is none of that name yet.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn metric(&self, name: &str) -> Result<Option<f64>> {
        let url = format!("http://127.0.0.1:{}/metrics", self.metrics);
        let text = self.http.get(url).send().await?.text().await?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(value.map(str::parse).transpose()?)
    }

    /// Waits until `/ready` is a 503 whose reason names this.
    ///
    /// # Errors
    /// It says something else for a minute.
    pub async fn not_ready_because(&self, what: &str) -> Result<String> {
        let mut last = String::new();
        let said = until("a reason", 60, async || {
            let Ok(answer) = self.readiness().await else { return Ok(None) };
            last = answer.body["reason"].as_str().unwrap_or_default().to_owned();
            let found = answer.status == 503 && last.contains(what);
            Ok(found.then(|| last.clone()))
        });
        let said = said.await;
        said.with_context(|| format!("the reason should name {what}, but it is {last:?}"))
    }

    /// SIGKILL, and reaped.
    ///
    /// # Errors
    /// It had ended by itself.
    pub fn kill(&self) -> Result<()> {
        if let Some(status) = self.ended()? {
            bail!("the bridge had ended by itself ({status}). Its last words:\n{}", self.last_words());
        }
        let mut child = self.child.lock().take().context("the bridge does not run")?;
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// SIGTERM, which it has to answer by ending with 0 in time.
    ///
    /// # Errors
    /// It does not.
    pub async fn stop(&self) -> Result<()> {
        let pid = self.child.lock().as_ref().context("the bridge does not run")?.id();
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a pid out of range")?;
        kill_process(pid, Signal::TERM)?;
        let status = until("the bridge to end after SIGTERM", PATIENCE, async || self.ended()).await?;
        *self.child.lock() = None;
        ensure!(status.success(), "ended with {status}. Its last words:\n{}", self.last_words());
        Ok(())
    }

    /// Stops it as an operator would, starts it, waits until it is ready.
    ///
    /// # Errors
    /// One of the three fails.
    pub async fn restart(&self) -> Result<()> {
        self.stop().await?;
        self.start()?;
        self.ready().await
    }

    /// Whether it runs.
    pub fn runs(&self) -> bool {
        self.child.lock().is_some() && matches!(self.ended(), Ok(None))
    }

    /// All that it logged since its first start.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log_path()).unwrap_or_default()).into_owned()
    }

    /// Its SQLite database; the journal, which is another, lies beside it.
    ///
    /// # Errors
    /// There is none.
    pub fn database(&self) -> Result<PathBuf> {
        self.database_named("parlour.db")
    }

    /// The database of transactions that are still to be worked off.
    ///
    /// # Errors
    /// There is none.
    pub fn journal(&self) -> Result<PathBuf> {
        self.database_named("journal.db")
    }

    fn database_named(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join("data").join(name);
        ensure!(is_database(&path), "there is no database {name} in data");
        Ok(path)
    }

    pub(crate) fn last_words(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    fn ended(&self) -> Result<Option<ExitStatus>> {
        Ok(self.child.lock().as_mut().map(Child::try_wait).transpose()?.flatten())
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("parlour.log")
    }
}

fn is_database(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0; 15];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && &head == b"SQLite format 3"
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(child) = self.child.get_mut() {
            // Both fail only for a child that has been reaped, and then nothing is left to do.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn run(mut command: Command) -> Result<String> {
    let output = command.output()?;
    let text = [output.stdout, output.stderr].map(|o| String::from_utf8_lossy(&o).into_owned()).join("");
    ensure!(output.status.success(), "{command:?} ended with {}: {text}", output.status);
    Ok(text)
}
