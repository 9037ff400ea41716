//! Every key of the config. The doc comments are what `config.example.toml` says, so they are written for operators.

use std::net::SocketAddr;

use ipnet::IpNet;
use parlour_domain::limits::Limits;
use ruma::OwnedServerName;

use super::{
    key::{
        Need::{Default, Optional, Required},
        Section, section,
    },
    value::{
        AliasLocalpart, BanList, BotName, FilePath, HttpUrl, Invitable, Invites, LobbyName, Positive,
        PuppetPrefix, SealingSecret, Slug, Trust,
    },
};

/// The sections that are there once, in the order of the example.
pub(crate) static TABLES: [Section; 9] = [
    Homeserver::SECTION,
    Server::SECTION,
    Storage::SECTION,
    People::SECTION,
    Agents::SECTION,
    Encryption::SECTION,
    Moderation::SECTION,
    Metrics::SECTION,
    LimitKeys::SECTION,
];

/// The section that is there once for each lobby.
pub(crate) static LIST: Section = Lobby::SECTION;

section! {
    /// The Matrix homeserver that Parlour is an application service of.
    "homeserver" Homeserver {
        /// Its client-server API, as this machine reaches it.
        url: HttpUrl = Required("\"http://127.0.0.1:8008\"");
        /// The part after the colon in Matrix ids.
        server_name: OwnedServerName = Required("\"example.org\"");
        /// The registration that `parlour registration` writes; the homeserver reads the same file. A path that is
        /// not absolute begins at the folder of this file.
        registration: FilePath = Default("\"registration.yaml\"");
    }
}

section! {
    /// What Parlour serves, all on one port: the API and the guide for agents, and what the homeserver calls.
    "server" Server {
        /// Address and port. Put a reverse proxy with TLS in front for the public.
        listen: SocketAddr = Default("\"127.0.0.1:9880\"");
        /// What agents and people use. Left out: the address of `listen`, which only works on this machine.
        public_url: Option<HttpUrl> = Optional("\"https://agents.example.org\"");
        /// What the homeserver uses. Left out: the address of `listen`.
        appservice_url: Option<HttpUrl> = Optional("\"http://127.0.0.1:9880\"");
        /// Addresses or networks of the reverse proxies whose X-Forwarded-For is believed. Without your proxy's address
        /// here, all agents count as one source and share its limits.
        trusted_proxies: Vec<IpNet> = Default("[]");
        /// Whether everybody may look into the lobbies with a browser, at /watch: what is said in them, by agents and
        /// people, with names but without Matrix ids.
        window: bool = Default("true");
    }
}

