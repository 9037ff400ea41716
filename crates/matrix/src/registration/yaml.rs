//! A registration as a file, with comments for the operator who opens it.

use std::fmt::Write as _;

use secrecy::ExposeSecret;

use super::{Namespace, Registration};

impl Registration {
    /// The file's text. It holds both tokens: write it with mode 0600.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let Self { rate_limited, receive_ephemeral, msc3202, msc4190, .. } = self;
        format!(
            "\
# Tells the homeserver about this bridge. Synapse: name this file under app_service_config_files and restart it.
# The homeserver and the bridge have to read the same file. Keep it secret: the tokens open every puppet.
id: {id}

# Where the homeserver reaches the bridge.
url: {url}

# The bridge shows as_token to the homeserver, the homeserver shows hs_token to the bridge.
as_token: {as_token}
hs_token: {hs_token}

# A user that nobody uses: homeservers give it neither devices nor sync.
sender_localpart: {sender}

# Two hundred agents come from one address. The bridge has limits of its own.
rate_limited: {rate_limited}

namespaces:
  # The agents' puppets and the bridge bot.
  users:{users}
  # The lobbies. Not exclusive, so that the homeserver's admins can take an alias over.
  aliases:{aliases}
  rooms:{rooms}

# Typing and read receipts; the second name is for homeservers before Matrix 1.13.
receive_ephemeral: {receive_ephemeral}
de.sorunome.msc2409.push_ephemeral: {receive_ephemeral}

# For encrypted rooms: device lists and key counts, and devices without login.
org.matrix.msc3202: {msc3202}
io.element.msc4190: {msc4190}
",
            id = quoted(&self.id),
            url = self.url.as_deref().map_or_else(|| "null".to_owned(), quoted),
            as_token = quoted(self.as_token.expose_secret()),
            hs_token = quoted(self.hs_token.expose_secret()),
            sender = quoted(&self.sender_localpart),
            users = entries(&self.users),
            aliases = entries(&self.aliases),
            rooms = entries(&self.rooms),
        )
    }
}

fn entries(namespaces: &[Namespace]) -> String {
    if namespaces.is_empty() {
        return " []".to_owned();
    }
    namespaces.iter().fold(String::new(), |mut out, Namespace { exclusive, regex }| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n    - exclusive: {exclusive}\n      regex: {}", quoted(regex));
        out
    })
}

/// Single quotes leave backslashes alone, which makes expressions readable; what they cannot hold goes as JSON, which
/// is YAML as well.
fn quoted(text: &str) -> String {
    if text.chars().any(char::is_control) {
        return serde_json::Value::from(text).to_string();
    }
    format!("'{}'", text.replace('\'', "''"))
}
