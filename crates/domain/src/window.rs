//! What strangers are shown of what was said: harmless to look at, and as it was meant.
//!
//! A browser escapes nothing but markup. Signs that turn text around, that nobody can see, or that pile up over other
//! lines are dealt with here.

use std::ops::Range;

use crate::{
    limits::{EXCERPT, MAX_TEXT},
    message::cut,
    names::{MAX_NAME, visible},
};

/// Most mentions that are looked for in one text: each is a walk through it.
const MARKED: usize = 20;

/// Marks that sit on one letter; more than any script needs.
const MARKS: usize = 4;

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// Names somebody who is mentioned.
    pub mention: bool,
}

/// A text as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub pieces: Vec<Piece>,
    /// There is more than is shown.
    pub cut: bool,
    /// Which of those mentioned are not named in what is shown.
    pub unnamed: Vec<usize>,
}

/// A name in one line, without signs that cannot be seen. `None` where nothing is left of it.
#[must_use]
pub fn name(text: &str) -> Option<String> {
    let seen = one_line(&visible(&one_line(text)));
    (!seen.is_empty()).then(|| shortened(&plain(&seen), MAX_NAME))
}

/// The beginning of a text, in one line.
#[must_use]
pub fn excerpt(text: &str) -> String {
    shortened(&one_line(&plain(text)), EXCERPT)
}

/// A text with the names in it found. `names`: for each of those mentioned what a client may have written for them.
#[must_use]
pub fn words(text: &str, names: &[Vec<String>]) -> Words {
    let text = plain(text);
    let shown = cut(&text, MAX_TEXT).unwrap_or(&text);
    let mut found: Vec<Range<usize>> = vec![];
    let mut unnamed: Vec<usize> = vec![];
    for (at, spellings) in names.iter().enumerate() {
        let places = if at < MARKED { places(shown, spellings) } else { vec![] };
        if places.is_empty() {
            unnamed.push(at);
        }
        found.extend(places);
    }
    Words { pieces: pieces(shown, apart(found)), cut: shown.len() < text.len(), unnamed }
}

/// Where the first spelling that occurs stands, as words of their own.
fn places(text: &str, spellings: &[String]) -> Vec<Range<usize>> {
    let of = |spelling: &String| -> Vec<Range<usize>> {
        let whole = text.match_indices(spelling.as_str()).filter(|(at, s)| stands_alone(text, *at, s.len()));
        whole.map(|(at, s)| with_at_sign(text, at)..at + s.len()).collect()
    };
    spellings.iter().filter(|s| !s.is_empty()).map(of).find(|p| !p.is_empty()).unwrap_or_default()
}

/// Scripts without blanks between words have no such edges.
fn stands_alone(text: &str, at: usize, len: usize) -> bool {
    let joins = |sign: Option<char>| sign.is_some_and(|s| s.is_ascii_alphanumeric());
    !joins(text[..at].chars().next_back()) && !joins(text[at + len..].chars().next())
}

fn with_at_sign(text: &str, at: usize) -> usize {
    if text[..at].ends_with('@') { at - 1 } else { at }
}

/// In order, without those that overlap an earlier one.
fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|r| (r.start, std::cmp::Reverse(r.end)));
    let mut end = 0;
    ranges.retain(|r| {
        let free = r.start >= end;
        end = if free { r.end } else { end };
        free
    });
    ranges
}

fn pieces(text: &str, mentions: Vec<Range<usize>>) -> Vec<Piece> {
    let (mut all, mut at) = (vec![], 0);
    for range in mentions {
        all.push(Piece { text: text[at..range.start].to_owned(), mention: false });
        at = range.end;
        all.push(Piece { text: text[range].to_owned(), mention: true });
    }
    all.push(Piece { text: text[at..].to_owned(), mention: false });
    all.retain(|p| !p.text.is_empty());
    all
}

