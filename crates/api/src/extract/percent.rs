//! Percent-decoding that refuses what the usual libraries let pass.

use std::borrow::Cow;

use percent_encoding::percent_decode;

/// What a plus sign stands for in a query: form encoders write blanks so, but ids contain plus signs that many callers
/// leave as they are, and never contain blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plus {
    Itself,
    Blank,
}

/// `None`: a `%` without two hexadecimal digits after it, or not UTF-8.
pub(super) fn decode(raw: &str, plus: Plus) -> Option<String> {
    if !is_well_formed(raw.as_bytes()) {
        return None;
    }
    let raw = match plus {
        Plus::Itself => Cow::Borrowed(raw),
        Plus::Blank => Cow::Owned(raw.replace('+', " ")),
    };
    percent_decode(raw.as_bytes()).decode_utf8().ok().map(Cow::into_owned)
}

fn is_well_formed(raw: &[u8]) -> bool {
    let mut escapes = raw.split(|b| *b == b'%').skip(1);
    escapes.all(|rest| rest.len() >= 2 && rest[..2].iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", Some(""))]
    #[case("%21a%3aB", Some("!a:B"))]
    #[case("a%20b+c", Some("a b+c"))]
    #[case("%F0%9F%98%80", Some("😀"))]
    #[case("%25zz", Some("%zz"))]
    #[case("%", None)]
    #[case("a%2", None)]
    #[case("%zz", None)]
    #[case("%%20", None)]
    #[case("%ff", None)]
    fn values(#[case] raw: &str, #[case] expected: Option<&str>) {
        assert_eq!(decode(raw, Plus::Itself).as_deref(), expected);
    }

    #[test]
    fn a_plus_sign_is_a_blank_where_texts_are_expected() {
        assert_eq!(decode("Ada+L%2B", Plus::Blank).as_deref(), Some("Ada L+"));
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(text: String) {
            let raw = percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string();
            prop_assert_eq!(decode(&raw, Plus::Itself), Some(text.clone()));
            prop_assert_eq!(decode(&raw, Plus::Blank), Some(text));
        }

        #[test]
        fn anything_is_read_or_refused(raw: String) {
            let _ = (decode(&raw, Plus::Itself), decode(&raw, Plus::Blank));
        }
    }
}
