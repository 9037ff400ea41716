//! `PARLOUR__SECTION__KEY` in the environment stands over the same key in the file.

use std::{collections::BTreeSet, ffi::OsString};

use toml::{Table, Value};

use super::{
    key::{Shape, value},
    read::Problems,
    sections::{LIST, TABLES},
    suggest::{nearest, nearest_section},
};

const PREFIX: &str = "PARLOUR__";

/// The variable for a key such as `server.listen`.
pub(crate) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_uppercase())
}

/// Puts what the environment says into the file's table. Gives the names of the keys that came from it, such as
/// `server.listen`. A variable that is empty counts as not set: that is how compose files leave one out.
pub(crate) fn merge(
    file: &mut Table,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    problems: &mut Problems,
) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    for (name, text) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        match text.to_str() {
            Some("") => {}
            Some(text) => match put(file, name, text) {
                Ok(key) => drop(set.insert(key)),
                Err(problem) => problems.push(format!("{name}: {problem}")),
            },
            None => problems.push(format!("{name}: is not UTF-8; set it anew")),
        }
    }
    set
}

fn put(file: &mut Table, name: &str, text: &str) -> Result<String, String> {
    let path = name[PREFIX.len()..].to_lowercase();
    if path == LIST.name {
        file.insert(path.clone(), entries(text)?);
        return Ok(path);
    }
    let Some((section, key)) = path.split_once("__") else {
        return Err(format!("names no key; it has to be {PREFIX}SECTION__KEY ({})", nearest_section(&path)));
    };
    let shape = shape(section, key).ok_or_else(|| unknown(section, key))?;
    let found = read(shape, text);
    // Where the file has something else under the section's name, that is told when the section is read.
    if let Value::Table(table) = file.entry(section).or_insert_with(|| Value::Table(Table::new())) {
        table.insert(key.to_owned(), found);
    }
    Ok(format!("{section}.{key}"))
}

fn shape(section: &str, key: &str) -> Option<Shape> {
    let section = TABLES.iter().find(|s| s.name == section)?;
    section.keys.iter().find(|k| k.name == key).map(|k| k.shape)
}

fn unknown(section: &str, key: &str) -> String {
    if section == LIST.name {
        return format!("lobbies are set together, as TOML, in {}", variable(LIST.name));
    }
    format!("there is no such key; {}", nearest(&format!("{section}.{key}")))
}

/// What cannot be read as it should stays text, and the key's own check says what is wrong with it.
fn read(shape: Shape, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match shape {
        Shape::Text => as_text(),
        Shape::Plain => value(text).unwrap_or_else(|_| as_text()),
        Shape::List => value(text).ok().filter(Value::is_array).unwrap_or_else(|| {
            Value::Array(text.split(',').map(|part| Value::String(part.trim().to_owned())).collect())
        }),
    }
}

/// Either the list alone, `[{slug = "lobby", ...}]`, or a piece of the file, `[[lobby]] ...`.
fn entries(text: &str) -> Result<Value, String> {
    if let Ok(list @ Value::Array(_)) = value(text) {
        return Ok(list);
    }
    let piece: Option<Value> = toml::from_str(text).ok().and_then(|mut t: Table| t.remove(LIST.name));
    piece.ok_or_else(|| {
        "has to be TOML, such as [{slug = \"lobby\", name = \"Lobby\", alias = \"lobby\", default = true}]".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn merged(file: &str, name: &str, text: &str) -> (Table, Problems) {
        let mut table: Table = toml::from_str(file).unwrap();
        let mut problems = vec![];
        merge(&mut table, [(name.into(), text.into())], &mut problems);
        (table, problems)
    }

    #[rstest]
    #[case("PARLOUR__SERVER__LISTEN", "127.0.0.1:1", "[server]\nlisten = '127.0.0.1:1'")]
    #[case("PARLOUR__HOMESERVER__SERVER_NAME", "1.10", "[homeserver]\nserver_name = '1.10'")]
    #[case("PARLOUR__AGENTS__ENABLED", "false", "[agents]\nenabled = false")]
    #[case("PARLOUR__LIMITS__LOBBY_AGENTS", "7", "[limits]\nlobby_agents = 7")]
    #[case("PARLOUR__LIMITS__LOBBY_AGENTS", "many", "[limits]\nlobby_agents = 'many'")]
    #[case(
        "PARLOUR__SERVER__TRUSTED_PROXIES",
        "['10.0.0.0/8']",
        "[server]\ntrusted_proxies = ['10.0.0.0/8']"
    )]
    #[case(
        "PARLOUR__SERVER__TRUSTED_PROXIES",
        "10.0.0.1, ::1",
        "[server]\ntrusted_proxies = ['10.0.0.1', '::1']"
    )]
    #[case("PARLOUR__LOBBY", "[{slug = 'a'}]", "[[lobby]]\nslug = 'a'")]
    #[case("PARLOUR__LOBBY", "[[lobby]]\nslug = 'a'", "[[lobby]]\nslug = 'a'")]
    #[case("PARLOUR__SERVER__LISTEN", "", "")]
    #[case("PARLOUR_SERVER", "x", "")]
    fn values(#[case] name: &str, #[case] text: &str, #[case] expected: &str) {
        assert_eq!(merged("", name, text), (toml::from_str(expected).unwrap(), vec![]));
    }

    #[test]
    fn stands_over_the_file() {
        let (table, _) =
            merged("[agents]\nenabled = true\nmax_hops = 3", "PARLOUR__AGENTS__ENABLED", "false");
        assert_eq!(table, toml::from_str("[agents]\nenabled = false\nmax_hops = 3").unwrap());
    }

    #[rstest]
    #[case("PARLOUR__SERVER__LISTN", "did you mean server.listen?")]
    #[case("PARLOUR__SERVER", "names no key")]
    #[case("PARLOUR__LOBBY__SLUG", "PARLOUR__LOBBY")]
    #[case("PARLOUR__LOBBY", "has to be TOML")]
    fn refused(#[case] name: &str, #[case] problem: &str) {
        let (_, problems) = merged("", name, "x");
        assert!(problems.len() == 1 && problems[0].starts_with(name), "{problems:?}");
        assert!(problems[0].contains(problem), "{problems:?}");
    }
}
