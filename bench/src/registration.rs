//! Appservice registrations: the floor's own, which we write, and the bridge's, which we only read.
use std::{fs::OpenOptions, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::json;

use crate::clock::fresh_id;

/// What every floor user's localpart begins with.
const PREFIX: &str = "_floor_";

/// The parts of a registration file (application service API, "Registration") that the load tool needs.
#[derive(Clone, Deserialize)]
pub(crate) struct Registration {
    pub(crate) id: String,
    /// Where the homeserver pushes to.
    pub(crate) url: String,
    pub(crate) as_token: String,
    pub(crate) hs_token: String,
    sender_localpart: String,
}

impl Registration {
    /// Reads a registration in YAML (JSON is YAML as well).
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path)
            .with_context(|| format!("cannot read the registration {}", path.display()))?;
        serde_norway::from_slice(&text)
            .with_context(|| format!("{} is no appservice registration", path.display()))
    }

    /// The prefix of the floor's users: its sender is `<prefix>bot`.
    pub(crate) fn prefix(&self) -> Result<String> {
        let prefix = self.sender_localpart.strip_suffix("bot");
        Ok(prefix.context("this is not a registration that `parlour-bench registration` wrote")?.to_owned())
    }
}

/// Writes the floor's registration, readable for its owner only. Its transactions carry what the bridge's carry
/// (MSC3202 key counts, ephemeral events), else the floor would look better than it can be.
pub(crate) fn write_floor(path: &Path, listen: &str, server_name: &str) -> Result<()> {
    let server = server_name.replace('.', "\\.");
    let body = json!({
        "id": "parlour-bench-floor",
        "url": format!("http://{listen}"),
        "as_token": fresh_id(),
        "hs_token": fresh_id(),
        "sender_localpart": format!("{PREFIX}bot"),
        "rate_limited": false,
        "receive_ephemeral": true,
        "io.element.msc4190": true,
        "org.matrix.msc3202": true,
        "namespaces": {"users": [{"exclusive": true, "regex": format!("@{PREFIX}.*:{server}")}], "aliases": [], "rooms": []},
    });
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file =
        file.with_context(|| format!("cannot write {} (it must not exist yet)", path.display()))?;
    file.write_all(serde_json::to_string_pretty(&body)?.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("floor.yaml");
        write_floor(&path, "127.0.0.1:5", "hs.test").unwrap();
        let read = Registration::read(&path).unwrap();
        assert_eq!((read.url.as_str(), read.prefix().unwrap().as_str()), ("http://127.0.0.1:5", PREFIX));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(write_floor(&path, "127.0.0.1:5", "hs.test").is_err(), "an existing file is kept");
    }
}
