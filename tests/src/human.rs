//! A person with a client that encrypts: `tests/human/human.mjs` (matrix-js-sdk) or `human_nio.py` (matrix-nio) as a
//! child process, one JSON object a line in both directions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use parking_lot::Mutex;
use parlour_synapse::Synapse;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use crate::person::Person;
use crate::time::Deadline;

/// How long an event may take to a person's client on two busy cores.
const SEE: u64 = 60;

/// How long a command may take; the sign-in has keys to make.
const OBEY: Duration = Duration::from_secs(90);

const PASSWORD: &str = "correct horse battery";

/// Which client a person has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// matrix-js-sdk with its Rust crypto, the device cross-signed.
    Js,
    /// matrix-nio, the device not signed.
    Nio,
}

/// What the process said so far.
#[derive(Default)]
struct Said {
    events: Mutex<Vec<Value>>,
    /// Commands that wait for their result, by id.
    open: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

/// One device of somebody. Dropping it kills the client.
pub struct Human {
    said: Arc<Said>,
    news: watch::Receiver<usize>,
    stdin: tokio::sync::Mutex<ChildStdin>,
    next: AtomicU64,
    // Held for its `kill_on_drop`.
    _child: Child,
    pub client: Client,
    pub user_id: String,
    pub device_id: String,
    /// The same session without encryption: what the homeserver itself knows. It must not sync.
    pub raw: Person,
}

impl Human {
    /// Makes an account and signs it in; the recovery key is kept in `folder`.
    ///
    /// # Errors
    /// Synapse refuses, or the client does not start; the error says what to install.
    pub async fn register(synapse: &Synapse, folder: &Path, localpart: &str, client: Client) -> Result<Self> {
        let first = tokio::task::block_in_place(|| synapse.register_user(localpart, PASSWORD))?;
        // The registration's own device has no keys; a person has only the devices that they use.
        Person::of_session(synapse, &first.user_id, &first.access_token)?.log_out().await?;
        Self::sign_in(synapse, folder, localpart, client).await
    }

    /// One more device of an account, cross-signed by the recovery key that the first one left in `folder`.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub async fn sign_in(synapse: &Synapse, folder: &Path, localpart: &str, client: Client) -> Result<Self> {
        let mut command = command(client, folder, localpart)?;
        command.args(["--hs", synapse.url(), "--user", localpart]).env("HUMAN_PASSWORD", PASSWORD);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot run {:?}", command.as_std()))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let said = Arc::new(Said::default());
        let signed_in = said.expect(0);
        let (tell, news) = watch::channel(0);
        tokio::spawn(read(stdout, said.clone(), tell));
        let me = result(signed_in, "sign in").await?;
        let text =
            |name: &str| me[name].as_str().map(str::to_owned).with_context(|| format!("no {name}: {me}"));
        let (user_id, device_id) = (text("user")?, text("device")?);
        ensure!(client != Client::Js || me["crossSigned"] == true, "{user_id} is not cross-signed");
        let raw = Person::of_session(synapse, &user_id, &text("accessToken")?)?;
        let (stdin, next) = (tokio::sync::Mutex::new(stdin), AtomicU64::new(1));
        Ok(Self { said, news, stdin, next, _child: child, client, user_id, device_id, raw })
    }

