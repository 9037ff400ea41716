//! A registration that fits a config.

use super::{Namespace, Registration, Wanted};

impl Registration {
    /// Makes a registration; `tokens` are as_token and hs_token, fresh from the caller.
    #[must_use]
    pub fn generate(wanted: &Wanted, tokens: [String; 2]) -> Self {
        let [as_token, hs_token] = tokens.map(Into::into);
        Self {
            id: wanted.bridge_id.clone(),
            url: Some(wanted.appservice_url.clone()),
            as_token,
            hs_token,
            sender_localpart: wanted.sender_localpart(),
            rate_limited: false,
            users: wanted.users(),
            aliases: wanted.aliases(),
            rooms: vec![],
            receive_ephemeral: true,
            msc3202: true,
            msc4190: true,
        }
    }
}

impl Wanted {
    /// Neither a puppet nor the bot: this user has no devices, so it must not become somebody whom people write to.
    pub(super) fn sender_localpart(&self) -> String {
        format!("_parlour_{}", self.bridge_id)
    }

    fn users(&self) -> Vec<Namespace> {
        let server = escaped(&self.server_name);
        let puppets = format!("^@{}.+:{server}$", escaped(&self.puppet_prefix));
        let bot = format!("^@{}:{server}$", escaped(&self.bot));
        [puppets, bot].map(|regex| Namespace { exclusive: true, regex }).into()
    }

    /// Not exclusive: the homeserver's admins may take a lobby's alias over. Without an entry Synapse refuses to let
    /// us make the alias at all.
    fn aliases(&self) -> Vec<Namespace> {
        let server = escaped(&self.server_name);
        let regex = |alias: &String| format!("^#{}:{server}$", escaped(alias));
        self.lobby_aliases.iter().map(|alias| Namespace { exclusive: false, regex: regex(alias) }).collect()
    }
}

/// Only what is special in Python's, Go's, Rust's and POSIX's expressions alike: a backslash before anything else is an
/// error in some of them.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if r"\.+*?()[]{}^$|".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
