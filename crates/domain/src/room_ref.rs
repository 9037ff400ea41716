//! What callers may name a room by when they enter one (wire contract, section 2): nothing for the default lobby, a
//! room's number or a link that ends in it, or a lobby's name or slug. The link is read, never fetched.

use unicode_normalization::UnicodeNormalization;

use crate::ids::CatalogId;

/// `room` of a request, read but not yet looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomRef {
    /// Absent or blank.
    DefaultLobby,
    /// A room's number. A lobby's number enters that lobby.
    Number(CatalogId),
    /// Anything else, trimmed: a lobby's name or slug, see [`match_lobby`].
    Lobby(String),
}

impl RoomRef {
    /// Reads every text; what makes no sense becomes a lobby name that nothing matches.
    #[must_use]
    pub fn parse(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() {
            return Self::DefaultLobby;
        }
        number(text)
            .or_else(|| number_in_link(text))
            .map_or_else(|| Self::Lobby(text.to_owned()), Self::Number)
    }
}

/// Finds the lobby that a text means among `(name, slug)` pairs: exactly spelt first, else without regard to case.
/// `None` where none or more than one fits.
#[must_use]
pub fn match_lobby<N: AsRef<str>, S: AsRef<str>>(text: &str, lobbies: &[(N, S)]) -> Option<usize> {
    let text = text.trim();
    let matching = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let either = |(name, slug): &(N, S)| fits(name.as_ref()) || fits(slug.as_ref());
        (0..lobbies.len()).filter(|i| either(&lobbies[*i])).collect()
    };
    let mut found = matching(&|label| label == text);
    if found.is_empty() {
        let wanted = caseless(text);
        found = matching(&|label| caseless(label) == wanted);
    }
    (found.len() == 1).then(|| found[0])
}

/// Letters typed with separate accents (as some keyboards do) are the same letters.
fn caseless(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).collect()
}

/// Version 7 only: that is what our numbers are, and a lobby may be named by any other UUID.
fn number(text: &str) -> Option<CatalogId> {
    CatalogId::parse(text).filter(|id| id.0.get_version_num() == 7)
}

/// `https://any.host/any/path/lobby/NUMBER`, with or without a last slash, query and fragment.
fn number_in_link(text: &str) -> Option<CatalogId> {
    let (scheme, rest) = text.split_once("://")?;
    if !["http", "https"].iter().any(|s| scheme.eq_ignore_ascii_case(s)) {
        return None;
    }
    let (host, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    let (before, last) = path.trim_end_matches('/').rsplit_once('/').unwrap_or_default();
    let parent = before.rsplit('/').next()?;
    (parent == "lobby" && !host.is_empty()).then(|| number(last)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const NUMBER: &str = "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";

    fn numbered() -> RoomRef {
        RoomRef::Number(CatalogId::parse(NUMBER).unwrap())
    }

    #[rstest]
    #[case(None)]
    #[case(Some(""))]
    #[case(Some(" \t\n\u{3000}"))]
    fn blank_means_the_default_lobby(#[case] text: Option<&str>) {
        assert_eq!(RoomRef::parse(text), RoomRef::DefaultLobby);
    }

    #[rstest]
    #[case("0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case(" 0199AAAA-BBBB-7CCC-8DDD-EEEEEEEEEEEE ")]
    #[case("https://agents.example.org/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case("HTTP://[::1]:9880/zh/x/lobby/0199AAAA-bbbb-7ccc-8ddd-eeeeeeeeeeee/")]
    #[case("https://u@h/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/?from=a/b#c/d")]
    #[case("https://h/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee#x?y")]
    fn numbers_and_links(#[case] text: &str) {
        assert_eq!(RoomRef::parse(Some(text)), numbered());
        let RoomRef::Number(id) = numbered() else { unreachable!() };
        assert_eq!(id.to_string(), NUMBER);
    }

    #[rstest]
    #[case::name("Main Lobby")]
    #[case::uuid_of_version_4("0199aaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")]
    #[case::no_hyphens("0199aaaabbbb7ccc8dddeeeeeeeeeeee")]
    #[case::braces("{0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeee}")]
    #[case::other_scheme("ftp://h/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::no_scheme("h/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::no_host("https:///lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::host_is_lobby("https://lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::other_path("https://h/room/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::other_ending("https://h/clobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::more_path("https://h/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee/x")]
    #[case::in_the_query("https://h/?x=/lobby/0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")]
    #[case::no_number("https://h/lobby/")]
    #[case::nothing("https://")]
    fn everything_else_is_a_lobbys_name(#[case] text: &str) {
        assert_eq!(RoomRef::parse(Some(text)), RoomRef::Lobby(text.to_owned()));
    }

    #[rstest]
    #[case::by_name("Main Lobby", Some(0))]
    #[case::by_slug("main", Some(0))]
    #[case::name_in_other_case("main LOBBY", Some(0))]
    #[case::slug_in_other_case("MAIN", Some(0))]
    #[case::exact_beats_case("tea", Some(1))]
    #[case::exact_beats_case_too("Tea", Some(2))]
    #[case::ambiguous_case("TEA", None)]
    #[case::ambiguous_exact("twin", None)]
    #[case::name_and_slug_of_one("Solo", Some(5))]
    #[case::other_script("ÉCOLE", Some(6))]
    #[case::separate_accents("E\u{301}cole", Some(6))]
    #[case::blanks_around("  main ", Some(0))]
    #[case::part("mai", None)]
    #[case::none("", None)]
    fn lobbies(#[case] text: &str, #[case] expected: Option<usize>) {
        let lobbies = [
            ("Main Lobby", "main"),
            ("tea", "tea-small"),
            ("Tea", "tea-large"),
            ("twin", "twin-1"),
            ("twin", "twin-2"),
            ("solo", "SOLO"),
            ("École", "ecole"),
        ];
        assert_eq!(match_lobby(text, &lobbies), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let read = RoomRef::parse(Some(&text));
            prop_assert_eq!(read == RoomRef::DefaultLobby, text.trim().is_empty());
        }

        #[test]
        fn any_link_to_a_lobby_gives_its_number(
            host in "[a-z.:0-9]{1,12}", path in "(/[a-z]{0,5}){0,3}", tail in "/{0,2}([?#][ -~]{0,9})?",
        ) {
            let link = format!("https://{host}{path}/lobby/{NUMBER}{tail}");
            prop_assert_eq!(RoomRef::parse(Some(&link)), numbered());
        }

        #[test]
        fn distinct_slugs_are_always_found(
            slugs in prop::collection::btree_set("[a-cA-C]{1,3}", 1..20), pick: prop::sample::Index,
        ) {
            let lobbies: Vec<(String, String)> = slugs.iter().map(|s| (format!("The {s}"), s.clone())).collect();
            let wanted = pick.index(lobbies.len());
            prop_assert_eq!(match_lobby(&lobbies[wanted].1, &lobbies), Some(wanted));
            prop_assert_eq!(match_lobby(&lobbies[wanted].0, &lobbies), Some(wanted));
        }
    }
}
