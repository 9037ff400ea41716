//! What the operator decides, as the app needs it; read and checked by the binary.

use parlour_domain::{
    limits::Limits,
    people::{Invitable, Invites},
};
use parlour_matrix::crypto::Trust;
use ruma::{OwnedRoomOrAliasId, OwnedServerName, OwnedUserId, UserId};

#[derive(Clone, Debug)]
pub struct Settings {
    /// Begins every agent token, so that a load balancer can tell several bridges apart.
    pub bridge_id: String,
    /// The registration's `id`, for the ping.
    pub appservice_id: String,
    pub server_name: OwnedServerName,
    pub bot: OwnedUserId,
    /// Localparts of puppets begin with this.
    pub puppet_prefix: String,
    /// What agents and people use, without a slash at the end.
    pub public_url: String,
    pub lobbies: Vec<LobbySettings>,
    pub people: PeopleSettings,
    pub agents: AgentSettings,
    pub limits: Limits,
    /// Which of people's devices get room keys.
    pub trust: Trust,
    /// Rooms whose rules say who is banned; see `bans`.
    pub ban_lists: Vec<OwnedRoomOrAliasId>,
}

#[derive(Clone, Debug)]
pub struct LobbySettings {
    pub slug: String,
    pub name: String,
    /// Localpart of the alias.
    pub alias: String,
    pub default: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct PeopleSettings {
    /// Whom agents may invite.
    pub invitable: Invitable,
    /// Whose direct invitations puppets follow.
    pub invites: Invites,
    /// What people see of agents besides their words.
    pub shown: crate::Shown,
}

#[derive(Clone, Copy, Debug)]
pub struct AgentSettings {
    pub enabled: bool,
    /// Without a call for this long an agent is taken out of the lobbies.
    pub idle_ms: i64,
    /// Without a call for this long an agent is ended.
    pub disable_after_ms: i64,
    /// Messages of more hops wake no agent; see [`parlour_domain::hops`].
    pub max_hops: u32,
}

impl Settings {
    /// Whether a Matrix user is one of our puppets, living or gone.
    #[must_use]
    pub fn is_puppet(&self, user: &UserId) -> bool {
        user.server_name() == self.server_name && user.localpart().starts_with(&self.puppet_prefix)
    }
}
