//! Where a registration file no longer fits the config.
//!
//! Namespaces are tried with ids rather than compared with what we would write: an operator may have written them in
//! another way, or wider because of other bridges.

use regex::Regex;

use super::{Namespace, Registration, Wanted};

const ANEW: &str = "write the file anew with `parlour registration` and restart the homeserver";

impl Registration {
    /// One line for each thing that does not fit, saying what to do. Empty: it fits.
    #[must_use]
    pub fn mismatches(&self, wanted: &Wanted) -> Vec<String> {
        let mut all = vec![];
        all.extend(self.url_mismatch(wanted));
        all.extend(self.sender_mismatch(wanted));
        all.extend(broken(self));
        all.extend(self.user_mismatches(wanted));
        all.extend(self.alias_mismatches(wanted));
        all.extend(self.switch_mismatches());
        all
    }

    fn url_mismatch(&self, wanted: &Wanted) -> Option<String> {
        let same = |url: &String| url.trim_end_matches('/') == wanted.appservice_url.trim_end_matches('/');
        if self.url.as_ref().is_some_and(same) {
            return None;
        }
        let there = self.url.as_deref().unwrap_or("nothing");
        Some(format!(
            "url: the homeserver calls {there}, the config says {}; correct server.appservice_url, or {ANEW}",
            wanted.appservice_url
        ))
    }

    fn sender_mismatch(&self, wanted: &Wanted) -> Option<String> {
        let sender = &self.sender_localpart;
        let used = *sender == wanted.bot || sender.starts_with(&wanted.puppet_prefix);
        used.then(|| {
            format!(
                "sender_localpart: {sender} has to be a name that nobody uses, neither bot nor puppet; {ANEW}"
            )
        })
    }

    fn user_mismatches(&self, wanted: &Wanted) -> Vec<String> {
        let ours = [
            (format!("@{}x1:{}", wanted.puppet_prefix, wanted.server_name), "people.puppet_prefix"),
            (format!("@{}:{}", wanted.bot, wanted.server_name), "people.bot"),
        ];
        let missing = ours.into_iter().filter(|(id, _)| !covers(&self.users, id, true));
        missing
            .map(|(id, key)| format!("namespaces.users: no exclusive entry for {id} ({key}); {ANEW}"))
            .collect()
    }

    fn alias_mismatches(&self, wanted: &Wanted) -> Vec<String> {
        let aliases = wanted.lobby_aliases.iter().map(|alias| format!("#{alias}:{}", wanted.server_name));
        let missing = aliases.filter(|alias| !covers(&self.aliases, alias, false));
        missing.map(|alias| format!("namespaces.aliases: no entry for the lobby {alias}; {ANEW}")).collect()
    }

    fn switch_mismatches(&self) -> Vec<String> {
        let switches = [
            (!self.rate_limited, "rate_limited", "false", "agents are slowed down together"),
            (self.receive_ephemeral, "receive_ephemeral", "true", "typing and receipts do not arrive"),
            (self.msc3202, "org.matrix.msc3202", "true", "encrypted rooms need it"),
            (self.msc4190, "io.element.msc4190", "true", "encrypted rooms need it"),
        ];
        let wrong = switches.into_iter().filter(|(fits, ..)| !fits);
        wrong
            .map(|(_, key, value, why)| {
                format!("{key}: set it to {value} ({why}) and restart the homeserver")
            })
            .collect()
    }
}

/// Expressions that no homeserver could read either.
fn broken(registration: &Registration) -> Vec<String> {
    let kinds =
        [("users", &registration.users), ("aliases", &registration.aliases), ("rooms", &registration.rooms)];
    let entries = kinds.into_iter().flat_map(|(kind, all)| all.iter().enumerate().map(move |e| (kind, e)));
    let bad = entries.filter(|(_, (_, namespace))| Regex::new(&namespace.regex).is_err());
    bad.map(|(kind, (at, _))| format!("namespaces.{kind}[{at}].regex: no regular expression; {ANEW}"))
        .collect()
}

/// Anchored at the beginning only, as in Synapse.
fn covers(namespaces: &[Namespace], id: &str, exclusive: bool) -> bool {
    namespaces.iter().filter(|n| n.exclusive || !exclusive).any(|n| {
        let regex = Regex::new(&format!("^(?:{})", n.regex));
        regex.is_ok_and(|regex| regex.is_match(id))
    })
}
