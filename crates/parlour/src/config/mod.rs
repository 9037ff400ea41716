//! The operator's config: one TOML file, with the environment over it. Everything that is wrong with it is told at
//! once.
//!
//! On TOML tables of our own rather than through figment and serde: those stop at the first mistake, and read a
//! variable's text without knowing what its key wants (a server name `1.10` would become a number).

mod convert;
mod env;
mod example;
mod key;
mod read;
mod rules;
mod sealing_secret;
mod sections;
mod suggest;
#[cfg(test)]
mod tests;
mod value;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use parlour_domain::limits::Limits;

pub(crate) use convert::bridge_id;
pub(crate) use example::example;
pub(crate) use sealing_secret::SealingSecret;
pub(crate) use sections::Lobby;

use crate::failure::Failure;
use read::{Problems, Reader};
use sections::{
    Agents, Encryption, Homeserver, LIST, LimitKeys, Metrics, Moderation, People, Server, Storage,
};
use suggest::nearest_section;
use value::table;

/// A config that has been checked.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) homeserver: Homeserver,
    pub(crate) server: Server,
    pub(crate) storage: Storage,
    pub(crate) lobbies: Vec<Lobby>,
    pub(crate) people: People,
    pub(crate) agents: Agents,
    pub(crate) encryption: Encryption,
    pub(crate) moderation: Moderation,
    pub(crate) metrics: Metrics,
    pub(crate) limits: Limits,
}

impl Config {
    /// Reads the file at `path` and the process's environment.
    ///
    /// # Errors
    /// One line for each problem.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|cause| {
            let hint = "give the right one with --config; config.example.toml is one to begin with";
            Failure::new(format!("cannot read the config {name}: {cause}; {hint}"))
        })?;
        let mut config = Self::parse(&text, std::env::vars_os())
            .map_err(|problems| Failure::all(problems.iter().map(|problem| format!("{name}: {problem}"))))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.resolve(folder);
        Ok(config)
    }

    fn parse(
        text: &str,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, Problems> {
        let mut file: Table = toml::from_str(text).map_err(|error| vec![syntax(text, &error)])?;
        let mut problems = Problems::new();
        let from_env = env::merge(&mut file, variables, &mut problems);
        let config = Sections { file, from_env, problems: &mut problems }.read();
        let config = config.inspect(|config| rules::check(config, &mut problems));
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(problems),
        }
    }

    fn resolve(&mut self, folder: &Path) {
        for path in [&mut self.homeserver.registration.0, &mut self.storage.path.0] {
            *path = folder.join(std::mem::take::<PathBuf>(path));
        }
    }
}

/// TOML's own message and the line. Not the line's text: it may hold anything.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("line {line} is no TOML: {}", error.message().replace('\n', ", "))
}

struct Sections<'a> {
    file: Table,
    from_env: BTreeSet<String>,
    problems: &'a mut Problems,
}

impl Sections<'_> {
    /// Reads all sections before it gives up, so that all problems are found.
    fn read(mut self) -> Option<Config> {
        let homeserver = self.section("homeserver", Homeserver::read);
        let server = self.section("server", Server::read);
        let storage = self.section("storage", Storage::read);
        let lobbies = self.lobbies();
        let people = self.section("people", People::read);
        let agents = self.section("agents", Agents::read);
        let encryption = self.section("encryption", Encryption::read);
        let moderation = self.section("moderation", Moderation::read);
        let metrics = self.section("metrics", Metrics::read);
        let limits = self.section("limits", LimitKeys::read);
        self.refuse_the_rest();
        Some(Config {
            homeserver: homeserver?,
            server: server?,
            storage: storage?,
            lobbies: lobbies?,
            people: people?,
            agents: agents?,
            encryption: encryption?,
            moderation: moderation?,
            metrics: metrics?,
            limits: limits?.into(),
        })
    }

    fn section<T>(&mut self, name: &'static str, read: fn(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let found = self.file.remove(name).unwrap_or_else(|| Value::Table(Table::new()));
        let table = table(found, &format!("[{name}]"))
            .map_err(|p| self.problems.push(format!("{name}: {p}")))
            .ok()?;
        read(&mut Reader::new(name, table, &self.from_env, self.problems))
    }

    fn lobbies(&mut self) -> Option<Vec<Lobby>> {
        match self.file.remove(LIST.name) {
            None => Some(vec![]),
            Some(Value::Array(entries)) => {
                let read: Vec<_> =
                    entries.into_iter().enumerate().map(|(at, entry)| self.lobby(at, entry)).collect();
                read.into_iter().collect()
            }
            Some(_) => {
                self.problems
                    .push("lobby: write [[lobby]] with two brackets, once for each lobby".to_owned());
                None
            }
        }
    }

    fn lobby(&mut self, at: usize, entry: Value) -> Option<Lobby> {
        let note = |problem| format!("lobby (entry {}): {problem}", at + 1);
        let table = table(entry, "[[lobby]]").map_err(|problem| self.problems.push(note(problem))).ok()?;
        Lobby::read(&mut Reader::new(LIST.name, table, &self.from_env, self.problems).entry(at))
    }

    fn refuse_the_rest(&mut self) {
        let rest = self.file.keys().map(|name| {
            let what =
                if self.file[name].is_table() { "there is no such section" } else { "there is no such key" };
            format!("{name}: {what}; {}", nearest_section(name))
        });
        self.problems.extend(rest);
    }
}
