//! Which agent a person means: `Scout #2316`, `scout 2316`, `2316`, a Matrix id, a link, an agentId, or a mention.

use ruma::{OwnedUserId, UserId};

use crate::{ids::AgentId, names::likeness_of, people::account};

/// Somebody who may be meant.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// `Name #1234`.
    pub display_name: &'a str,
    pub user_id: &'a UserId,
    pub agent_id: AgentId,
}

/// Places in the list of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    One(usize),
    Nobody,
    /// More than one fits.
    Several(Vec<usize>),
}

/// Finds who is meant. A mention beats what the text says; the exact name beats what only reads like it. `listed`: the
/// candidates are a list that people have seen, so that a short number is a place in it.
#[must_use]
pub fn whom(text: &str, mentions: &[OwnedUserId], candidates: &[Candidate<'_>], listed: bool) -> Found {
    let all = |fits: &dyn Fn(&Candidate<'_>) -> bool| -> Vec<usize> {
        (0..candidates.len()).filter(|at| fits(&candidates[*at])).collect()
    };
    let mentioned = all(&|c| mentions.iter().any(|user| user == c.user_id));
    if mentioned.len() == 1 {
        return found(mentioned);
    }
    let text = bare(text);
    if text.is_empty() {
        return Found::Nobody;
    }
    if listed && let Some(at) = place(text).filter(|at| *at < candidates.len()) {
        return Found::One(at);
    }
    let by_id = account(text);
    let exact = all(&|c| {
        by_id.as_deref() == Some(c.user_id)
            || AgentId::parse(text) == Some(c.agent_id)
            || same(text, c.display_name)
    });
    if !exact.is_empty() { found(exact) } else { found(all(&|c| reads_like(text, c.display_name))) }
}

fn found(at: Vec<usize>) -> Found {
    match at[..] {
        [] => Found::Nobody,
        [one] => Found::One(one),
        _ => Found::Several(at),
    }
}

/// Without quotation marks, brackets and the sign of a mention around it; a Matrix id keeps its own.
fn bare(text: &str) -> &str {
    let around = |sign: char| sign.is_whitespace() || "\"'`“”‘’«»<>()[],;".contains(sign);
    let text = text.trim_matches(around);
    match text.strip_prefix('@') {
        Some(name) if !text.contains(':') => name,
        _ => text,
    }
}

/// One or two digits; agents' numbers have four.
fn place(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches('.');
    let short = digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse::<usize>().ok().filter(|n| short && *n > 0).map(|n| n - 1)
}

fn same(a: &str, b: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    words(a) == words(b)
}

/// The name with its number, the name alone, or the number alone.
fn reads_like(text: &str, display_name: &str) -> bool {
    let Some((name, number)) = display_name.rsplit_once(" #") else { return false };
    let likeness = likeness_of(name);
    let is_name = |part: &str| {
        if likeness.is_empty() { same(part, name) } else { likeness_of(part) == likeness }
    };
    let (before, digits) = split_number(text);
    let by_number = digits == number && (before.is_empty() || is_name(before));
    by_number || is_name(text)
}

/// Four digits at the end, with or without `#` before them.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let at = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_ascii_digit())
        .last()
        .map_or(text.len(), |(i, _)| i);
    let (before, digits) = text.split_at(at);
    if digits.len() != 4 {
        return (text, "");
    }
    (before.trim_end().trim_end_matches('#').trim_end(), digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use ruma::{owned_user_id, user_id};

    use super::*;

    fn candidates() -> Vec<Candidate<'static>> {
        let id = |n: u8| AgentId::new(0, [n; 10]);
        let of = |display_name, user_id, n| Candidate { display_name, user_id, agent_id: id(n) };
        vec![
            of("Scout #2316", user_id!("@agent_a:x"), 1),
            of("Scout #0042", user_id!("@agent_b:x"), 2),
            of("Dr. Watson #2317", user_id!("@agent_c:x"), 3),
            of("Scout 2316 #0001", user_id!("@agent_d:x"), 4),
            of("-_- #7777", user_id!("@agent_e:x"), 5),
        ]
    }

    fn find(text: &str) -> Found {
        whom(text, &[], &candidates(), false)
    }

    #[rstest]
    #[case("Scout #2316", 0)]
    #[case("scout #2316", 0)]
    #[case("SCOUT  #2316 ", 0)]
    #[case("@Scout #2316", 0)]
    #[case("\"Scout #2316\"", 0)]
    #[case("Scout#0042", 1)]
    #[case("Sсоut 0042", 1)]
    #[case("0042", 1)]
    #[case("#0042", 1)]
    #[case("dr watson", 2)]
    #[case("Dr.Watson", 2)]
    #[case("watson", 9)]
    #[case("2317", 2)]
    #[case("@agent_c:x", 2)]
    #[case("https://matrix.to/#/@agent_c:x", 2)]
    #[case("Scout 2316 #0001", 3)]
    #[case("-_-", 4)]
    #[case("7777", 4)]
    #[case("", 9)]
    #[case("Scout #9999", 9)]
    #[case("1", 9)]
    fn meant(#[case] text: &str, #[case] at: usize) {
        assert_eq!(find(text), if at == 9 { Found::Nobody } else { Found::One(at) }, "{text}");
    }

    #[test]
    fn what_may_be_more_than_one_is_nobody_yet() {
        assert_eq!(find("scout"), Found::Several(vec![0, 1]));
        assert_eq!(find("scout 2316"), Found::Several(vec![0, 3]));
    }

    #[test]
    fn ids_of_the_wire() {
        let all = candidates();
        assert_eq!(find(&all[1].agent_id.to_string()), Found::One(1));
        assert_eq!(find(&AgentId::new(0, [9; 10]).to_string()), Found::Nobody);
    }

    #[test]
    fn a_mention_beats_the_text_and_places_count_in_lists_only() {
        let pill = [owned_user_id!("@agent_b:x")];
        assert_eq!(whom("Dr. Watson #2317", &pill, &candidates(), false), Found::One(1));
        assert_eq!(whom("2", &[], &candidates(), true), Found::One(1));
        assert_eq!(whom("2.", &[], &candidates(), true), Found::One(1));
        assert_eq!(whom("6", &[], &candidates(), true), Found::Nobody);
        assert_eq!(whom("0", &[], &candidates(), true), Found::Nobody);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>(), listed: bool) {
            let _ = whom(&text, &[], &candidates(), listed);
        }

        #[test]
        fn a_whole_name_is_always_enough(at in 0usize..5) {
            prop_assert_eq!(find(candidates()[at].display_name), Found::One(at));
        }
    }
}
