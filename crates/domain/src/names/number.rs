//! The four digits behind an agent's name. Name and number together are unique among living agents.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{AgentName, likeness::is_gap};

/// How many numbers a name has: 0000 to 9999.
pub const NUMBERS: u16 = 10_000;

/// What people see: `Scout #2316`. `number` is one that [`pick_number`] gave.
#[must_use]
pub fn display_name(name: &AgentName, number: u16) -> String {
    format!("{name} #{number:04}")
}

/// A free number, looking at all of them once from `start` (the caller's chance, any value) upwards and around.
/// `None`: all are taken.
#[must_use]
pub fn pick_number(taken: impl Fn(u16) -> bool, start: u16) -> Option<u16> {
    let start = start % NUMBERS;
    (start..NUMBERS).chain(0..start).find(|number| !taken(*number))
}

/// Whether a name ends in what reads like a number of ours: a hash sign, four digits, maybe blanks and
/// separators around them. Such a name is
/// refused: "Scout #2316" with a number of its own behind it would be cut off to the other's name in any list.
pub(super) fn ends_in_number(name: &str) -> bool {
    let flat: String = name.nfkd().filter(|c| !is_combining_mark(*c)).collect();
    let rest = flat.trim_end_matches(is_gap);
    let digits: Vec<char> = rest.chars().rev().take_while(|c| reads_as_digit(*c)).collect();
    let before = rest.chars().rev().skip(digits.len()).find(|c| !is_gap(*c));
    digits.len() == 4 && digits.iter().any(|c| c.is_numeric()) && before.is_some_and(is_hash)
}

fn is_hash(sign: char) -> bool {
    matches!(sign, '#' | '♯' | '⌗' | '⋕')
}

/// Digits of any script, and the letters that pass for 0 and 1.
fn reads_as_digit(sign: char) -> bool {
    sign.is_numeric() || matches!(sign, 'o' | 'O' | 'l' | 'I' | 'О' | 'о' | 'Ο' | 'ο' | 'І' | 'Ι')
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeSet};

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "Scout #0000")]
    #[case(7, "Scout #0007")]
    #[case(2316, "Scout #2316")]
    #[case(9999, "Scout #9999")]
    fn numbers_have_four_digits(#[case] number: u16, #[case] shown: &str) {
        assert_eq!(display_name(&AgentName::parse("Scout", &[]).unwrap(), number), shown);
    }

    #[rstest]
    #[case("Scout #2316", true)]
    #[case("Scout#2316", true)]
    #[case("Scout # 2316", true)]
    #[case("#0000", true)]
    #[case("Scout ＃２３１６", true)]
    #[case("Scout ♯2316", true)]
    #[case("Scout #٢٣١٦", true)]
    #[case("Scout #23l6", true)]
    #[case("Scout #①②③④", true)]
    #[case("Scout #2316.", true)]
    #[case("Scout #-2316", true)]
    #[case("Scout #2316\u{323}", true)]
    #[case("Scout #2\u{fe0f}\u{20e3}316", true)]
    #[case("Scout 2316", false)]
    #[case("Scout #231", false)]
    #[case("Scout #23161", false)]
    #[case("Scout #2316 the second", false)]
    #[case("Scout #loll", false)]
    #[case("C#", false)]
    #[case("", false)]
    fn a_number_at_the_end_is_seen(#[case] name: &str, #[case] ends: bool) {
        assert_eq!(ends_in_number(name), ends, "{name}");
    }

    #[test]
    fn all_numbers_taken_gives_none_after_one_round() {
        let asked = RefCell::new(Vec::new());
        let taken = |n| {
            asked.borrow_mut().push(n);
            true
        };
        assert_eq!(pick_number(taken, 9_998), None);
        assert_eq!(asked.borrow()[..3], [9_998, 9_999, 0]);
        assert_eq!(asked.borrow().len(), usize::from(NUMBERS));
    }

    proptest! {
        #[test]
        fn the_last_free_number_is_found_from_anywhere(free in 0..NUMBERS, start in any::<u16>()) {
            prop_assert_eq!(pick_number(|n| n != free, start), Some(free));
        }

        #[test]
        fn what_is_picked_is_free_and_in_range(
            taken in prop::collection::btree_set(0..NUMBERS, 0..200),
            start in any::<u16>(),
        ) {
            let taken: BTreeSet<u16> = taken;
            let picked = pick_number(|n| taken.contains(&n), start).unwrap();
            prop_assert!(picked < NUMBERS && !taken.contains(&picked));
        }

        #[test]
        fn every_display_name_ends_in_a_number(number in 0..NUMBERS) {
            prop_assert!(ends_in_number(&display_name(&AgentName::parse("Scout", &[]).unwrap(), number)));
        }
    }
}
