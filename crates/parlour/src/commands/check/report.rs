//! The lines of `parlour check`.

use crate::{failure::Failure, output};

/// Prints each line as soon as it is known, and remembers whether something that is needed is missing.
#[derive(Debug, Default)]
pub(super) struct Report {
    missing: usize,
}

impl Report {
    /// In place.
    pub(super) fn ok(&mut self, what: &str, text: &str) {
        output::say(&format!("ok  {what}: {text}"));
    }

    /// Good to know; the bridge works without it.
    pub(super) fn note(&mut self, what: &str, text: &str) {
        output::say(&format!("--  {what}: {text}"));
    }

    /// Needed and missing. `text` says what is wrong and what to do.
    pub(super) fn missing(&mut self, what: &str, text: &str) {
        self.missing += 1;
        output::say(&format!("!!  {what}: {text}"));
    }

    /// # Errors
    /// Something that is needed is missing.
    pub(super) fn verdict(self) -> Result<(), Failure> {
        match self.missing {
            0 => Ok(()),
            1 => Err(Failure::new("check found a problem; see the line with !!, and check again after that")),
            n => Err(Failure::new(format!(
                "check found {n} problems; begin with the first line with !!, and check again after that"
            ))),
        }
    }
}
