//! The whole set-up of `parlour-bench all`: a Synapse of its own, both registrations, a config with the limits out of the
//! way, and the bridge, in a folder that is gone afterwards.
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use parlour_synapse::{Config, Synapse, free_port};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{
    bridge::{Bridge, Program},
    clock::{ms_since, now, pause},
    homeserver::http_client,
    progress,
    registration::{Registration, write_floor},
    sizes::Sizes,
    world::{Parts, World},
};

const SERVER_NAME: &str = "bench.test";
/// Lobbies for the idle crowd: with all in one, each join costs the homeserver more than the one before.
const CROWD_LOBBIES: [&str; 4] = ["crowd-a", "crowd-b", "crowd-c", "crowd-d"];
/// The limits are not what is measured.
const NO_LIMIT: u32 = 1_000_000;
/// A first start may take two minutes with many lobbies; five are ready long before.
const READY_MS: f64 = 120_000.0;

/// What runs; all of it stops when this is dropped, the bridge before the homeserver and the folder last.
pub(crate) struct Stage {
    pub(crate) world: World,
    _synapse: Synapse,
    _folder: Folder,
}

/// Files of a run.
struct Folder {
    path: PathBuf,
    /// None where the files are to stay.
    _temporary: Option<TempDir>,
}

/// What `all` was told.
pub(crate) struct Setup {
    pub(crate) binary: PathBuf,
    pub(crate) venv: PathBuf,
    /// Where the run's folder is made: a disk and not a RAM disk, as commits to disk are part of what is measured.
    pub(crate) work: PathBuf,
    pub(crate) keep: bool,
    pub(crate) sizes: Sizes,
    /// Whether the homeserver has presence: its noise is not ours, but where it is what is measured.
    pub(crate) presence: bool,
    /// Whether the homeserver pushes what devices need (MSC2409, MSC3202).
    pub(crate) push_to_devices: bool,
}

impl Stage {
    /// Sets everything up and waits until the bridge is ready. Called from the main thread: Synapse ends with its starter.
    pub(crate) async fn set_up(setup: &Setup) -> Result<Self> {
        let folder = Folder::make(&setup.work, setup.keep)?;
        let binary = setup.binary.canonicalize();
        let binary = binary.with_context(|| format!("there is no bridge at {}", setup.binary.display()))?;
        let files = Files::write(&folder.path, binary)?;
        progress(format_args!("starting Synapse in {}", folder.path.display()));
        parlour_synapse::install(&setup.venv)?;
        let synapse = Synapse::start(files.synapse(setup, &folder.path))?;
        let mut bridge = Bridge::Ours { program: files.program.clone(), child: None };
        bridge.start()?;
        wait_until_ready(&files.bridge_url, &mut bridge).await?;
        let world = World::new(files.parts(&synapse, bridge, setup.sizes.clone())?).await?;
        Ok(Self { world, _synapse: synapse, _folder: folder })
    }
}

impl Folder {
    fn make(work: &Path, keep: bool) -> Result<Self> {
        std::fs::create_dir_all(work).with_context(|| format!("cannot make {}", work.display()))?;
        let temporary = tempfile::Builder::new().prefix("parlour-bench-").tempdir_in(work.canonicalize()?)?;
        let path = temporary.path().to_owned();
        match keep {
            true => Ok(Self { path: temporary.keep(), _temporary: None }),
            false => Ok(Self { path, _temporary: Some(temporary) }),
        }
    }
}

/// The files that homeserver and bridge read, and where both listen.
struct Files {
    program: Program,
    registration: PathBuf,
    floor_registration: PathBuf,
    hs_port: u16,
    bridge_url: String,
}

impl Files {
    fn write(folder: &Path, binary: PathBuf) -> Result<Self> {
        let (hs_port, bridge_port, floor_port) = (free_port()?, free_port()?, free_port()?);
        let program = Program {
            binary,
            config: folder.join("parlour.toml"),
            log: folder.join("bridge.log"),
            env: vec![],
        };
        let files = Self {
            program,
            registration: folder.join("registration.yaml"),
            floor_registration: folder.join("floor.yaml"),
            hs_port,
            bridge_url: format!("http://127.0.0.1:{bridge_port}"),
        };
        std::fs::write(&files.program.config, config(folder, hs_port, bridge_port)?)?;
        files.program.write_registration(&files.registration)?;
        write_floor(&files.floor_registration, &format!("127.0.0.1:{floor_port}"), SERVER_NAME)?;
        Ok(files)
    }

