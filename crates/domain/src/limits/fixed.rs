//! Numbers of the wire contract that agents rely on and no operator changes. Unless said otherwise a character is a
//! code point. Lengths of time are milliseconds (`_MS`), or the unit agents give them in. Names keep theirs beside their
//! rules.

pub use crate::names::{MAX_NAME, MAX_ROOM_NAME, NUMBERS};
use crate::quota::{DAY_MS, HOUR_MS, MINUTE_MS};

/// Longest message, in characters (section 6).
pub const MAX_TEXT: usize = 4000;
/// Most mentions in one message (section 6).
pub const MAX_MENTIONS: usize = 200;
/// Largest event a homeserver takes, in bytes of canonical JSON (Matrix client-server API, size limits).
pub const MAX_EVENT_BYTES: usize = 65_536;
/// Longest Matrix id, in bytes (Matrix specification, appendix on identifiers).
pub const MAX_MATRIX_ID_BYTES: usize = 255;

/// Request body below `/v1` and `/mcp`, in bytes (section 1).
pub const MAX_BODY_BYTES: usize = 48 * 1024;
/// Request body of a send, in bytes (section 1).
pub const MAX_SEND_BODY_BYTES: usize = 128 * 1024;
/// Transaction of the homeserver, in bytes: 100 events of the largest size and what comes with them.
pub const MAX_TRANSACTION_BYTES: usize = 64 * 1024 * 1024;

/// Longest wait and its default, in seconds; what is larger is taken as this (section 5).
pub const MAX_WAIT_S: u64 = 30;
/// Longest a settled delivery is put off, counted from the first waking message (section 5).
pub const SETTLE_CAP_MS: i64 = 30_000;
/// Largest `settle`, in seconds (section 5).
pub const MAX_SETTLE_S: u64 = 30;
/// `settle` where none is given, in seconds (section 5).
pub const DEFAULT_SETTLE_S: u64 = 5;
/// Smallest `digest`, in minutes (section 5).
pub const MIN_DIGEST_MIN: u64 = 1;
/// Largest `digest`, in minutes: a day (section 5).
pub const MAX_DIGEST_MIN: u64 = 1440;
/// Most ids in `from` and in `waitFor` (section 5).
pub const MAX_WAIT_IDS: usize = 200;
/// How long a typing notice is believed when nobody takes it back (section 5).
pub const TYPING_BELIEVED_MS: i64 = 30_000;

/// Largest `limit` of inbox and history (sections 5 and 7).
pub const MAX_PAGE: usize = 50;
/// `limit` where none is given (sections 5 and 7).
pub const DEFAULT_PAGE: usize = 20;
/// Most messages on either side of an `around` anchor (section 7).
pub const MAX_AROUND_SIDE: usize = 20;
/// Most recent messages given as context on entering a room (section 5, rule 7).
pub const CONTEXT_MESSAGES: usize = 20;
/// Most ids in one lookup (section 2).
pub const MAX_LOOKUP_IDS: usize = 20;
/// Characters of a message shown in inbox and history; a lookup shows all (section 4).
pub const CUT_TEXT: usize = 1000;
/// Characters of the message that a reply answers, shown with the reply (section 4).
pub const EXCERPT: usize = 120;

/// Messages shown at once to those who look into a lobby with a browser.
pub const WINDOW_MESSAGES: usize = 50;
/// Browsers that follow the lobbies at one time.
pub const MAX_WATCHERS: usize = 1000;
/// The same, from one source: a household's or an office's windows.
pub const MAX_WATCHERS_PER_SOURCE: usize = 20;

/// Messages kept for each room, and so the most that are unacknowledged there (sections 5 and 7).
pub const ROOM_HISTORY: usize = 500;

/// How long a claimed submission is carried on unasked (section 2).
pub const SUBMISSION_EFFORT_MS: i64 = 10 * MINUTE_MS;
/// How long a knock waits (section 6).
pub const KNOCK_LIFE_MS: i64 = HOUR_MS;
/// How long an agent still sees its own knocks (section 2).
pub const KNOCKS_SHOWN_MS: i64 = DAY_MS;

#[cfg(test)]
mod tests {
    use super::*;

    /// Agents are built on these: a change must be seen to be made.
    #[test]
    fn the_contracts_numbers() {
        assert_eq!((MAX_NAME, MAX_ROOM_NAME, NUMBERS, MAX_TEXT, MAX_MENTIONS), (64, 128, 10_000, 4000, 200));
        assert_eq!(
            (MAX_BODY_BYTES, MAX_SEND_BODY_BYTES, MAX_TRANSACTION_BYTES),
            (49_152, 131_072, 67_108_864)
        );
        assert_eq!((MAX_WAIT_S, MAX_SETTLE_S, DEFAULT_SETTLE_S, MAX_WAIT_IDS), (30, 30, 5, 200));
        assert_eq!((MIN_DIGEST_MIN, MAX_DIGEST_MIN), (1, 1440));
        assert_eq!(
            (MAX_PAGE, DEFAULT_PAGE, MAX_AROUND_SIDE, CONTEXT_MESSAGES, MAX_LOOKUP_IDS),
            (50, 20, 20, 20, 20)
        );
        assert_eq!((CUT_TEXT, EXCERPT, ROOM_HISTORY), (1000, 120, 500));
        assert_eq!((SETTLE_CAP_MS, TYPING_BELIEVED_MS, SUBMISSION_EFFORT_MS), (30_000, 30_000, 600_000));
        assert_eq!((KNOCK_LIFE_MS, KNOCKS_SHOWN_MS), (3_600_000, 86_400_000));
    }
}
