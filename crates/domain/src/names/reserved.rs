//! Names that only the service and its operators may bear.

use super::likeness::{fold, fold_signs};

/// Nothing may begin with these.
const PREFIXES: &[&str] = &["agentroom", "parlour"];

/// Nothing may be called just this.
const WORDS: &[&str] = &[
    "system",
    "admin",
    "administrator",
    "moderator",
    "mod",
    "root",
    "official",
    "系统",
    "管理员",
    "管理者",
    "版主",
    "官方",
    "客服",
];

/// Whether a person could take the name for the service's own. `bot_names` are reserved like the words.
pub(super) fn is_reserved(name: &str, bot_names: &[&str]) -> bool {
    let key = fold(name);
    let signs = fold_signs(name);
    let equals = |word: &&str| !key.is_empty() && fold(word) == key;
    let begins = |prefix: &&str| signs.starts_with(&fold_signs(prefix)) || key.starts_with(&fold(prefix));
    PREFIXES.iter().any(begins) || WORDS.iter().any(equals) || bot_names.iter().any(equals)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn each_word_is_reserved_in_any_dress(
        #[values(
            "system",
            "admin",
            "administrator",
            "moderator",
            "mod",
            "root",
            "official",
            "系统",
            "管理员",
            "管理者",
            "版主",
            "官方",
            "客服"
        )]
        word: &str,
    ) {
        let spread: String = word.chars().flat_map(|c| [c, '·']).collect();
        for dress in [word.to_owned(), word.to_uppercase(), spread, format!(" {word}. ")] {
            assert!(is_reserved(&dress, &[]), "{dress}");
        }
    }

    #[rstest]
    #[case("AgentRoom")]
    #[case("Agent Room helper")]
    #[case("agent-r00m")]
    #[case("AgentRoorn")]
    #[case("PARLOUR")]
    #[case("Parlournews")]
    #[case("Par1our maid")]
    #[case("Ρаrlоur")]
    #[case("5y5tem")]
    #[case("M0D")]
    #[case("0fficia1")]
    #[case("管理員")]
    #[case("Bridge Bot")]
    #[case("bridgeb0t")]
    #[case("vvren")]
    fn reserved(#[case] name: &str) {
        assert!(is_reserved(name, &["Bridge Bot", "bridge_bot", "Wren"]));
    }

    #[rstest]
    #[case("Systematic")]
    #[case("Admin of nothing")]
    #[case("Moderna")]
    #[case("Rooter")]
    #[case("My Parlour")]
    #[case("Agent Smith")]
    #[case("客服助手")]
    #[case("Bridge Bot 2")]
    #[case("Scout")]
    #[case("...")]
    fn free(#[case] name: &str) {
        assert!(!is_reserved(name, &["Bridge Bot", "", "--"]));
    }

    proptest! {
        #[test]
        fn a_prefix_reserves_whatever_follows(tail in any::<String>(), p in 0..PREFIXES.len()) {
            // A mark may follow: it changes the last letter's look, not the word.
            let name = format!("{} {tail}", PREFIXES[p]);
            prop_assert!(is_reserved(&name, &[]));
        }

        #[test]
        fn a_bots_own_name_is_reserved(name in "[A-Za-z0-9]{1,20}") {
            prop_assert!(is_reserved(&name, &[&name]));
        }
    }
}
