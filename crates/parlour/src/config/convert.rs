//! From the config to what the parts of the bridge take.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use parlour_app::{
    Shown,
    settings::{AgentSettings, LobbySettings, PeopleSettings, Settings},
};
use parlour_domain::{
    people,
    quota::{DAY_MS, MINUTE_MS},
};
use parlour_matrix::{Registration, Wanted};
use ruma::{OwnedRoomAliasId, OwnedUserId, RoomAliasId, UserId};

use super::{
    Config, Lobby,
    value::{Invitable, Invites, Trust},
};
use crate::failure::Failure;

/// What agent tokens and the registration's id begin with: the bot's name, as far as its characters fit into a token.
pub(crate) fn bridge_id(bot: &str) -> String {
    bot.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

impl Lobby {
    pub(crate) fn name(&self) -> &str {
        self.name.as_ref().map_or(self.slug.as_str(), |name| name.as_str())
    }

    pub(crate) fn alias(&self) -> &str {
        self.alias.as_ref().map_or(self.slug.as_str(), |alias| alias.as_str())
    }
}

impl Config {
    /// See [`bridge_id`].
    pub(crate) fn bridge_id(&self) -> String {
        bridge_id(self.people.bot.as_str())
    }

    /// What agents and people use, without a slash at the end.
    pub(crate) fn public_url(&self) -> String {
        self.server
            .public_url
            .as_ref()
            .map_or_else(|| reachable(self.server.listen), |url| url.as_str().to_owned())
    }

    /// What the homeserver uses, without a slash at the end.
    pub(crate) fn appservice_url(&self) -> String {
        let url = self.server.appservice_url.as_ref();
        url.map_or_else(|| reachable(self.server.listen), |url| url.as_str().to_owned())
    }

    /// The bot's Matrix id.
    ///
    /// # Errors
    /// None that the config's rules would have let through.
    pub(crate) fn bot(&self) -> Result<OwnedUserId, Failure> {
        let (bot, server) = (self.people.bot.as_str(), &self.homeserver.server_name);
        UserId::parse(format!("@{bot}:{server}")).map_err(|e| {
            Failure::new(format!("people.bot: @{bot}:{server} is no Matrix id ({e}); choose another"))
        })
    }

    /// A lobby's full alias.
    ///
    /// # Errors
    /// None that the config's rules would have let through.
    pub(crate) fn lobby_alias(&self, lobby: &Lobby) -> Result<OwnedRoomAliasId, Failure> {
        let alias = format!("#{}:{}", lobby.alias(), self.homeserver.server_name);
        RoomAliasId::parse(&alias)
            .map_err(|e| Failure::new(format!("lobby.alias: {alias} is no alias ({e}); choose another")))
    }

    /// What the registration has to fit.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            bridge_id: self.bridge_id(),
            appservice_url: self.appservice_url(),
            server_name: self.homeserver.server_name.to_string(),
            puppet_prefix: self.people.puppet_prefix.as_str().to_owned(),
            bot: self.people.bot.as_str().to_owned(),
            lobby_aliases: self.lobbies.iter().map(|lobby| lobby.alias().to_owned()).collect(),
        }
    }

    /// What the app needs to know.
    ///
    /// # Errors
    /// As [`bot`](Self::bot).
    pub(crate) fn settings(&self, registration: &Registration) -> Result<Settings, Failure> {
        Ok(Settings {
            bridge_id: self.bridge_id(),
            appservice_id: registration.id.clone(),
            server_name: self.homeserver.server_name.clone(),
            bot: self.bot()?,
            puppet_prefix: self.people.puppet_prefix.as_str().to_owned(),
            public_url: self.public_url(),
            lobbies: self.lobby_settings(),
            people: PeopleSettings {
                invitable: self.people.invitable.into(),
                invites: self.people.invites.into(),
                shown: Shown {
                    presence: self.people.presence,
                    receipts: self.people.receipts,
                    typing: self.people.typing,
                    profiles: self.people.profiles,
                },
            },
            agents: self.agent_settings(),
            limits: self.limits.clone(),
            trust: self.encryption.trust.into(),
            ban_lists: self.moderation.ban_lists.iter().map(|list| list.0.clone()).collect(),
        })
    }

    fn lobby_settings(&self) -> Vec<LobbySettings> {
        let default = self.lobbies.iter().position(|lobby| lobby.default).unwrap_or(0);
        let settings = |(at, lobby): (usize, &Lobby)| LobbySettings {
            slug: lobby.slug.as_str().to_owned(),
            name: lobby.name().to_owned(),
            alias: lobby.alias().to_owned(),
            default: at == default,
        };
        self.lobbies.iter().enumerate().map(settings).collect()
    }

    fn agent_settings(&self) -> AgentSettings {
        AgentSettings {
            enabled: self.agents.enabled,
            idle_ms: i64::from(self.agents.idle_minutes.0) * MINUTE_MS,
            disable_after_ms: i64::from(self.agents.disable_after_days.0) * DAY_MS,
            max_hops: self.agents.max_hops.0,
        }
    }
}

impl From<Invitable> for people::Invitable {
    fn from(word: Invitable) -> Self {
        match word {
            Invitable::Local => Self::Local,
            Invitable::Known => Self::Known,
            Invitable::Anyone => Self::Anyone,
        }
    }
}

impl From<Trust> for parlour_matrix::crypto::Trust {
    fn from(word: Trust) -> Self {
        match word {
            Trust::All => Self::All,
            Trust::CrossSigned => Self::CrossSigned,
        }
    }
}

impl From<Invites> for people::Invites {
    fn from(word: Invites) -> Self {
        match word {
            Invites::Local => Self::Local,
            Invites::Anyone => Self::Anyone,
            Invites::Nobody => Self::Nobody,
        }
    }
}

/// An address under which this machine reaches what listens there.
fn reachable(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}
