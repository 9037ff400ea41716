//! What is asked for.

use strsim::damerau_levenshtein;

/// A command's name. What it takes comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Help,
    Info,
    Code(CodeWish),
    Knocks,
    Admit,
    Decline,
    Agents,
    Remove,
    Invite,
    Leave,
    Off,
}

/// What is to become of a room's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeWish {
    /// As it is; a new one where there is none.
    Show,
    New,
    Off,
}

/// What was asked, as far as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    Command {
        verb: Verb,
        /// What stands behind it.
        rest: &'a str,
    },
    /// No such command; the one that was probably meant.
    Unclear(Option<&'static str>),
}

/// One way to read what stands behind a command: a name, and the room that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'a> {
    pub name: &'a str,
    pub room: Option<&'a str>,
}

use CodeWish::{New, Off, Show};

/// Words for commands, the one that help shows first. Of those that fit the longest counts.
const WORDS: &[(&str, Verb)] = &[
    ("help", Verb::Help),
    ("?", Verb::Help),
    ("commands", Verb::Help),
    ("hello", Verb::Help),
    ("hi", Verb::Help),
    ("info", Verb::Info),
    ("about", Verb::Info),
    ("status", Verb::Info),
    ("number", Verb::Info),
    ("room", Verb::Info),
    ("code", Verb::Code(Show)),
    ("code show", Verb::Code(Show)),
    ("show code", Verb::Code(Show)),
    ("code new", Verb::Code(New)),
    ("new code", Verb::Code(New)),
    ("code replace", Verb::Code(New)),
    ("code renew", Verb::Code(New)),
    ("code reset", Verb::Code(New)),
    ("code off", Verb::Code(Off)),
    ("code disable", Verb::Code(Off)),
    ("code remove", Verb::Code(Off)),
    ("code none", Verb::Code(Off)),
    ("no code", Verb::Code(Off)),
    ("knocks", Verb::Knocks),
    ("knock", Verb::Knocks),
    ("waiting", Verb::Knocks),
    ("door", Verb::Knocks),
    ("admit", Verb::Admit),
    ("let in", Verb::Admit),
    ("accept", Verb::Admit),
    ("allow", Verb::Admit),
    ("approve", Verb::Admit),
    ("decline", Verb::Decline),
    ("deny", Verb::Decline),
    ("refuse", Verb::Decline),
    ("reject", Verb::Decline),
    ("agents", Verb::Agents),
    ("list", Verb::Agents),
    ("who", Verb::Agents),
    ("remove", Verb::Remove),
    ("kick", Verb::Remove),
    ("throw out", Verb::Remove),
    ("invite", Verb::Invite),
    ("add", Verb::Invite),
    ("leave", Verb::Leave),
    ("bye", Verb::Leave),
    ("off", Verb::Off),
];

/// Reads what was said to the bot. Nothing at all asks for help.
#[must_use]
pub fn asked(text: &str) -> Asked<'_> {
    let text = text.trim();
    if text.is_empty() {
        return Asked::Command { verb: Verb::Help, rest: "" };
    }
    let fitting = WORDS.iter().filter_map(|(words, verb)| Some((words.len(), *verb, behind(text, words)?)));
    match fitting.max_by_key(|(length, ..)| *length) {
        Some((_, verb, rest)) => Asked::Command { verb, rest },
        None => Asked::Unclear(nearest(text)),
    }
}

/// What stands behind these words, if the text begins with them in any case.
fn behind<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let mut rest = text;
    for word in words.split(' ') {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let found = rest[..end].trim_end_matches([':', ',', '.', '!']);
        if !found.eq_ignore_ascii_case(word) {
            return None;
        }
        rest = &rest[end..];
    }
    Some(rest.trim())
}

/// The command that a misspelt word was probably meant to be.
fn nearest(text: &str) -> Option<&'static str> {
    let word = text.split_whitespace().next()?.to_lowercase();
    // nothing that long is a slip of the finger
    let word = Some(word).filter(|w| w.len() <= 16)?;
    let allowed = if word.chars().count() < 5 { 1 } else { 2 };
    let names = WORDS.iter().map(|(words, _)| *words).filter(|words| words.len() > 2 && !words.contains(' '));
    let near = names.map(|name| (damerau_levenshtein(name, &word), name)).min_by_key(|(far, _)| *far);
    near.filter(|(far, _)| *far <= allowed).map(|(_, name)| name)
}

/// In which ways what stands behind a command that takes a name may be read, the likeliest first: a room's number or
/// address at its end, `NAME in ROOM`, all of it the name.
#[must_use]
pub fn readings(rest: &str) -> Vec<Reading<'_>> {
    let mut all = vec![];
    let last = rest.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    if is_address(rest.get(last..).unwrap_or_default()) {
        let name = without_joint(rest[..last].trim_end());
        all.push(Reading { name, room: Some(&rest[last..]) });
    }
    all.push(Reading { name: rest, room: None });
    for joint in JOINTS {
        let Some((name, room)) = split_at_word(rest, joint) else { continue };
        all.push(Reading { name, room: Some(room) });
    }
    all
}

