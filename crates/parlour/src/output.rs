//! What a command tells whoever called it. A reader that has gone away (`parlour check | head`) is no failure.

use std::io::Write as _;

/// Lines on standard output.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end());
}

/// One line on standard error.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "parlour: {line}");
}
