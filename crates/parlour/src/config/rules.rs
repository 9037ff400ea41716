//! What several keys have to agree on.

use std::collections::BTreeSet;

use super::{Config, Lobby, convert::bridge_id, read::Problems};

/// Longest Matrix id, in bytes (Matrix specification, appendix on identifiers).
const MAX_ID: usize = parlour_domain::limits::MAX_MATRIX_ID_BYTES;

/// Room for the part of a puppet's localpart behind the prefix.
const PUPPET_REST: usize = 40;

pub(crate) fn check(config: &Config, problems: &mut Problems) {
    lobbies(&config.lobbies, problems);
    names(config, problems);
    lengths(config, problems);
    if config.metrics.listen == Some(config.server.listen) {
        problems.push("metrics.listen: is the same as server.listen; choose another port".to_owned());
    }
    if let Err(error) = config.limits.validate() {
        let text = error.to_string();
        let problem = text.strip_prefix(&format!("[limits] {} = ", error.key)).unwrap_or(&text).to_owned();
        problems.push(format!("limits.{}: {problem}", error.key));
    }
}

fn lobbies(lobbies: &[Lobby], problems: &mut Problems) {
    twice("slug", lobbies.iter().map(|lobby| lobby.slug.as_str()), problems);
    twice("alias", lobbies.iter().map(Lobby::alias), problems);
    let defaults: Vec<&str> = lobbies.iter().filter(|l| l.default).map(|l| l.slug.as_str()).collect();
    if defaults.len() > 1 {
        let all = defaults.join(", ");
        problems.push(format!("lobby.default: is true for {all}; keep it for one of them"));
    }
}

fn twice<'a>(key: &str, values: impl Iterator<Item = &'a str>, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (at, value) in values.enumerate() {
        if !seen.insert(value) {
            let entry = at + 1;
            problems.push(format!(
                "lobby.{key} (entry {entry}): {value:?} is used by an earlier lobby; choose another"
            ));
        }
    }
}

/// A prefix that covers the bot, or the user behind the appservice itself, would make it an agent.
fn names(config: &Config, problems: &mut Problems) {
    let (prefix, bot) = (config.people.puppet_prefix.as_str(), config.people.bot.as_str());
    let sender = format!("_parlour_{}", bridge_id(bot));
    for (what, name) in [("the bot", bot), ("the appservice's own user", sender.as_str())] {
        if name.starts_with(prefix) {
            problems.push(format!(
                "people.puppet_prefix: {what} ({name}) begins with {prefix:?} too and would be taken for an agent; \
                 choose another prefix, such as agent_"
            ));
        }
    }
}

fn lengths(config: &Config, problems: &mut Problems) {
    let server = config.homeserver.server_name.as_str().len();
    // The sign in front, the colon, the server name.
    let too_long = |localpart: usize| localpart + server + 2 > MAX_ID;
    let bot = format!("_parlour_{}", config.people.bot.as_str());
    let mut note = |key: &str| {
        problems.push(format!("{key}: is too long for a Matrix id of {MAX_ID} bytes; shorten it"))
    };
    if too_long(bot.len()) {
        note("people.bot");
    }
    if too_long(config.people.puppet_prefix.as_str().len() + PUPPET_REST) {
        note("people.puppet_prefix");
    }
    for (at, lobby) in config.lobbies.iter().enumerate().filter(|(_, l)| too_long(l.alias().len())) {
        note(&format!("lobby.{} (entry {})", if lobby.alias.is_some() { "alias" } else { "slug" }, at + 1));
    }
}
