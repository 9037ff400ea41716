//! The Unix socket in the data folder over which commands talk to the bridge that runs.

use std::{
    fs::{self, File, Permissions},
    io,
    os::{
        fd::AsRawFd,
        unix::{fs::PermissionsExt, net::UnixStream},
    },
    path::{Path, PathBuf},
};

use rustix::fs::Mode;
use tokio::net::UnixListener;

const NAME: &str = "parlour.sock";

/// Linux takes 107 bytes of a socket's path.
const LONGEST: usize = 107;

/// Where the socket is, for messages.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// A path to the socket that the system takes, however deep the folder lies. Good for as long as this lives.
pub(crate) struct Reach {
    path: PathBuf,
    _folder: Option<File>,
}

impl Reach {
    /// # Errors
    /// The folder cannot be opened.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        let path = path(folder);
        if path.as_os_str().len() <= LONGEST {
            return Ok(Self { path, _folder: None });
        }
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()));
        Ok(Self { path, _folder: Some(folder) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Listens, for this user alone. A socket that is there already is replaced: whoever calls this has the folder's lock.
///
/// # Errors
/// The socket cannot be made.
pub(crate) fn bind(folder: &Path) -> io::Result<UnixListener> {
    let reach = Reach::of(folder)?;
    match fs::remove_file(reach.path()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // from its first moment on, and not only once its mode is set
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let bound = UnixListener::bind(reach.path());
    rustix::process::umask(before);
    fs::set_permissions(reach.path(), Permissions::from_mode(0o600))?;
    bound
}

/// Takes the socket away at the end. One that stays is in nobody's way.
pub(crate) fn tidy_up(folder: &Path) {
    if let Ok(reach) = Reach::of(folder) {
        let _ = fs::remove_file(reach.path());
    }
}

/// Whether somebody listens.
///
/// # Errors
/// Nobody does, or this user may not.
pub(crate) fn knock(reach: &Reach) -> io::Result<()> {
    UnixStream::connect(reach.path()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_for_us_alone_and_can_be_replaced(folder: &Path) {
        let first = bind(folder).unwrap();
        assert_eq!(fs::metadata(path(folder)).unwrap().permissions().mode() & 0o777, 0o600);
        drop(first);
        let reach = Reach::of(folder).unwrap();
        assert_eq!(knock(&reach).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let _second = bind(folder).unwrap();
        knock(&reach).unwrap();
    }

    #[tokio::test]
    async fn in_a_usual_folder() {
        let folder = tempfile::tempdir().unwrap();
        is_for_us_alone_and_can_be_replaced(folder.path()).await;
    }

    #[tokio::test]
    async fn in_a_folder_too_deep_for_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(90)).join("e".repeat(90));
        fs::create_dir_all(&deep).unwrap();
        is_for_us_alone_and_can_be_replaced(&deep).await;
    }
}
