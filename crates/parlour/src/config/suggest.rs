//! What a misspelt key was probably meant to be.

use super::sections::{LIST, TABLES};

/// A hint for a key that does not exist: the nearest one that does, else where all of them are listed.
pub(crate) fn nearest(wrong: &str) -> String {
    let (_, last) = wrong.rsplit_once('.').unwrap_or(("", wrong));
    let elsewhere = keys().find(|key| key.rsplit_once('.').is_some_and(|(_, name)| name == last));
    let alike = || keys().min_by_key(|key| distance(key, wrong)).filter(|key| close(key, wrong));
    hint(alike().filter(|key| distance(key, wrong) <= 2).or(elsewhere).or_else(alike))
}

/// The same for a section.
pub(crate) fn nearest_section(wrong: &str) -> String {
    let names = || TABLES.iter().chain([&LIST]).map(|section| section.name.to_owned());
    let key = keys().find(|key| key.rsplit_once('.').is_some_and(|(_, name)| name == wrong));
    hint(names().min_by_key(|name| distance(name, wrong)).filter(|name| distance(name, wrong) <= 3).or(key))
}

fn keys() -> impl Iterator<Item = String> {
    let of = |section: &'static super::key::Section| {
        section.keys.iter().map(|key| format!("{}.{}", section.name, key.name))
    };
    TABLES.iter().chain([&LIST]).flat_map(of)
}

fn hint(meant: Option<String>) -> String {
    match meant {
        Some(name) => format!("did you mean {name}?"),
        None => "remove it (config.example.toml has all keys)".to_owned(),
    }
}

fn close(name: &str, wrong: &str) -> bool {
    distance(name, wrong) <= 1 + wrong.chars().count() / 4
}

/// Levenshtein's, over characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("server.listn", "did you mean server.listen?")]
    #[case("server.server_name", "did you mean homeserver.server_name?")]
    #[case("limits.lobby_agent", "did you mean limits.lobby_agents?")]
    #[case("lobby.aliases", "did you mean lobby.alias?")]
    #[case("server.colour", "remove it (config.example.toml has all keys)")]
    fn keys_that_do_not_exist(#[case] wrong: &str, #[case] hint: &str) {
        assert_eq!(nearest(wrong), hint);
    }

    #[rstest]
    #[case("homesever", "did you mean homeserver?")]
    #[case("lobbies", "did you mean lobby?")]
    #[case("public_url", "did you mean server.public_url?")]
    #[case("zebra", "remove it (config.example.toml has all keys)")]
    fn sections_that_do_not_exist(#[case] wrong: &str, #[case] hint: &str) {
        assert_eq!(nearest_section(wrong), hint);
    }

    #[rstest]
    #[case("", "", 0)]
    #[case("abc", "", 3)]
    #[case("kitten", "sitting", 3)]
    fn distances(#[case] a: &str, #[case] b: &str, #[case] steps: usize) {
        assert_eq!((distance(a, b), distance(b, a)), (steps, steps));
    }
}
