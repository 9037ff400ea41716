//! One homeserver with one bridge on it, in a folder and on ports of their own.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;
use parlour_synapse::{Synapse, free_port};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::agent::Agent;
use crate::border::Border;
use crate::bridge::Bridge;
use crate::homeservers::{self, Places, home_name};
use crate::http::{Answer, client, encode};
use crate::in_clear::nothing_in_clear;
use crate::person::Person;
use crate::proxy::Proxy;

/// The part after the colon in Matrix ids, where the homeserver is alone.
pub const SERVER_NAME: &str = "hs.test";

/// What a story needs that is not the same for all.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Slugs, which are also the aliases; the first is the default.
    pub lobbies: Vec<&'static str>,
    /// Whether the bridge talks to the homeserver through a [`Proxy`].
    pub proxy: bool,
    /// How the homeserver lets the bridge reach puppets' devices.
    pub devices: Devices,
    /// The version of the rooms that are made without naming one; Synapse's own choice where there is none.
    pub room_version: Option<&'static str>,
    /// The bot's localpart, and what puppets' begin with.
    pub names: (&'static str, &'static str),
    /// Whether there is a second homeserver, which federates with the bridge's.
    pub elsewhere: bool,
    /// Further tables of the bridge's config. `{home}` and `{elsewhere}` in it stand for the homeservers' names.
    pub more: &'static str,
}

/// What a homeserver offers an appservice for its puppets' devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// Synapse with the experimental flags: keys come in transactions.
    Pushed,
    /// Stock Synapse: the bridge asks, as the device.
    Pulled,
    /// As Conduit: no device of a puppet can be made or named by the appservice, a puppet logs in. Needs the proxy, which
    /// refuses it.
    OwnToken,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            lobbies: vec!["lobby"],
            proxy: false,
            devices: Devices::Pushed,
            room_version: None,
            names: ("parlour", "agent_"),
            elsewhere: false,
            more: "",
        }
    }
}

/// A Synapse that knows the bridge, and the bridge; perhaps a second Synapse. All are gone when it is dropped.
pub struct Stack {
    // Before the folder, so that the processes are gone when their files go.
    pub bridge: Bridge,
    pub synapse: Arc<Synapse>,
    elsewhere: Option<Synapse>,
    border: Option<Border>,
    proxy: Option<Proxy>,
    folder: TempDir,
    secrets: Mutex<Vec<String>>,
    names: (&'static str, &'static str),
    told: bool,
}

impl Stack {
    /// Starts the homeserver; the bridge is configured and registered, but does not run yet.
    ///
    /// # Errors
    /// Something cannot be set up.
    pub async fn prepare(plan: Plan) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("parlour-story-").tempdir()?;
        let (homeserver, port, metrics) = (free_port()?, free_port()?, free_port()?);
        let own_token = plan.devices == Devices::OwnToken;
        let proxied = plan.proxy || own_token;
        let proxy = if proxied { Some(Proxy::start(homeserver, own_token).await?) } else { None };
        let reached = proxy.as_ref().map_or(homeserver, Proxy::port);
        let places = if plan.elsewhere { Some(Places::find()?) } else { None };
        let config = config(&plan, places, [reached, port, metrics])?;
        std::fs::write(folder.path().join("parlour.toml"), config)?;
        let bridge = Bridge::new(folder.path(), port, metrics)?;
        bridge.command(&["registration"])?;
        if own_token {
            allow_logins(folder.path())?;
        }
        let border = match places {
            Some(places) => Some(Border::build(places.home, places.inside).await?),
            None => None,
        };
        let started = block_in_place(|| homeservers::start(folder.path(), homeserver, &plan, places))?;
        let (synapse, elsewhere) = (Arc::new(started.0), started.1);
        let secrets = Mutex::new(registration_secrets(folder.path())?);
        let (names, told) = (plan.names, false);
        Ok(Self { bridge, synapse, elsewhere, border, proxy, folder, secrets, names, told })
    }

    /// Starts both and waits until agents can join.
    ///
    /// # Errors
    /// Something does not start.
    pub async fn start(plan: Plan) -> Result<Self> {
        let stack = Self::prepare(plan).await?;
        stack.bridge.start()?;
        stack.bridge.ready().await?;
        Ok(stack)
    }

    /// The proxy of a plan with one.
    ///
    /// # Errors
    /// The plan has none.
    pub fn proxy(&self) -> Result<&Proxy> {
        self.proxy.as_ref().context("the plan has no proxy")
    }

    /// The second homeserver of a plan with one.
    ///
    /// # Errors
    /// The plan has none.
    pub fn elsewhere(&self) -> Result<&Synapse> {
        self.elsewhere.as_ref().context("the plan has no second homeserver")
    }

    /// Between the two homeservers of a plan with two.
    ///
    /// # Errors
    /// The plan has one.
    pub fn border(&self) -> Result<&Border> {
        self.border.as_ref().context("the plan has no second homeserver")
    }

    /// The folder with config, registration, data and logs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A new agent; its token must not be in the log at the end.
    ///
    /// # Errors
    /// The bridge refuses it.
    pub async fn agent(&self, name: &str, room: Option<&str>) -> Result<Agent> {
        let agent = Agent::join(&self.bridge.url(), name, room).await?;
        self.keep_secret(&agent.token);
        Ok(agent)
    }

    /// A new account.
    ///
    /// # Errors
    /// Synapse refuses it.
    pub fn person(&self, localpart: &str) -> Result<Person> {
        Person::register(&self.synapse, localpart)
    }

    /// Something that must not be in the log at the end.
    pub fn keep_secret(&self, secret: &str) {
        self.secrets.lock().push(secret.to_owned());
    }

    /// Stops the bridge and looks at what it leaves behind: a sound database, and a log without secrets or panics.
    ///
    /// # Errors
    /// One of these is not so.
    pub async fn finish(mut self) -> Result<()> {
        if self.bridge.runs() {
            self.bridge.stop().await?;
        }
        self.check_log()?;
        self.check_database()?;
        nothing_in_clear(&self.synapse, &self.bridge.database()?, self.names)?;
        self.told = true;
        Ok(())
    }

    /// # Errors
    /// The log holds a secret or tells of a panic.
    pub fn check_log(&self) -> Result<()> {
        let log = self.bridge.log();
        for line in log.lines() {
            ensure!(!line.contains("panicked"), "the bridge panicked: {line}");
            let leaked = self.secrets.lock().iter().any(|secret| line.contains(secret.as_str()));
            ensure!(!leaked, "a log line holds a secret: {line}");
        }
        Ok(())
    }

    /// # Errors
    /// SQLite finds something wrong in one of them.
    pub fn check_database(&self) -> Result<()> {
        for path in [self.bridge.database()?, self.bridge.journal()?] {
            let database = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            let integrity: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            ensure!(integrity == "ok", "integrity_check of {}: {integrity}", path.display());
            let orphans = database.prepare("PRAGMA foreign_key_check")?.query([])?.next()?.is_some();
            ensure!(!orphans, "foreign_key_check of {} found a row that points nowhere", path.display());
            self.check_file(&path)?;
            self.check_file(&path.with_extension("db-wal"))?;
        }
        Ok(())
    }

    /// Tokens and codes, which have no blanks, lie nowhere in clear; codes not without their hyphens either.
    fn check_file(&self, path: &Path) -> Result<()> {
        let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
        let text = String::from_utf8_lossy(&bytes);
        let secrets = self.secrets.lock();
        let mut secrets = secrets.iter().filter(|secret| !secret.contains(' '));
        let lies_there =
            |secret: &String| text.contains(secret.as_str()) || text.contains(&secret.replace('-', ""));
        ensure!(!secrets.any(lies_there), "a secret lies in clear in {}", path.display());
        Ok(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if !self.told {
            eprintln!("the bridge's last words:\n{}", self.bridge.last_words());
        }
    }
}

