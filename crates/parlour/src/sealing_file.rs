//! The file beside the database that holds the sealing key.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{config::SealingSecret, failure::Failure};

/// The file's name, in the data folder and in backups.
pub(crate) const NAME: &str = "sealing.key";

pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// `None` where there is no file.
///
/// # Errors
/// It cannot be read, or holds something else.
pub(crate) fn read(path: &Path) -> Result<Option<SealingSecret>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => SealingSecret::parse(text.trim()).map(Some).map_err(|what| broken(path, &what)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

pub(crate) fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("storage.sealing_key: cannot use {}: {error}", path.display()))
}

fn broken(path: &Path, what: &str) -> Failure {
    Failure::new(format!(
        "storage.sealing_key: {} {what}; put the key back that this database was written with",
        path.display()
    ))
}
