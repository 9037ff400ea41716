//! What a private room may be called (wire contract, section 2).

use std::fmt;

use thiserror::Error;

use crate::fault::{Code, Fault};

/// Longest room name, in code points, after trimming.
pub const MAX_ROOM_NAME: usize = 128;

/// A private room's name, trimmed. Rooms of one agent are told apart by it, so it compares exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoomName(String);

/// Why a room name was refused, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RoomNameError {
    #[error("The room name is empty. Send a name of 1 to {MAX_ROOM_NAME} characters.")]
    Empty,
    #[error("The room name has {0} characters. Shorten it to at most {MAX_ROOM_NAME}.")]
    TooLong(usize),
    #[error(
        "Character {position} of the room name (U+{:04X}) is a control character or a line break. Leave it out.",
        u32::from(*character)
    )]
    Control {
        character: char,
        /// In code points of the trimmed name, from 1.
        position: usize,
    },
}

impl RoomName {
    /// Checks and trims a room name. Unlike an agent's it may hold joiners and the like: nobody is mistaken for it.
    ///
    /// # Errors
    /// The first rule the name breaks.
    pub fn parse(text: &str) -> Result<Self, RoomNameError> {
        let name = text.trim();
        match name.chars().count() {
            0 => return Err(RoomNameError::Empty),
            n if n > MAX_ROOM_NAME => return Err(RoomNameError::TooLong(n)),
            _ => {}
        }
        match name.chars().enumerate().find(|(_, c)| breaks_line(*c)) {
            Some((index, character)) => Err(RoomNameError::Control { character, position: index + 1 }),
            None => Ok(Self(name.to_owned())),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<RoomNameError> for Fault {
    fn from(error: RoomNameError) -> Self {
        Self::new(Code::RoomNameInvalid, error.to_string()).field("name")
    }
}

/// Control characters, and Unicode's line and paragraph separators, which act like some of them.
fn breaks_line(sign: char) -> bool {
    sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Plans", Ok("Plans"))]
    #[case("  Plans for 👩‍🚀 \n", Ok("Plans for 👩‍🚀"))]
    #[case("admin", Ok("admin"))]
    #[case("", Err(RoomNameError::Empty))]
    #[case(" \t ", Err(RoomNameError::Empty))]
    #[case("a\tb", Err(RoomNameError::Control { character: '\t', position: 2 }))]
    #[case("ab\u{7f}", Err(RoomNameError::Control { character: '\u{7f}', position: 3 }))]
    #[case("a\u{2028}b", Err(RoomNameError::Control { character: '\u{2028}', position: 2 }))]
    fn rules(#[case] text: &str, #[case] expected: Result<&str, RoomNameError>) {
        assert_eq!(RoomName::parse(text).map(|n| n.to_string()), expected.map(str::to_owned));
    }

    #[test]
    fn length_counts_code_points() {
        assert!(RoomName::parse(&"间".repeat(MAX_ROOM_NAME)).is_ok());
        assert_eq!(RoomName::parse(&"间".repeat(129)), Err(RoomNameError::TooLong(129)));
    }

    #[test]
    fn the_fault_has_its_own_code() {
        let fault = Fault::from(RoomName::parse("").unwrap_err());
        assert_eq!((fault.code, fault.details["field"].as_str()), (Code::RoomNameInvalid, Some("name")));
    }

    proptest! {
        #[test]
        fn what_passes_passes_again_unchanged(text in any::<String>()) {
            if let Ok(name) = RoomName::parse(&text) {
                prop_assert_eq!(RoomName::parse(name.as_str()), Ok(name.clone()));
                prop_assert!((1..=MAX_ROOM_NAME).contains(&name.as_str().chars().count()));
            }
        }
    }
}
