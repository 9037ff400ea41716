//! `config.example.toml`, made from the declaration of the keys.

use std::fmt::Write as _;

use super::{
    key::{Key, Need, Section},
    sections::{LIST, Storage, TABLES},
};

const HEAD: &str = "\
# Parlour's config: every key with its default. Copy it to parlour.toml; what has no default is marked as needed.
#
# Each key can also come from the environment, which stands over this file: PARLOUR__SERVER__LISTEN for server.listen.
# Text goes there without quotes, lists with commas, the lobbies together as TOML in PARLOUR__LOBBY, and an empty
# variable counts as not set.
";

/// The file's text.
pub(crate) fn example() -> String {
    let mut out = HEAD.to_owned();
    for section in &TABLES {
        put(&mut out, section, &format!("[{}]", section.name));
        if section.name == Storage::SECTION.name {
            put(&mut out, &LIST, &format!("[[{}]]", LIST.name));
        }
    }
    out
}

// Writing to a string cannot fail.
fn put(out: &mut String, section: &Section, head: &str) {
    out.push('\n');
    comment(out, section.doc);
    let _ = writeln!(out, "{head}");
    for key in section.keys {
        comment(out, key.doc);
        let _ = writeln!(out, "{}", line(section, key));
    }
}

fn comment(out: &mut String, lines: &[&str]) {
    for line in lines {
        let _ = writeln!(out, "# {}", line.trim());
    }
}

/// A lobby is shown as one would write it, everything else as it is when left out.
fn line(section: &Section, key: &Key) -> String {
    let name = key.name;
    match key.need {
        Need::Required(example) if section.name == LIST.name => format!("{name} = {example}"),
        Need::Required(example) => format!("{name} = {example}  # needed"),
        Need::Optional(example) if section.name == LIST.name => format!("{name} = {example}"),
        Need::Optional(example) => format!("# {name} = {example}"),
        Need::Default(_) if section.name == LIST.name => format!("{name} = true"),
        Need::Default(default) => format!("{name} = {default}"),
    }
}
