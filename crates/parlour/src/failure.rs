//! Why a command ended badly, in the operator's words.

use std::fmt::Display;

/// One line or more, each of which says what is wrong and what to do. Never a secret.
#[derive(Debug)]
pub(crate) struct Failure(Vec<String>);

impl Failure {
    pub(crate) fn new(line: impl Display) -> Self {
        Self(vec![one_line(&line.to_string())])
    }

    pub(crate) fn all(lines: impl IntoIterator<Item = String>) -> Self {
        Self(lines.into_iter().map(|line| one_line(&line)).collect())
    }

    pub(crate) fn lines(&self) -> &[String] {
        &self.0
    }
}

/// Causes from elsewhere may break lines; whoever reads a log by lines would lose half of them.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
