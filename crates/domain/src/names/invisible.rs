//! Signs a person cannot see. With them two names could differ and look the same, or be read in another order.
//!
//! Refused are Unicode's control characters (Cc) and noncharacters, private-use signs (nobody knows their look), its
//! Default_Ignorable_Code_Point set (zero-width, bidi controls, variation selectors, tags, Hangul fillers), the few
//! that are blank without being listed there, and all blanks but three.
//!
//! Two exceptions, since emoji need them: U+FE0F right after a pictograph (or in a keycap such as 1️⃣), and U+200D
//! between two pictographs. There both change what is shown. Everywhere else, also between letters of scripts that
//! use joiners (Persian, Indic), they are refused: names there stay legible without, and what a joiner does to a
//! letter is not something a reader can be asked to notice.

/// Ranges, ends included, in ascending order. DerivedCoreProperties.txt of Unicode 16 unless marked.
const INVISIBLE: &[(u32, u32)] = &[
    (0x0000, 0x001F),     // Cc
    (0x007F, 0x009F),     // Cc
    (0x00AD, 0x00AD),     // soft hyphen
    (0x034F, 0x034F),     // combining grapheme joiner
    (0x061C, 0x061C),     // Arabic letter mark
    (0x115F, 0x1160),     // Hangul fillers
    (0x1680, 0x1680),     // blank of Ogham, not in the set
    (0x17B4, 0x17B5),     // Khmer inherent vowels
    (0x180B, 0x180F),     // Mongolian selectors
    (0x2000, 0x200A),     // blanks of odd widths, not in the set
    (0x200B, 0x200F),     // zero width, marks of direction
    (0x2028, 0x202F),     // line ends, bidi embeddings, narrow blank
    (0x205F, 0x206F),     // mathematical blank, joiners, bidi isolates
    (0x2800, 0x2800),     // empty Braille cell, not in the set
    (0x3164, 0x3164),     // Hangul filler
    (0xE000, 0xF8FF),     // private use
    (0xFDD0, 0xFDEF),     // noncharacters
    (0xFE00, 0xFE0F),     // variation selectors
    (0xFEFF, 0xFEFF),     // byte order mark
    (0xFFA0, 0xFFA0),     // half-width Hangul filler
    (0xFFF0, 0xFFFC),     // unassigned ignorables, annotations, object replacement
    (0x13430, 0x13440),   // layout of hieroglyphs, not in the set
    (0x16FE4, 0x16FE4),   // Khitan filler, not in the set
    (0x1BCA0, 0x1BCA3),   // shorthand controls
    (0x1D159, 0x1D159),   // musical null notehead, not in the set
    (0x1D173, 0x1D17A),   // musical controls
    (0xE0000, 0xE0FFF),   // tags, more variation selectors
    (0xF0000, 0x10_FFFF), // private use
];

/// Where pictographs are. Coarser than Extended_Pictographic, which only lets U+FE0F follow a few signs too many.
const PICTOGRAPHS: &[(u32, u32)] = &[
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x21AA),
    (0x231A, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25AA, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3299),
    (0x1F000, 0x1FAFF),
];

const JOINER: char = '\u{200D}';
const EMOJI_STYLE: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

/// The first sign that a name must not hold, with its place in code points from 0.
pub(super) fn first_refused(name: &str) -> Option<(usize, char)> {
    let signs: Vec<char> = name.chars().collect();
    let refused = |i: &usize| is_invisible(signs[*i]) && !has_effect(&signs, *i);
    (0..signs.len()).find(refused).map(|i| (i, signs[i]))
}

/// The text without what a name must not hold.
pub(super) fn taken_out(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    let kept = |i: &usize| !is_invisible(signs[*i]) || has_effect(&signs, *i);
    (0..signs.len()).filter(kept).map(|i| signs[i]).collect()
}

/// Whether the sign alone shows nothing.
pub(super) fn is_invisible(sign: char) -> bool {
    let code = u32::from(sign);
    // The last two of each plane are noncharacters.
    within(INVISIBLE, code) || code & 0xFFFE == 0xFFFE
}

