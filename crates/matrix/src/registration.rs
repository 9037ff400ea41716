//! The registration file: what tells a homeserver that we exist, and both sides the tokens they share (Matrix spec,
//! application service API, "Registration").

mod generate;
mod mismatch;
mod read;
mod yaml;

use std::path::PathBuf;

use secrecy::SecretString;

/// A registration. ruma's type lacks the keys for encryption, hence ours.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Unique among the appservices of the homeserver.
    pub id: String,
    /// Where the homeserver calls us; `None`: it never does.
    pub url: Option<String>,
    /// Ours towards the homeserver.
    pub as_token: SecretString,
    /// The homeserver's towards us.
    pub hs_token: SecretString,
    /// A user that the homeserver makes for us. It can't sync or have devices, so nobody uses it.
    pub sender_localpart: String,
    /// Homeservers take a missing key for `true`.
    pub rate_limited: bool,
    pub users: Vec<Namespace>,
    pub aliases: Vec<Namespace>,
    pub rooms: Vec<Namespace>,
    /// Typing and receipts, and to-device messages with them (`receive_ephemeral` or its older name).
    pub receive_ephemeral: bool,
    /// Device lists and key counts in transactions (`org.matrix.msc3202`).
    pub msc3202: bool,
    /// Devices without login (`io.element.msc4190`).
    pub msc4190: bool,
}

/// Ids that concern us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Nobody else may have such ids.
    pub exclusive: bool,
    /// Some homeservers anchor it at neither end: so it does that itself.
    pub regex: String,
}

/// What the config needs of a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub bridge_id: String,
    /// Where the homeserver reaches us, such as `http://127.0.0.1:9880`.
    pub appservice_url: String,
    pub server_name: String,
    /// Begins every puppet's localpart, such as `agent_`.
    pub puppet_prefix: String,
    /// The bridge bot's localpart.
    pub bot: String,
    /// Localparts of the lobbies' aliases: `lobby` for `#lobby:example.org`.
    pub lobby_aliases: Vec<String>,
}

/// What is wrong with a registration file. Names the file and the key, never a value.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    #[error(
        "cannot read the registration {}: {source}; write it with `parlour registration` or correct \
         homeserver.registration", path.display()
    )]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("the registration {} is no YAML{}; correct it or write it anew", path.display(), place.as_deref().unwrap_or(""))]
    NotYaml {
        path: PathBuf,
        /// ` (line 3, column 7)`
        place: Option<String>,
    },
    #[error("the registration {}: {key}: {problem}", path.display())]
    Key { path: PathBuf, key: String, problem: &'static str },
}

#[cfg(test)]
mod tests;