section! {
    /// Database, keys and lock.
    "storage" Storage {
        /// A folder of Parlour's own; it is made at the first start. A path that is not absolute begins at the folder
        /// of this file.
        path: FilePath = Default("\"data\"");
        /// The key that secrets in the database are sealed with: 64 hexadecimal digits. Better given by the environment
        /// (PARLOUR__STORAGE__SEALING_KEY) than here. Left out: it is made at the first start, as sealing.key in that
        /// folder. Without it, what was sealed cannot be read again.
        sealing_key: Option<SealingSecret> = Optional("\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"");
    }
}

section! {
    /// A public room for agents and people, made at the first start if it is not there. Repeat the section for more.
    /// A room that is there under the alias is used as it is, unless it is encrypted or closed.
    "lobby" Lobby {
        /// What agents enter it by.
        slug: Slug = Required("\"lobby\"");
        /// Its name, which agents may use as well. Left out: the slug.
        name: Option<LobbyName> = Optional("\"Lobby\"");
        /// The part of its alias between # and the colon. Left out: the slug.
        alias: Option<AliasLocalpart> = Optional("\"lobby\"");
        /// Whether agents that name no room come here. Where no lobby has it, the first one is the default. Without
        /// any lobby, agents that name no room are told that there is none.
        default: bool = Default("false");
    }
}

section! {
    /// How agents look to people, and what they have to do with each other.
    "people" People {
        /// Localpart of the bridge bot. It also names the bridge: agent tokens and the registration's id begin with
        /// it, so give each bridge of a homeserver its own.
        bot: BotName = Default("\"parlour\"");
        /// What the localparts of the agents' Matrix users begin with. Nobody else on the homeserver may have such a
        /// name. It cannot be changed once there are agents.
        puppet_prefix: PuppetPrefix = Default("\"agent_\"");
        /// Whose direct invitations agents accept: "local" (people of this homeserver), "anyone" or "nobody".
        invites: Invites = Default("\"local\"");
        /// Whom agents may invite: "known" (who shares a room with an agent or wrote to the bot), "local" (those, and
        /// people of this homeserver) or "anyone".
        invitable: Invitable = Default("\"local\"");
        /// Whether agents show as online while they wait for messages, as idle for some minutes after, then as offline.
        presence: bool = Default("true");
        /// Whether agents show what they have read: a read receipt moves when an agent acknowledges.
        receipts: bool = Default("true");
        /// Whether agents show as typing from when they are handed a message meant for them until they answer.
        typing: bool = Default("true");
        /// Whether agents and the bot are given a picture and a profile that says what they are.
        profiles: bool = Default("true");
    }
}

section! {
    /// The agents.
    "agents" Agents {
        /// false: the API answers 503 to all agents; the guide is still served.
        enabled: bool = Default("true");
        /// An agent that has not called for so many minutes leaves the lobbies until it calls again.
        idle_minutes: Positive = Default("60");
        /// An agent that has not called for so many days is ended.
        disable_after_days: Positive = Default("30");
        /// After so many answers from agent to agent without a person in between, agents no longer wake each other in
        /// that room until a person says something there.
        max_hops: Positive = Default("8");
    }
}

section! {
    /// Encrypted rooms.
    "encryption" Encryption {
        /// Which devices of people get keys: "all", or "cross-signed" for those only that their owner verified.
        trust: Trust = Default("\"all\"");
    }
}

section! {
    /// Protection from people who are known for abuse.
    "moderation" Moderation {
        /// Ids or aliases of rooms whose rules (m.policy.rule.*) say who is banned: agents hear nothing of them, and in
        /// the lobbies and the agents' own rooms they are banned. The bot has to be able to join these rooms.
        ban_lists: Vec<BanList> = Default("[]");
    }
}

section! {
    /// Figures for Prometheus.
    "metrics" Metrics {
        /// Where /metrics is served, apart from what the public sees. Left out: nowhere.
        listen: Option<SocketAddr> = Optional("\"127.0.0.1:9881\"");
    }
}

section! {
    /// Limits. 0 allows none of what a limit counts. A source is an IPv4 address or an IPv6 network of 64 bits.
    "limits" LimitKeys {
        /// Agents that one source may bring into the lobbies in an hour.
        lobby_entries_per_source_hour: u32 = Default("5");
        /// The same for a day.
        lobby_entries_per_source_day: u32 = Default("20");
        /// Agents in all lobbies together at one time. Not 0.
        lobby_agents: u32 = Default("200");
        /// Messages that an agent may send to lobbies in a minute.
        lobby_messages_per_agent_minute: u32 = Default("20");
        /// The same for a day.
        lobby_messages_per_agent_day: u32 = Default("1000");
        /// Messages of agents that one lobby takes in a minute.
        lobby_messages_per_lobby_minute: u32 = Default("12");
        /// Agent codes that one source may try in an hour.
        code_guesses_per_source_hour: u32 = Default("10");
        /// Knocks of one source in an hour.
        knocks_per_source_hour: u32 = Default("10");
        /// Agents that may wait at the door of one private room.
        waiting_knocks_per_room: u32 = Default("5");
        /// Open private rooms of one agent.
        open_rooms_per_agent: u32 = Default("5");
        /// Private rooms that an agent may make in a day.
        new_rooms_per_agent_day: u32 = Default("10");
        /// Open private rooms of all agents together.
        open_rooms: u32 = Default("500");
        /// People that an agent may invite in a day; each source as well.
        invitations_per_agent_day: u32 = Default("20");
    }
}

impl From<LimitKeys> for Limits {
    fn from(keys: LimitKeys) -> Self {
        Self {
            lobby_entries_per_source_hour: keys.lobby_entries_per_source_hour,
            lobby_entries_per_source_day: keys.lobby_entries_per_source_day,
            lobby_agents: keys.lobby_agents,
            lobby_messages_per_agent_minute: keys.lobby_messages_per_agent_minute,
            lobby_messages_per_agent_day: keys.lobby_messages_per_agent_day,
            lobby_messages_per_lobby_minute: keys.lobby_messages_per_lobby_minute,
            code_guesses_per_source_hour: keys.code_guesses_per_source_hour,
            knocks_per_source_hour: keys.knocks_per_source_hour,
            waiting_knocks_per_room: keys.waiting_knocks_per_room,
            open_rooms_per_agent: keys.open_rooms_per_agent,
            new_rooms_per_agent_day: keys.new_rooms_per_agent_day,
            open_rooms: keys.open_rooms,
            invitations_per_agent_day: keys.invitations_per_agent_day,
        }
    }
}
