//! Columns for people, of what the bridge answers.

use parlour_app::runtime::{Clock, SystemClock};
use serde_json::Value;

const GAP: &str = "  ";

/// A head and rows below it, in columns; `nothing` where there are no rows.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    items: &Value,
    row: impl Fn(&Value) -> [String; N],
    nothing: &str,
) -> String {
    let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        return nothing.to_owned();
    }
    let rows = items.iter().map(|item| row(item).map(|cell| harmless(&cell)));
    columns(&std::iter::once(head.map(str::to_owned)).chain(rows).collect::<Vec<_>>())
}

fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join(GAP).trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Names are other people's: what would steer the terminal is not passed on.
pub(crate) fn harmless(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect()
}

/// A text of an answer; `-` where there is none.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn yes(value: &Value) -> String {
    if value == true { "yes" } else { "no" }.to_owned()
}

/// A room by its name, else by its number.
pub(crate) fn room(room: &Value) -> String {
    text(room.get("name").unwrap_or(&room["catalogId"]))
}

/// How long ago something was.
pub(crate) fn ago(at_ms: &Value) -> String {
    at_ms.as_i64().map_or_else(|| "-".to_owned(), |at| format!("{} ago", span(SystemClock.now_ms() - at)))
}

/// How soon something will be.
pub(crate) fn ahead(at_ms: &Value) -> String {
    at_ms.as_i64().map_or_else(|| "-".to_owned(), |at| format!("in {}", span(at - SystemClock.now_ms())))
}

fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(items: &Value) -> String {
        table(["name", "rooms"], items, |i| [text(&i["name"]), text(&i["rooms"])], "nobody")
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let items = json!([{"name": "Scout #2316", "rooms": 2}, {"name": "B\u{e9}", "rooms": null}]);
        assert_eq!(shown(&items), "name         rooms\nScout #2316  2\nB\u{e9}           -");
    }

    #[test]
    fn nothing_is_said_in_words() {
        assert_eq!(shown(&json!([])), "nobody");
    }

    #[test]
    fn a_name_steers_no_terminal_and_breaks_no_line() {
        let told = shown(&json!([{"name": "a\u{1b}[2Jb\nc\u{202e}d", "rooms": 1}]));
        assert_eq!(told.lines().count(), 2);
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told:?}");
    }

    #[test]
    fn spans_are_told_in_one_unit() {
        let spans = [-5, 59_999, 60_000, 7_199_999, 86_400_000 * 3].map(span);
        assert_eq!(spans, ["0s", "59s", "1m", "1h", "3d"]);
    }
}