/// Without controls other than line ends and tabs, without the two signs that write any text backwards (U+202D, U+202E),
/// and without marks piled on marks.
fn plain(text: &str) -> String {
    let mut run = 0;
    let text = text.trim_end().replace("\r\n", "\n");
    let kept = text.chars().filter(|&sign| {
        run = if unicode_normalization::char::is_combining_mark(sign) { run + 1 } else { 0 };
        let harmless = !sign.is_control() || matches!(sign, '\n' | '\t');
        harmless && !matches!(sign, '\u{202D}' | '\u{202E}') && run <= MARKS
    });
    kept.collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(text: &str, limit: usize) -> String {
    cut(text, limit).map_or_else(|| text.to_owned(), |begin| format!("{}…", begin.trim_end()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Ada", Some("Ada"))]
    #[case("  Ada\n\tLovelace ", Some("Ada Lovelace"))]
    #[case("\u{202e}tuocS\u{202c}", Some("tuocS"))]
    #[case("a\u{200b}\u{2066}b", Some("ab"))]
    #[case("👩\u{200d}🚀 Ripley", Some("👩\u{200d}🚀 Ripley"))]
    #[case("\u{3164}\u{200b}", None)]
    #[case("", None)]
    fn names_can_be_seen_and_keep_their_order(#[case] text: &str, #[case] shown: Option<&str>) {
        assert_eq!(name(text).as_deref(), shown);
    }

    #[test]
    fn long_names_are_cut_and_marks_do_not_pile_up() {
        assert_eq!(name(&"a".repeat(9_999)).unwrap().chars().count(), MAX_NAME + 1);
        assert_eq!(name(&format!("Z{}", "\u{301}".repeat(99))).unwrap().chars().count(), 1 + MARKS);
    }

    /// `names`: people with `;` between, their spellings with `|`.
    fn marked(text: &str, names: &str) -> (String, Vec<usize>) {
        let spellings = |person: &str| person.split('|').map(str::to_owned).collect();
        let names: Vec<Vec<String>> = names.split(';').map(spellings).collect();
        let words = words(text, &names);
        let all =
            words.pieces.iter().map(|p| if p.mention { format!("[{}]", p.text) } else { p.text.clone() });
        (all.collect(), words.unnamed)
    }

    #[rstest]
    #[case::named("hello Scout #2316!", "Scout #2316", "hello [Scout #2316]!", &[])]
    #[case::with_an_at_sign("@Ada: hi, Ada", "Ada", "[@Ada]: hi, [Ada]", &[])]
    #[case::within_a_word("Adamant", "Ada", "Adamant", &[0])]
    #[case::by_id("@ada:x.org look", "Ada|@ada:x.org", "[@ada:x.org] look", &[])]
    #[case::in_chinese("请小明看看", "小明", "请[小明]看看", &[])]
    #[case::one_in_the_other("Scout #2316", "Scout;Scout #2316", "[Scout #2316]", &[])]
    #[case::not_named("look", "Ada;", "look", &[0, 1])]
    fn mentions_are_found(
        #[case] text: &str,
        #[case] names: &str,
        #[case] shown: &str,
        #[case] unnamed: &[usize],
    ) {
        assert_eq!(marked(text, names), (shown.to_owned(), unnamed.to_vec()));
    }

    #[test]
    fn what_is_hostile_becomes_plain() {
        assert_eq!(marked("a\u{0}\u{7}\u{202e}b\r\nc\td\n\n", "").0, "ab\nc\td");
        assert_eq!(marked(&format!("e{}", "\u{336}".repeat(500)), "").0.chars().count(), 1 + MARKS);
        assert_eq!(marked("<b>&\"'", "").0, "<b>&\"'");
    }

    #[test]
    fn long_texts_are_cut_and_excerpts_are_one_line() {
        assert!(!words(&"x".repeat(MAX_TEXT), &[]).cut);
        let long = words(&"ü".repeat(MAX_TEXT + 1), &[]);
        assert!(long.cut);
        assert_eq!(long.pieces[0].text.chars().count(), MAX_TEXT);
        assert_eq!(excerpt("a\n\nb"), "a b");
        assert_eq!(excerpt(&"word ".repeat(99)).chars().count(), EXCERPT);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_pieces(text: String, names in prop::collection::vec("[a-c@ ]{0,3}", 0..4)) {
            let names: Vec<Vec<String>> = names.into_iter().map(|n| vec![n]).collect();
            let words = words(&text, &names);
            let all: String = words.pieces.iter().map(|p| p.text.as_str()).collect();
            prop_assert_eq!(&all, &plain(&text));
            prop_assert!(words.pieces.iter().all(|p| !p.text.is_empty()));
        }

        #[test]
        fn any_name_is_one_short_visible_line(text: String) {
            if let Some(name) = name(&text) {
                prop_assert!(name.chars().count() <= MAX_NAME + 1 && !name.chars().any(char::is_control));
                prop_assert!(!name.trim().is_empty());
            }
        }
    }
}
