//! The sealing key: from the config or the environment, else from a file beside the database, which is made at the
//! first start.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use parlour_app::{
    SealingKey,
    runtime::{Chance, SystemChance},
};

use parlour_store::{Store, StoreError};

use crate::{
    config::{Config, SealingSecret},
    failure::Failure,
    sealing_file,
};

/// In `meta`: a digest of the key that the database was first opened with.
const CHECK: &str = "sealing_check";

/// The folder is there and locked. The database remembers its key, so that another one is noticed before anything is
/// written with it.
///
/// # Errors
/// The key cannot be read or made, or is another than the database's.
pub(super) async fn key(config: &Config, store: &Store) -> Result<SealingKey, Failure> {
    let unreadable = |e: StoreError| Failure::new(format!("storage.path: cannot read the database: {e}"));
    let known = store.read(|r| r.meta(CHECK)).await.map_err(unreadable)?;
    let (secret, from) = secret(config, known.is_some())?;
    let key = SealingKey::new(secret.bytes());
    let digest = key.lookup("database", b"");
    match known {
        Some(known) if known != digest => Err(Failure::new(format!(
            "storage.sealing_key: {from} holds another key than the one that this database was written with; put that \
             one back"
        ))),
        Some(_) => Ok(key),
        None => {
            store.write(move |tx| tx.set_meta(CHECK, &digest)).await.map_err(unreadable)?;
            Ok(key)
        }
    }
}

/// The secret and where it is from.
fn secret(config: &Config, needed: bool) -> Result<(SealingSecret, String), Failure> {
    if let Some(secret) = &config.storage.sealing_key {
        return Ok((secret.clone(), "the config or the environment".to_owned()));
    }
    let path = sealing_file::path(&config.storage.path.0);
    let secret = match sealing_file::read(&path)? {
        Some(secret) => secret,
        None if needed => return Err(gone(&path)),
        None => make(&path).map_err(|e| sealing_file::unusable(&path, &e))?,
    };
    Ok((secret, path.display().to_string()))
}

fn gone(path: &Path) -> Failure {
    Failure::new(format!(
        "storage.sealing_key: {} is not there, and the database was written with it; put it back from a backup, or set \
         PARLOUR__STORAGE__SEALING_KEY to it",
        path.display()
    ))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_us_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(sealing_file::NAME);
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
