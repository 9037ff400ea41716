//! The built binary in a folder of its own.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with a config: the homeserver at `url`, a free port to listen on, one lobby, and `more`.
    pub(crate) fn new(url: &str, more: &str) -> Self {
        Self::listening_on(free_port(), url, more)
    }

    pub(crate) fn listening_on(port: u16, url: &str, more: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write(
            "parlour.toml",
            &format!(
                "[homeserver]\nurl = '{url}'\nserver_name = 'hs.test'\n[server]\nlisten = '127.0.0.1:{port}'\n\
                 [[lobby]]\nslug = 'lobby'\nname = 'Lobby'\n{more}"
            ),
        );
        place
    }

    /// The same with a registration.
    pub(crate) fn registered(url: &str, more: &str) -> Self {
        let place = Self::new(url, more);
        let run = place.run(&["registration"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs to the end.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.command(args).output().unwrap().into()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = parlour(self.folder.path());
        command.args(args);
        command
    }
}

/// The binary without any of our own environment's settings.
pub(crate) fn parlour(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlour"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PARLOUR__")) {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// It failed with this one line on standard error, which holds all of `parts`.
    pub(crate) fn assert_fails_with(&self, parts: &[&str]) {
        assert_eq!((self.code, self.stderr.lines().count()), (Some(1), 1), "{self:?}");
        assert!(self.stderr.starts_with("parlour: "), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing in {self:?}");
        }
    }

    /// Standard output has a line that begins so and holds all of `parts`.
    pub(crate) fn assert_says(&self, begin: &str, parts: &[&str]) {
        let fits = |line: &str| line.starts_with(begin) && parts.iter().all(|part| line.contains(part));
        assert!(self.stdout.lines().any(fits), "no line {begin:?} with {parts:?} in\n{}", self.stdout);
    }
}

pub(crate) fn free_port() -> u16 {
    parlour_synapse::free_port().unwrap()
}

/// Somebody else's listener.
pub(crate) fn taken_port() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Status and body of a GET on 127.0.0.1; `None` where nobody answers.
pub(crate) fn get(port: u16, path: &str) -> Option<(u16, String)> {
    http(port, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
}

/// Sends a request as it is and reads until the other side closes.
pub(crate) fn http(port: u16, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
