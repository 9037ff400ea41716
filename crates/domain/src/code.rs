//! The form of Agent codes (wire contract, section 6): twelve Crockford base-32 characters, sixty bits of chance, shown
//! as `XXXX-XXXX-XXXX`. A code opens a private room, so it is a secret: it has no `Display` and hides from `Debug`.

use std::fmt;

use thiserror::Error;

use crate::fault::{Code, Fault};

/// Crockford's alphabet: no I, L, O (read as 1, 1, 0) and no U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Characters of a code, without hyphens.
const LENGTH: usize = 12;

/// Bits of a code, five a character.
const BITS: u32 = 60;

/// An Agent code, whichever way it was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AgentCode(u64);

/// Not the form of a code. Tells nothing about which codes exist, and is no guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "This code does not open a room. Ask whoever gave it to you for the current one, and send it as it stands."
)]
pub struct MalformedCode;

impl AgentCode {
    /// A new code from eight bytes of chance, of which sixty bits are used.
    #[must_use]
    pub fn new(chance: [u8; 8]) -> Self {
        Self(u64::from_be_bytes(chance) >> (u64::BITS - BITS))
    }

    /// Reads a code as people pass it on: case, blanks and hyphens (the typographic ones too, which chat programs put
    /// in) do not count; O is 0; I and L are 1.
    ///
    /// # Errors
    /// Another number of characters than twelve, or one that is not in the alphabet (U among them).
    pub fn parse(text: &str) -> Result<Self, MalformedCode> {
        let mut signs = text.chars().filter(|c| !is_filler(*c));
        let mut bits = 0;
        for _ in 0..LENGTH {
            bits = bits << 5 | signs.next().and_then(value).ok_or(MalformedCode)?;
        }
        signs.next().map_or(Ok(Self(bits)), |_| Err(MalformedCode))
    }

    /// The one spelling that digests are made of: upper case, no hyphens.
    #[must_use]
    pub fn canonical(self) -> [u8; LENGTH] {
        let mut text = [0; LENGTH];
        for (sign, shift) in text.iter_mut().zip((0..BITS).step_by(5).rev()) {
            *sign = ALPHABET[usize::from((self.0 >> shift) as u8 & 31)];
        }
        text
    }

    /// `XXXX-XXXX-XXXX`, to be shown to the room's owner and nobody else.
    #[must_use]
    pub fn reveal(self) -> String {
        let groups = self.canonical();
        let groups: Vec<&[u8]> = groups.chunks(4).collect();
        groups.join(&b'-').into_iter().map(char::from).collect()
    }
}

impl fmt::Debug for AgentCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentCode(..)")
    }
}

impl From<MalformedCode> for Fault {
    fn from(error: MalformedCode) -> Self {
        Self::new(Code::CodeInvalid, error.to_string())
    }
}

fn is_filler(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '-' | '\u{AD}' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Five bits of a character, in either case.
fn value(sign: char) -> Option<u64> {
    let plain = match sign.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let place = ALPHABET.iter().position(|c| char::from(*c) == plain)?;
    u64::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case([0; 8], "0000-0000-0000")]
    #[case([255; 8], "ZZZZ-ZZZZ-ZZZZ")]
    #[case([0, 0, 0, 0, 0, 0, 0, 16], "0000-0000-0001")]
    #[case([0, 0, 0, 0, 0, 0, 0, 15], "0000-0000-0000")]
    #[case([8, 0, 0, 0, 0, 0, 0, 0], "1000-0000-0000")]
    #[case([0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6], "0123-4567-89AB")]
    fn sixty_bits_are_shown(#[case] chance: [u8; 8], #[case] shown: &str) {
        assert_eq!(AgentCode::new(chance).reveal(), shown);
    }

    #[rstest]
    #[case("0123-4567-89AB")]
    #[case("0123456789AB")]
    #[case(" 0123 4567 89ab\n")]
    #[case("o123-4567-89ab")]
    #[case("OI23-4567-89AB")]
    #[case("oL23\u{2013}4567\u{2011}89ab")]
    #[case("--0-1--23456789AB--")]
    fn one_code_in_many_spellings(#[case] text: &str) {
        assert_eq!(AgentCode::parse(text).map(AgentCode::reveal), Ok("0123-4567-89AB".to_owned()));
    }

    #[rstest]
    #[case::empty("")]
    #[case::blank(" - ")]
    #[case::short("0123-4567-89A")]
    #[case::long("0123-4567-89ABC")]
    #[case::u("0123-4567-89AU")]
    #[case::u_small("u123-4567-89AB")]
    #[case::underscore("0123_4567_89AB")]
    #[case::full_width("０123-4567-89AB")]
    #[case::accent("0123-4567-89Á")]
    #[case::kelvin("0123-4567-89A\u{212a}")]
    #[case::nul("0123-4567-89AB\0")]
    fn anything_else_is_malformed(#[case] text: &str) {
        assert_eq!(AgentCode::parse(text), Err(MalformedCode));
    }

    #[test]
    fn a_code_does_not_show_in_debug_output() {
        let code = AgentCode::parse("0123-4567-89AB");
        assert_eq!(format!("{code:?}"), "Ok(AgentCode(..))");
    }

    #[test]
    fn every_character_of_the_alphabet_keeps_its_value() {
        for (place, sign) in ALPHABET.iter().enumerate() {
            assert_eq!(value(char::from(*sign)), Some(place as u64));
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(chance: [u8; 8]) {
            let code = AgentCode::new(chance);
            prop_assert_eq!(AgentCode::parse(&code.reveal()), Ok(code));
            prop_assert_eq!(AgentCode::parse(&code.reveal().to_lowercase()), Ok(code));
            let spelt = String::from_utf8(code.canonical().to_vec()).unwrap();
            prop_assert_eq!(AgentCode::parse(&spelt), Ok(code));
            prop_assert_eq!(code.reveal().replace('-', ""), spelt);
        }

        #[test]
        fn other_chance_gives_another_code(a: [u8; 8], b: [u8; 8]) {
            let differ = u64::from_be_bytes(a) >> 4 != u64::from_be_bytes(b) >> 4;
            prop_assert_eq!(AgentCode::new(a) != AgentCode::new(b), differ);
        }

        #[test]
        fn any_text_is_judged_without_panic(text in any::<String>()) {
            if let Ok(code) = AgentCode::parse(&text) {
                prop_assert_eq!(AgentCode::parse(&code.reveal()), Ok(code));
            }
        }
    }
}
