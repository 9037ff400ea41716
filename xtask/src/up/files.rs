//! What `up` keeps in its folder: the bridge's config, its registration and data, the person's password.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use parlour_synapse::{keep_secret, random_hex};
use serde_json::Value;

use super::Options;

/// Ids read `@person:localhost`. Nothing federates, so the name need not be reachable.
pub(super) const SERVER_NAME: &str = "localhost";

/// Slug and alias of the lobby.
pub(super) const LOBBY: &str = "lobby";

/// The folder and what was read from it.
pub(super) struct Files {
    folder: PathBuf,
    password: String,
    /// Another `up` in the same folder would write over what this one runs on.
    _alone: File,
}

impl Files {
    /// Makes what is missing. A config that already has these ports is left alone, so that one can try settings.
    pub(super) fn prepare(folder: &Path, options: &Options) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let alone = alone_in(folder)?;
        let password = keep_secret(&folder.join("person-password"), || random_hex(8))?;
        let files = Self { folder: folder.canonicalize()?, password, _alone: alone };
        if !fits(&std::fs::read_to_string(files.config()).unwrap_or_default(), options) {
            std::fs::write(files.config(), config(&files, options)).context("cannot write parlour.toml")?;
        }
        Ok(files)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn password(&self) -> &str {
        &self.password
    }

    pub(super) fn config(&self) -> PathBuf {
        self.folder.join("parlour.toml")
    }

    pub(super) fn registration(&self) -> PathBuf {
        self.folder.join("registration.yaml")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("parlour.log")
    }
}

/// A lock that lasts as long as the file is open.
fn alone_in(folder: &Path) -> Result<File> {
    let file = File::create(folder.join("up.lock"))
        .with_context(|| format!("cannot write into {}", folder.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another `up` runs in {}; stop it, or give this one another --folder", folder.display())
        }
        Err(TryLockError::Error(error)) => Err(error).context("cannot lock up.lock"),
    }
}

pub(super) fn homeserver_url(options: &Options) -> String {
    format!("http://127.0.0.1:{}", options.port)
}

pub(super) fn bridge_url(options: &Options) -> String {
    format!("http://127.0.0.1:{}", options.bridge_port)
}

fn ports(options: &Options) -> String {
    let (homeserver, bridge) = (homeserver_url(options), bridge_url(options));
    format!("# homeserver {homeserver}, bridge {bridge}")
}

fn fits(config: &str, options: &Options) -> bool {
    config.lines().next() == Some(ports(options).as_str())
}

fn config(files: &Files, options: &Options) -> String {
    let path = |path: PathBuf| Value::from(path.display().to_string());
    let lines = [
        ports(options),
        "# Written by `cargo xtask up`. Changes are kept until it is run with other ports.".to_owned(),
        "[homeserver]".to_owned(),
        format!("url = \"{}\"", homeserver_url(options)),
        format!("server_name = \"{SERVER_NAME}\""),
        format!("registration = {}", path(files.registration())),
        "\n[server]".to_owned(),
        format!("listen = \"127.0.0.1:{}\"", options.bridge_port),
        format!("public_url = \"{}\"", bridge_url(options)),
        "\n[storage]".to_owned(),
        format!("path = {}", path(files.folder.join("data"))),
        "\n[[lobby]]".to_owned(),
        format!("slug = \"{LOBBY}\"\nname = \"Lobby\"\nalias = \"{LOBBY}\"\ndefault = true\n"),
    ];
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn options(port: u16) -> Options {
        Options { port, bridge_port: 9880, parlour: None, folder: None, once: false }
    }

    #[test]
    fn a_second_one_in_the_same_folder_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let first = Files::prepare(folder.path(), &options(8008)).unwrap();
        let before = std::fs::read(first.config()).unwrap();
        let refused = Files::prepare(folder.path(), &options(9009)).map(drop).unwrap_err();
        assert!(refused.to_string().contains("another --folder"), "{refused}");
        assert_eq!(std::fs::read(first.config()).unwrap(), before);
        drop(first);
        assert!(Files::prepare(folder.path(), &options(9009)).is_ok());
    }

    #[test]
    fn writes_a_config_that_says_where_things_are() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::prepare(folder.path(), &options(8008)).unwrap();
        let text = std::fs::read_to_string(files.config()).unwrap();
        let config: toml::Table = text.parse().unwrap();
        assert_eq!(config["homeserver"]["url"].as_str(), Some("http://127.0.0.1:8008"));
        assert_eq!(config["homeserver"]["registration"].as_str(), files.registration().to_str());
        assert_eq!(config["server"]["listen"].as_str(), Some("127.0.0.1:9880"));
        assert_eq!(config["lobby"][0]["slug"].as_str(), Some("lobby"));
    }

    #[test]
    fn keeps_password_and_changed_settings_until_the_ports_change() {
        let folder = tempfile::tempdir().unwrap();
        let first = Files::prepare(folder.path(), &options(8008)).unwrap();
        let mode = folder.path().join("person-password").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mine = std::fs::read_to_string(first.config()).unwrap() + "[limits]\nlobby_agents = 3\n";
        std::fs::write(first.config(), &mine).unwrap();
        let password = first.password().to_owned();
        drop(first);

        let second = Files::prepare(folder.path(), &options(8008)).unwrap();
        assert_eq!(second.password(), password);
        assert_eq!(std::fs::read_to_string(second.config()).unwrap(), mine);
        drop(second);
        let third = Files::prepare(folder.path(), &options(8009)).unwrap();
        assert!(std::fs::read_to_string(third.config()).unwrap().contains(":8009"));
    }
}