/// Synapse refuses appservice logins where the registration has MSC4190.
fn allow_logins(folder: &Path) -> Result<()> {
    let file = folder.join("registration.yaml");
    let text = std::fs::read_to_string(&file)?;
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("io.element.msc4190")).collect();
    ensure!(kept.len() < text.lines().count(), "the registration does not mention MSC4190");
    Ok(std::fs::write(file, kept.join("\n"))?)
}

/// Limits are up: the stories are about other things, and all their agents are one source.
fn config(plan: &Plan, places: Option<Places>, [homeserver, port, metrics]: [u16; 3]) -> Result<String> {
    let home = home_name(places);
    let mut text = format!(
        "[homeserver]\nurl = \"http://127.0.0.1:{homeserver}\"\nserver_name = \"{home}\"\n\
         [server]\nlisten = \"127.0.0.1:{port}\"\npublic_url = \"http://127.0.0.1:{port}\"\n\
         [metrics]\nlisten = \"127.0.0.1:{metrics}\"\n\
         [limits]\nlobby_entries_per_source_hour = 100000\nlobby_entries_per_source_day = 100000\n\
         lobby_messages_per_agent_minute = 100000\nlobby_messages_per_agent_day = 100000\n\
         lobby_messages_per_lobby_minute = 100000\n\
         code_guesses_per_source_hour = 100000\nknocks_per_source_hour = 100000\n"
    );
    for (at, slug) in plan.lobbies.iter().enumerate() {
        write!(
            text,
            "[[lobby]]\nslug = \"{slug}\"\nname = \"The {slug}\"\nalias = \"{slug}\"\ndefault = {}\n",
            at == 0
        )?;
    }
    let (bot, prefix) = plan.names;
    let elsewhere = places.map_or_else(String::new, |places| places.elsewhere.to_string());
    let more = plan.more.replace("{home}", &home).replace("{elsewhere}", &elsewhere);
    write!(text, "[people]\nbot = \"{bot}\"\npuppet_prefix = \"{prefix}\"\n{more}")?;
    Ok(text)
}

/// The two tokens of the registration.
fn registration_secrets(folder: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("registration.yaml"))?;
    let token = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let token = line.map(|l| l.trim_matches([':', ' ', '"', '\'']).to_owned());
        token.filter(|t| t.len() > 20).with_context(|| format!("the registration has no {key}"))
    };
    Ok(vec![token("as_token")?, token("hs_token")?])
}

impl Stack {
    /// The token by which the homeserver proves itself.
    ///
    /// # Errors
    /// The registration has none.
    pub fn hs_token(&self) -> Result<String> {
        registration_secrets(self.folder())?.pop().context("no hs_token")
    }

    /// Deletes a puppet's device, as the appservice may.
    ///
    /// # Errors
    /// Synapse refuses.
    pub async fn delete_device(&self, user: &str, device: &str) -> Result<()> {
        let token = registration_secrets(self.folder())?.swap_remove(0);
        let url = format!("{}/_matrix/client/v3/devices/{}", self.synapse.url(), encode(device));
        let request = client()?.delete(url).query(&[("user_id", user)]).bearer_auth(token);
        Answer::of(request.json(&json!({}))).await?.expect(200).map(drop)
    }
}
