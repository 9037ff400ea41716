//! From a table of TOML to a section: every problem is noted, none ends the reading.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{
    env::variable,
    key::{Need, Setting, value},
    suggest::nearest,
};

/// Everything that is wrong, one line each: the key, the problem, what to do.
pub(crate) type Problems = Vec<String>;

/// Reads one section.
pub(crate) struct Reader<'a> {
    section: &'static str,
    /// ` (entry 2)` for the second `[[lobby]]`.
    place: String,
    table: Table,
    from_env: &'a BTreeSet<String>,
    problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        section: &'static str,
        table: Table,
        from_env: &'a BTreeSet<String>,
        problems: &'a mut Problems,
    ) -> Self {
        Self { section, place: String::new(), table, from_env, problems }
    }

    /// For the entry that comes `at`th, from 0.
    pub(crate) fn entry(mut self, at: usize) -> Self {
        self.place = format!(" (entry {})", at + 1);
        self
    }

    /// Reads a key. `None`: there is a problem with it, and it is noted.
    pub(crate) fn take<T: Setting>(&mut self, key: &str, need: Need) -> Option<T> {
        let read = match (self.table.remove(key), need) {
            (Some(found), _) => T::read(&found),
            (None, Need::Default(toml)) => value(toml).and_then(|default| T::read(&default)),
            (None, Need::Optional(_)) => T::absent().ok_or_else(|| "is missing".to_owned()),
            (None, Need::Required(example)) => {
                Err(format!("is missing; set it, for instance `{key} = {example}`"))
            }
        };
        read.map_err(|problem| self.note(key, &problem)).ok()
    }

    /// What is left has no meaning.
    pub(crate) fn refuse_the_rest(&mut self) {
        for (key, found) in std::mem::take(&mut self.table) {
            let what = if matches!(found, Value::Table(_)) {
                "there is no such section"
            } else {
                "there is no such key"
            };
            let problem = format!("{what}; {}", nearest(&format!("{}.{key}", self.section)));
            self.note(&key, &problem);
        }
    }

    fn note(&mut self, key: &str, problem: &str) {
        let name = format!("{}.{key}", self.section);
        let from = if self.from_env.contains(&name) {
            format!(" (from {})", variable(&name))
        } else {
            String::new()
        };
        self.problems.push(format!("{name}{}{from}: {problem}", self.place));
    }
}