    /// Synapse's rate limits are off by default. It pushes an event to one appservice after the other, in this order: the
    /// floor comes first, so that the bridge is not flattered.
    fn synapse(&self, setup: &Setup, folder: &Path) -> Config {
        let mut config = Config::new(&setup.venv, folder.join("synapse"));
        config.port = self.hs_port;
        SERVER_NAME.clone_into(&mut config.server_name);
        config.e2ee_flags = setup.push_to_devices;
        config.registrations = vec![self.floor_registration.clone(), self.registration.clone()];
        config.extra = Map::from_iter([("presence".to_owned(), json!({"enabled": setup.presence}))]);
        config
    }

    fn parts(&self, synapse: &Synapse, bridge: Bridge, sizes: Sizes) -> Result<Parts> {
        Ok(Parts {
            sizes,
            hs_url: synapse.url().to_owned(),
            hs_pid: synapse.pid(),
            floor_registration: Registration::read(&self.floor_registration)?,
            bridge_url: self.bridge_url.clone(),
            bridge,
            registration: Some(Registration::read(&self.registration)?),
            lobby: None,
            crowd_lobbies: CROWD_LOBBIES.map(str::to_owned).to_vec(),
        })
    }
}

/// The bridge's config: a default lobby, the crowd's lobbies, all limits far up.
fn config(folder: &Path, hs_port: u16, bridge_port: u16) -> Result<String> {
    let lobby = |slug: &str| json!({"slug": slug, "name": slug, "alias": slug, "default": slug == "lobby"});
    let lobbies: Vec<Value> = std::iter::once("lobby").chain(CROWD_LOBBIES).map(lobby).collect();
    let listen = format!("127.0.0.1:{bridge_port}");
    let config = json!({
        "homeserver": {"url": format!("http://127.0.0.1:{hs_port}"), "server_name": SERVER_NAME,
            "registration": folder.join("registration.yaml")},
        "server": {"listen": listen, "public_url": format!("http://{listen}"), "appservice_url": format!("http://{listen}")},
        "storage": {"path": folder.join("data")},
        "lobby": lobbies,
        // what they cost the homeserver is a scenario of its own
        "people": {"presence": false, "receipts": false, "typing": false, "profiles": false},
        "limits": limits(),
    });
    toml::to_string_pretty(&config).context("the bridge's config cannot be written as TOML")
}

fn limits() -> Map<String, Value> {
    let keys = [
        "lobby_entries_per_source_hour",
        "lobby_entries_per_source_day",
        "lobby_agents",
        "lobby_messages_per_agent_minute",
        "lobby_messages_per_agent_day",
        "lobby_messages_per_lobby_minute",
        "code_guesses_per_source_hour",
        "knocks_per_source_hour",
        "waiting_knocks_per_room",
        "open_rooms_per_agent",
        "new_rooms_per_agent_day",
        "open_rooms",
        "invitations_per_agent_day",
    ];
    keys.into_iter().map(|key| (key.to_owned(), json!(NO_LIMIT))).collect()
}

async fn wait_until_ready(url: &str, bridge: &mut Bridge) -> Result<()> {
    let (http, url, start) = (http_client()?, format!("{url}/ready"), now());
    loop {
        let answer = http.get(&url).send().await;
        if answer.as_ref().is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        bridge.check_running()?;
        if ms_since(start) > READY_MS {
            bail!("the bridge was not ready after {READY_MS} ms: {}", why(answer).await);
        }
        pause(100).await;
    }
}

async fn why(answer: reqwest::Result<reqwest::Response>) -> String {
    match answer {
        Ok(answer) => answer.text().await.unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_is_toml_with_one_default_lobby_and_no_limits() {
        let text = config(Path::new("/run \"odd\""), 8008, 9880).unwrap();
        let read: toml::Table = toml::from_str(&text).unwrap();
        let lobbies = read["lobby"].as_array().unwrap();
        assert_eq!(lobbies.len(), 1 + CROWD_LOBBIES.len());
        assert_eq!(lobbies.iter().filter(|l| l["default"].as_bool() == Some(true)).count(), 1);
        assert_eq!(read["limits"]["lobby_agents"].as_integer(), Some(1_000_000));
        assert_eq!(read["storage"]["path"].as_str(), Some("/run \"odd\"/data"));
    }
}
