//! The sealing key: from the config or the environment, else from a file beside the database, which is made at the
//! first start.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use parlour_app::{
    SealingKey,
    runtime::{Chance, SystemChance},
};

use crate::{
    config::{Config, SealingSecret},
    failure::Failure,
};

const NAME: &str = "sealing.key";

/// The folder is there and locked.
///
/// # Errors
/// The file cannot be read or made, or holds something else.
pub(super) fn key(config: &Config) -> Result<SealingKey, Failure> {
    if let Some(secret) = &config.storage.sealing_key {
        return Ok(SealingKey::new(secret.bytes()));
    }
    let path = config.storage.path.0.join(NAME);
    let secret = match std::fs::read_to_string(&path) {
        Ok(text) => SealingSecret::parse(text.trim()).map_err(|what| Failure::new(broken(&path, &what)))?,
        Err(error) if error.kind() == ErrorKind::NotFound => make(&path).map_err(|e| unusable(&path, &e))?,
        Err(error) => return Err(unusable(&path, &error)),
    };
    Ok(SealingKey::new(secret.bytes()))
}

/// There whole or not at all: a half written key would lock everybody out of what the whole one sealed.
fn make(path: &Path) -> std::io::Result<SealingSecret> {
    let mut bytes = [0; 32];
    SystemChance.fill(&mut bytes);
    let secret = SealingSecret::new(bytes);
    let unfinished = path.with_extension("key.new");
    let open = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished);
    let mut file = open?;
    writeln!(file, "{}", secret.reveal())?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    tracing::info!(path = %path.display(), "made the sealing key; keep it with your backups, and from others");
    Ok(secret)
}

fn broken(path: &Path, what: &str) -> String {
    format!(
        "storage.sealing_key: {} {what}; put the key back that this database was written with",
        path.display()
    )
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("storage.sealing_key: cannot use {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_us_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let made = make(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let read = SealingSecret::parse(std::fs::read_to_string(&path).unwrap().trim()).unwrap();
        assert_eq!(made.bytes(), read.bytes());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn two_keys_are_never_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let keys = ["a.key", "b.key"].map(|name| *make(&folder.path().join(name)).unwrap().bytes());
        assert_ne!(keys[0], keys[1]);
    }
}
