//! The folder for database and keys.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

use super::Report;
use crate::config::Config;

/// Whether a running parlour has the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    Yes,
    No,
}

pub(super) fn check(config: &Config, report: &mut Report) -> Running {
    let folder = &config.storage.path.0;
    let name = folder.display();
    if is_locked(folder) {
        report.ok("storage", &format!("{name} is in use by the parlour that runs"));
        return Running::Yes;
    }
    match writable(folder) {
        Ok(true) => report.ok("storage", &format!("{name} is writable")),
        Ok(false) => report.ok("storage", &format!("{name} will be made at the first start")),
        Err(cause) => {
            let todo = "give it to the user that runs parlour, or change storage.path";
            report.missing("storage", &format!("cannot write to {name}: {cause}; {todo}"));
        }
    }
    Running::No
}

/// The lock is only tried where there is one, and let go at once.
fn is_locked(folder: &Path) -> bool {
    let file = File::open(folder.join("parlour.lock"));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether the folder is there; a file without a name is made in it, or in the first folder above it that is there.
fn writable(folder: &Path) -> io::Result<bool> {
    match tempfile::tempfile_in(folder) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = folder.ancestors().skip(1).find(|above| above.is_dir()).unwrap_or(Path::new("."));
            tempfile::tempfile_in(above).map(|_| false)
        }
        Err(error) => Err(error),
    }
}