/// The same for a command that takes no name: all that is said is which room.
#[must_use]
pub fn room_of(rest: &str) -> Option<&str> {
    let first = rest.split_whitespace().next().unwrap_or_default();
    let joint = JOINTS.iter().any(|j| first.eq_ignore_ascii_case(j));
    let room = if joint { rest[first.len()..].trim_start() } else { rest };
    (!room.is_empty()).then_some(room)
}

const JOINTS: [&str; 3] = ["in", "for", "to"];

fn without_joint(name: &str) -> &str {
    let last = name.rsplit(char::is_whitespace).next().unwrap_or_default();
    if JOINTS.iter().any(|j| last.eq_ignore_ascii_case(j)) {
        name[..name.len() - last.len()].trim_end()
    } else {
        name
    }
}

/// At the last such word that stands alone.
fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let begins = |at: usize| text[..at].ends_with(char::is_whitespace);
    let ends = |at: usize| text[at..].starts_with(char::is_whitespace);
    let places = text.char_indices().map(|(at, _)| at);
    let is_word = |at: usize| text.get(at..at + word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
    let at = places.rev().find(|at| is_word(*at) && begins(*at) && ends(*at + word.len()))?;
    Some((text[..at].trim(), text[at + word.len()..].trim()))
}

/// A room's Matrix id, alias or link. Numbers of agents begin with the same sign as aliases, but have no server.
fn is_address(word: &str) -> bool {
    let alias = word.starts_with('#') && word.contains(':');
    let link =
        word.contains("://") && (word.contains("/lobby/") || word.contains("#/!") || word.contains("#/%21"));
    let link = link || word.contains("#/#") || word.contains("#/%23");
    (word.starts_with('!') && word.len() > 1) || alias || link || word.starts_with("matrix:r")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", Verb::Help, "")]
    #[case("HELP", Verb::Help, "")]
    #[case("?", Verb::Help, "")]
    #[case("code", Verb::Code(Show), "")]
    #[case("Code  New", Verb::Code(New), "")]
    #[case("new code", Verb::Code(New), "")]
    #[case("code off Kitchen", Verb::Code(Off), "Kitchen")]
    #[case("code Kitchen", Verb::Code(Show), "Kitchen")]
    #[case("admit Scout #2316", Verb::Admit, "Scout #2316")]
    #[case("admit: 2", Verb::Admit, "2")]
    #[case("let in scout 2316", Verb::Admit, "scout 2316")]
    #[case("kick Scout\n", Verb::Remove, "Scout")]
    #[case("agents", Verb::Agents, "")]
    #[case("off", Verb::Off, "")]
    fn understood(#[case] text: &str, #[case] verb: Verb, #[case] rest: &str) {
        assert_eq!(asked(text), Asked::Command { verb, rest });
    }

    #[rstest]
    #[case("cdoe new", Some("code"))]
    #[case("amdit Scout", Some("admit"))]
    #[case("knoks", Some("knocks"))]
    #[case("xyzzy", None)]
    #[case("42", None)]
    #[case("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", None)]
    fn not_understood(#[case] text: &str, #[case] meant: Option<&'static str>) {
        assert_eq!(asked(text), Asked::Unclear(meant));
    }

    #[rstest]
    #[case("Scout #2316", &[("Scout #2316", None)])]
    #[case("Scout #2316 #den:hs.test", &[("Scout #2316", Some("#den:hs.test")), ("Scout #2316 #den:hs.test", None)])]
    #[case("Scout in !r:x", &[("Scout", Some("!r:x")), ("Scout in !r:x", None), ("Scout", Some("!r:x"))])]
    #[case("Man in Black in Den", &[("Man in Black in Den", None), ("Man in Black", Some("Den"))])]
    #[case("", &[("", None)])]
    fn names_and_rooms(#[case] rest: &str, #[case] expected: &[(&str, Option<&str>)]) {
        let got: Vec<_> = readings(rest).into_iter().map(|r| (r.name, r.room)).collect();
        assert_eq!(got, expected);
    }

    #[rstest]
    #[case("", None)]
    #[case("Kitchen", Some("Kitchen"))]
    #[case("for Kitchen", Some("Kitchen"))]
    #[case("in #den:hs.test", Some("#den:hs.test"))]
    #[case("for", None)]
    fn rooms(#[case] rest: &str, #[case] room: Option<&str>) {
        assert_eq!(room_of(rest), room);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = asked(&text);
            let _ = room_of(&text);
            for reading in readings(&text) {
                prop_assert!(text.contains(reading.name) && reading.room.is_none_or(|r| text.contains(r)));
            }
        }
    }
}