/// The two exceptions: a joiner or an emoji selector where it changes what is shown.
fn has_effect(signs: &[char], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|i| signs.get(i)) else { return false };
    let after = signs.get(at + 1).copied();
    match signs[at] {
        EMOJI_STYLE => is_pictograph(before) || (is_key(before) && after == Some(KEYCAP)),
        JOINER => (is_pictograph(before) || before == EMOJI_STYLE) && after.is_some_and(is_pictograph),
        _ => false,
    }
}

fn is_pictograph(sign: char) -> bool {
    within(PICTOGRAPHS, u32::from(sign))
}

fn is_key(sign: char) -> bool {
    sign.is_ascii_digit() || matches!(sign, '#' | '*')
}

fn within(ranges: &[(u32, u32)], code: u32) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).is_some_and(|i| code <= ranges[i].1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_ranges_are_in_order_and_apart() {
        for table in [INVISIBLE, PICTOGRAPHS] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|w| w[0].1 < w[1].0), "{table:x?}");
        }
    }

    #[rstest]
    #[case::nul("a\0", 1)]
    #[case::line_end("a\nb", 1)]
    #[case::next_line("a\u{85}b", 1)]
    #[case::soft_hyphen("a\u{ad}b", 1)]
    #[case::zero_width("ab\u{200b}", 2)]
    #[case::bidi_override("\u{202e}ab", 0)]
    #[case::bidi_isolate("a\u{2066}", 1)]
    #[case::byte_order_mark("\u{feff}a", 0)]
    #[case::tag("a\u{e0041}", 1)]
    #[case::flag_by_tags("🏴\u{e0067}\u{e007f}", 1)]
    #[case::hangul_filler("\u{3164}", 0)]
    #[case::narrow_filler("a\u{ffa0}", 1)]
    #[case::braille_blank("\u{2800}", 0)]
    #[case::thin_blank("a\u{2009}b", 1)]
    #[case::private("a\u{e000}", 1)]
    #[case::nonchar("a\u{1fffe}", 1)]
    #[case::joiner_of_letters("a\u{200d}b", 1)]
    #[case::joiner_at_the_end("👩\u{200d}", 1)]
    #[case::joiner_after_a_letter("a\u{200d}🚀", 1)]
    #[case::joiner_first("\u{200d}👩", 0)]
    #[case::two_joiners("👩\u{200d}\u{200d}🚀", 1)]
    #[case::selector_of_a_letter("a\u{fe0f}", 1)]
    #[case::selector_twice("❤\u{fe0f}\u{fe0f}", 2)]
    #[case::selector_of_a_digit("1\u{fe0f}", 1)]
    #[case::text_selector("❤\u{fe0e}", 1)]
    #[case::rare_selector("葛\u{e0100}", 1)]
    fn refused_at(#[case] name: &str, #[case] place: usize) {
        assert_eq!(first_refused(name).map(|(i, _)| i), Some(place), "{name:?}");
    }

    #[rstest]
    #[case("Zoë O'Neill 3")]
    #[case("a\u{a0}b\u{3000}c")]
    #[case("👩\u{200d}🚀")]
    #[case("🧑🏽\u{200d}🔬")]
    #[case("❤\u{fe0f}\u{200d}🔥")]
    #[case("🏳\u{fe0f}\u{200d}🌈")]
    #[case("1\u{fe0f}\u{20e3}")]
    #[case("🇨🇳")]
    #[case("สวัสดี नमस्ते 안녕 你好")]
    fn seen(#[case] name: &str) {
        assert_eq!(first_refused(name), None, "{name:?}");
    }

    proptest! {
        #[test]
        fn a_blank_sign_among_letters_is_always_found(a in "[a-zа-я]{0,9}", i in 0..INVISIBLE.len(), b in "[a-z]{0,9}") {
            for code in [INVISIBLE[i].0, INVISIBLE[i].1] {
                let sign = char::from_u32(code).unwrap();
                prop_assert_eq!(first_refused(&format!("{a}{sign}{b}")), Some((a.chars().count(), sign)));
            }
        }
    }
}