    /// Gives a command of `commands.mjs`; gives its result.
    ///
    /// # Errors
    /// It is refused, or the client is gone.
    pub async fn obey(&self, cmd: &str, mut fields: Value) -> Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        fields["cmd"] = json!(cmd);
        fields["id"] = json!(id);
        let answer = self.said.expect(id);
        self.stdin.lock().await.write_all(format!("{fields}\n").as_bytes()).await?;
        result(answer, cmd).await.with_context(|| format!("{} should {cmd}", self.user_id))
    }

    /// Says something that mentions nobody; gives the event id.
    ///
    /// # Errors
    /// The homeserver refuses.
    pub async fn say(&self, room: &str, text: &str) -> Result<String> {
        self.send(json!({"room": room, "text": text})).await
    }

    /// The command `send`; gives the event id.
    ///
    /// # Errors
    /// The homeserver refuses.
    pub async fn send(&self, fields: Value) -> Result<String> {
        let sent = self.obey("send", fields).await?;
        Ok(sent["eventId"].as_str().context("sent without an eventId")?.to_owned())
    }

    /// The first event, told already or yet to come, that `wanted` says yes to.
    ///
    /// # Errors
    /// None comes within a minute.
    pub async fn see(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let deadline = Deadline::after(SEE);
        let mut news = self.news.clone();
        loop {
            news.mark_unchanged();
            if let Some(event) = self.said.events.lock().iter().find(|e| wanted(e)) {
                return Ok(event.clone());
            }
            match timeout(deadline.left(), news.changed()).await {
                Ok(Ok(())) => (),
                Ok(Err(_)) => bail!("the client of {} ended before it saw {what}", self.user_id),
                Err(_) => bail!("{} did not see {what}; the newest: {:?}", self.user_id, self.newest()),
            }
        }
    }

    /// The event with this id, as its client shows it at first.
    ///
    /// # Errors
    /// It does not come within a minute.
    pub async fn see_event(&self, event_id: &str) -> Result<Value> {
        self.see(event_id, |e| e["eventId"] == event_id).await
    }

    /// Waits until somebody's membership in a room is this.
    ///
    /// # Errors
    /// It is not within a minute.
    pub async fn see_member(&self, room: &str, user: &str, membership: &str) -> Result<Value> {
        let wanted = |e: &Value| {
            e["kind"] == "member"
                && e["room"] == room
                && e["stateKey"] == user
                && e["content"]["membership"] == membership
        };
        self.see(&format!("{user} {membership}"), wanted).await
    }

    /// Waits for an invitation into a room, and joins it.
    ///
    /// # Errors
    /// There is none within a minute, or the homeserver refuses.
    pub async fn accept(&self, room: &str) -> Result<Value> {
        let invited =
            |e: &Value| e["kind"] == "my_membership" && e["room"] == room && e["membership"] == "invite";
        let invitation = self.see(&format!("an invitation into {room}"), invited).await?;
        self.obey("join", json!({"room": room})).await?;
        Ok(invitation)
    }

    /// Everything that the client has told.
    pub fn events(&self) -> Vec<Value> {
        self.said.events.lock().clone()
    }

    fn newest(&self) -> Vec<Value> {
        let events = self.said.events.lock();
        events[events.len().saturating_sub(4)..].to_vec()
    }
}

impl Said {
    fn expect(&self, id: u64) -> oneshot::Receiver<Value> {
        let (answer, answered) = oneshot::channel();
        self.open.lock().insert(id, answer);
        answered
    }

    fn take(&self, line: Value) {
        if line["type"] == "event" {
            return self.events.lock().push(line);
        }
        let asked = line["id"].as_u64().and_then(|id| self.open.lock().remove(&id));
        // Nobody waits any more for what took too long.
        asked.map(|answer| answer.send(line));
    }
}

async fn read(stdout: ChildStdout, said: Arc<Said>, tell: watch::Sender<usize>) -> Result<()> {
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        said.take(serde_json::from_str(&line)?);
        tell.send_modify(|count| *count += 1);
    }
    // Whoever waits for a result is told that there will be none.
    said.open.lock().clear();
    Ok(())
}

async fn result(answer: oneshot::Receiver<Value>, what: &str) -> Result<Value> {
    let answer = timeout(OBEY, answer).await.with_context(|| format!("{what} took too long"))?;
    let answer = answer.with_context(|| format!("the client ended before it could {what}"))?;
    ensure!(answer["ok"] == true, "{what}: {}", answer["error"]);
    Ok(answer)
}

fn command(client: Client, folder: &Path, localpart: &str) -> Result<Command> {
    let script = script()?;
    if client == Client::Js {
        let mut command = Command::new("node");
        command.arg(script).arg("--keys").arg(folder.join(format!("{localpart}.recovery")));
        return Ok(command);
    }
    let mut command = Command::new(nio()?);
    command.arg(script.with_file_name("human_nio.py"));
    command.arg("--store").arg(folder.join(format!("{localpart}.store")));
    Ok(command)
}

/// `PARLOUR_HUMAN`, else `human/human.mjs` beside these sources, with what it needs installed.
fn script() -> Result<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("human/human.mjs");
    let script = std::env::var_os("PARLOUR_HUMAN").map_or_else(own, PathBuf::from);
    let modules = script.with_file_name("node_modules");
    ensure!(modules.is_dir(), "there is no {}: run `cargo xtask test` or `npm ci` there", modules.display());
    Ok(script)
}

/// `PARLOUR_NIO`, else the Python that `cargo xtask test` leaves in `target/nio-venv`.
fn nio() -> Result<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/nio-venv/bin/python");
    let python = std::env::var_os("PARLOUR_NIO").map_or_else(own, PathBuf::from);
    ensure!(python.exists(), "there is no {}: run `cargo xtask test` once", python.display());
    Ok(python)
}
