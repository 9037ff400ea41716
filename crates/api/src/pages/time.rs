//! Times for people, in UTC; the script shows them in the reader's own zone.

use chrono::{DateTime, Utc};

use super::language::Language;

/// Milliseconds since 1970, which anybody may have written.
pub(super) fn read(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

/// `2026-11-30T20:45Z`
pub(super) fn machine(ms: i64) -> String {
    read(ms).format("%Y-%m-%dT%H:%MZ").to_string()
}

/// `20:45`
pub(super) fn clock(ms: i64) -> String {
    read(ms).format("%H:%M").to_string()
}

/// `30 November 2026`, `2026年11月30日`
pub(super) fn day(ms: i64, language: Language) -> String {
    let format = match language {
        Language::English => "%-d %B %Y",
        Language::Chinese => "%Y年%-m月%-d日",
    };
    read(ms).format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_time() {
        let ms = 1_796_000_000_000;
        assert_eq!((machine(ms), clock(ms)), ("2026-11-30T00:53Z".to_owned(), "00:53".to_owned()));
        assert_eq!(day(ms, Language::English), "30 November 2026");
        assert_eq!(day(ms, Language::Chinese), "2026年11月30日");
        for odd in [i64::MIN, -1, 0, 9_007_199_254_740_991, i64::MAX] {
            assert!(!machine(odd).is_empty());
        }
    }
}
