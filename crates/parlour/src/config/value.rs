//! The types of single values, each with one constructor: what is in them has been checked.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use ipnet::IpNet;
use parlour_domain::{names::RoomName, room_ref::RoomRef};
use ruma::{OwnedRoomOrAliasId, OwnedServerName, RoomOrAliasId};
use toml::Value;

pub(crate) use super::sealing_secret::SealingSecret;

use super::key::{Setting, Shape, mistaken, text};

/// Values that are written as text; `$read` goes from the trimmed text to the value.
macro_rules! textual {
    ($($type:ty: $read:expr;)*) => {$(
        impl Setting for $type {
            const SHAPE: Shape = Shape::Text;

            fn read(value: &Value) -> Result<Self, String> {
                let read: fn(&str) -> Result<Self, String> = $read;
                read(text(value)?)
            }
        }
    )*};
}

/// Text that has passed a check.
macro_rules! checked {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $name(String);

        impl $name {
            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

/// One of a few words.
macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident { $($variant:ident = $word:literal),* })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name { $($variant),* }

        impl Setting for $name {
            const SHAPE: Shape = Shape::Text;

            fn read(value: &Value) -> Result<Self, String> {
                match text(value)? {
                    $($word => Ok(Self::$variant),)*
                    other => Err(format!("{other:?} is not one of {}", [$($word),*].join(", "))),
                }
            }
        }
    )*};
}

checked! {
    /// `http://` or `https://`, without a slash at the end, user name, query or fragment.
    HttpUrl;
    /// What agents call a lobby.
    Slug;
    /// What people call a lobby.
    LobbyName;
    /// An alias without `#` and server name.
    AliasLocalpart;
    /// The bridge bot without `@` and server name.
    BotName;
    /// Begins the localparts of puppets.
    PuppetPrefix;
}

words! {
    /// Whose direct invitations puppets accept.
    Invites { Local = "local", Anyone = "anyone", Nobody = "nobody" }
    /// Whom agents may invite.
    Invitable { Local = "local", Known = "known", Anyone = "anyone" }
    /// Which devices of people get room keys.
    Trust { All = "all", CrossSigned = "cross-signed" }
}

/// A path; where it is not absolute, it begins at the config file's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePath(pub(crate) PathBuf);

/// Id or alias of a policy room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BanList(pub(crate) OwnedRoomOrAliasId);

/// A number from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Positive(pub(crate) u32);

impl Setting for Positive {
    const SHAPE: Shape = Shape::Plain;

    fn read(value: &Value) -> Result<Self, String> {
        match u32::read(value)? {
            0 => Err("0 makes no sense here; write a number from 1 on".to_owned()),
            number => Ok(Self(number)),
        }
    }
}

textual! {
    HttpUrl: http_url;
    OwnedServerName: server_name;
    SocketAddr: socket;
    IpNet: network;
    FilePath: |text| Ok(FilePath(text.into()));
    Slug: |text| match RoomRef::parse(Some(text)) {
        RoomRef::Lobby(_) => RoomName::parse(text).map(|_| Slug(text.to_owned())).map_err(|e| e.to_string()),
        _ => Err("reads like a room's number or a link to one; choose another word".to_owned()),
    };
    LobbyName: |text| RoomName::parse(text).map(|_| LobbyName(text.to_owned())).map_err(|e| e.to_string());
    AliasLocalpart: alias;
    BotName: |text| localpart(text).map(BotName);
    PuppetPrefix: puppet_prefix;
    SealingSecret: |text| SealingSecret::parse(text);
    BanList: |text| match RoomOrAliasId::parse(text) {
        // ruma takes names that no server would
        Ok(id) if names_something(text) => Ok(BanList(id.to_owned())),
        _ => Err(format!("{text:?} is neither a room id (!...) nor an alias (#name:server)")),
    };
}

/// Something between the sigil and the server's name, and that name where it is begun.
fn names_something(id: &str) -> bool {
    let id = id.trim_start_matches(['!', '#']);
    let (name, server) = id.split_once(':').unwrap_or((id, "-"));
    !name.is_empty() && !server.is_empty() && !id.contains(char::is_whitespace)
}

/// The text is not repeated: it may hold a password.
fn http_url(text: &str) -> Result<HttpUrl, String> {
    let wrong = |what: &str| Err(format!("{what}; write an address such as http://127.0.0.1:8008"));
    let Ok(uri) = text.parse::<http::Uri>() else { return wrong("is no address") };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return wrong("does not begin with http:// or https://");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => wrong("holds a user name or password"),
        Some(authority) if !authority.host().is_empty() => {
            if text.contains(['?', '#']) {
                return wrong("holds a query or fragment");
            }
            Ok(HttpUrl(text.trim_end_matches('/').to_owned()))
        }
        _ => wrong("names no host"),
    }
}

fn server_name(text: &str) -> Result<OwnedServerName, String> {
    let hint = "write the part after the colon in Matrix ids, such as example.org";
    OwnedServerName::try_from(text).map_err(|_| format!("{text:?} is no server name; {hint}"))
}

fn socket(text: &str) -> Result<SocketAddr, String> {
    let hint = "write address and port, such as 127.0.0.1:9880 or [::1]:9880";
    let address: SocketAddr =
        text.parse().map_err(|_| format!("{text:?} is no address to listen on; {hint}"))?;
    if address.port() == 0 {
        return Err(format!("port 0 would be another one at each start; {hint}"));
    }
    Ok(address)
}

fn network(text: &str) -> Result<IpNet, String> {
    let single = || text.parse::<IpAddr>().map(IpNet::from).ok();
    text.parse::<IpNet>().ok().or_else(single).ok_or_else(|| {
        format!("{text:?} is neither an address nor a network; write it such as 127.0.0.1 or 10.0.0.0/8")
    })
}

fn alias(text: &str) -> Result<AliasLocalpart, String> {
    let bare = "write only the part between # and the colon";
    if text.starts_with('#') || text.contains(':') {
        return Err(format!("{text:?} is more than a localpart; {bare}"));
    }
    match text.chars().find(|c| c.is_whitespace() || c.is_control()) {
        Some(_) => Err(format!("{text:?} holds a blank or control character; leave it out")),
        None => Ok(AliasLocalpart(text.to_owned())),
    }
}

/// The letters of the specification, appendix "User identifiers".
fn localpart(text: &str) -> Result<String, String> {
    let bare = "write only the part between @ and the colon";
    if text.starts_with('@') || text.contains(':') {
        return Err(format!("{text:?} is more than a localpart; {bare}"));
    }
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._=-/+".contains(&b);
    match text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?}: Matrix user names are made of a-z, 0-9 and . _ = - / +")),
    }
}

/// Three characters at least: shorter ones take too many names away from people.
fn puppet_prefix(text: &str) -> Result<PuppetPrefix, String> {
    let prefix = localpart(text)?;
    match prefix.len() {
        0..3 => Err(format!(
            "{text:?} is too short: every user of the homeserver whose name begins so would be an agent's; write \
             3 to 64 characters, such as agent_"
        )),
        3..65 => Ok(PuppetPrefix(prefix)),
        _ => Err("is too long; write 3 to 64 characters".to_owned()),
    }
}

/// A table where one is due.
pub(crate) fn table(value: Value, how: &str) -> Result<toml::Table, String> {
    match value {
        Value::Table(table) => Ok(table),
        other => Err(mistaken("a section", how, &other)),
    }
}
