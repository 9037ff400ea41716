//! Which words are meant for the bot.

use crate::names::is_unseen;

/// What a command begins with where others talk too.
pub const PREFIX: &str = "!agents";

/// Also taken: what people make of it.
const PREFIXES: [&str; 3] = [PREFIX, "!agent", "!parlour"];

/// Where and how something was said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting<'a> {
    /// Nobody else is there: whatever is said is for the bot.
    pub direct: bool,
    /// The bot is mentioned: then its name may stand in front.
    pub mentioned: bool,
    /// What the bot is called: Matrix id, localpart, display name.
    pub names: &'a [&'a str],
}

/// What is asked of the bot, without what it is called by; `None`: this is not for it.
#[must_use]
pub fn addressed<'a>(text: &'a str, setting: Setting<'_>) -> Option<&'a str> {
    let text = text.trim_start_matches(is_blank);
    let begun = PREFIXES.iter().find_map(|prefix| after(text, prefix));
    let called = || {
        let bare = text.trim_start_matches('@');
        let names = setting.names.iter().filter(|_| setting.mentioned || setting.direct);
        names.filter_map(|name| after(bare, name.trim_start_matches('@'))).min_by_key(|rest| rest.len())
    };
    let rest = begun.or_else(called).or(setting.direct.then_some(text))?;
    Some(rest.trim_matches(is_blank))
}

/// What follows a word that the text begins with, whatever its case.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let found = rest.next()?;
        if !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let ends = rest.chars().next().is_none_or(|next| is_blank(next) || matches!(next, ':' | ',' | '!'));
    (ends && !word.is_empty()).then(|| rest.trim_start_matches([':', ',', '!']))
}

fn is_blank(sign: char) -> bool {
    sign.is_whitespace() || sign.is_control() || is_unseen(sign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const NAMES: &[&str] = &["@parlour:hs.test", "parlour", "Parlour"];

    fn said(text: &str, direct: bool, mentioned: bool) -> Option<&str> {
        addressed(text, Setting { direct, mentioned, names: NAMES })
    }

    #[rstest]
    #[case("!agents", "")]
    #[case("!agents code", "code")]
    #[case("  !AGENTS   Code new \n", "Code new")]
    #[case("!agents: knocks", "knocks")]
    #[case("!Agent, admit Scout #2316", "admit Scout #2316")]
    #[case("!parlour help", "help")]
    #[case("\u{200b}!agents\u{a0}help", "help")]
    fn begun_by_the_prefix(#[case] text: &str, #[case] rest: &str) {
        assert_eq!(said(text, false, false), Some(rest));
        assert_eq!(said(text, true, false), Some(rest));
    }

    #[rstest]
    #[case("")]
    #[case("code")]
    #[case("agents code")]
    #[case("!agentsmith code")]
    #[case("say !agents code")]
    #[case("* !agents code")]
    #[case("! agents code")]
    #[case("Parlour: code")]
    fn everything_else_is_for_the_others(#[case] text: &str) {
        assert_eq!(said(text, false, false), None);
        assert!(said(text, true, false).is_some(), "in a direct chat it is for the bot");
    }

    #[rstest]
    #[case("Parlour: code new", Some("code new"))]
    #[case("@parlour:hs.test code", Some("code"))]
    #[case("@Parlour code", Some("code"))]
    #[case("parlour", Some(""))]
    #[case("parlours are nice", None)]
    #[case("I asked Parlour: code", None)]
    fn called_by_its_name(#[case] text: &str, #[case] rest: Option<&str>) {
        assert_eq!(said(text, false, true), rest);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>(), direct: bool, mentioned: bool) {
            let rest = said(&text, direct, mentioned);
            prop_assert!(rest.is_none_or(|rest| text.contains(rest)));
            prop_assert!(!direct || rest.is_some());
        }
    }
}
