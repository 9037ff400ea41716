//! What every scenario works with: the homeserver, the floor, the bridge, and the agents that are there already.
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{
    api::{Agent, Api},
    bridge::Bridge,
    clock::{fresh_id, ms_between, now, pause},
    floor::Floor,
    homeserver::{Homeserver, encode},
    machine::{self, Meter},
    marker,
    pump::{gather, pump},
    registration::Registration,
    sizes::Sizes,
};

/// Joins at the same time: few, as joins of one room that overlap cost the homeserver more each.
const JOINS_AT_ONCE: usize = 4;
/// How long one event may take to reach the floor before it counts as lost.
pub(crate) const ARRIVES: Duration = Duration::from_secs(15);

/// Everything that is running, and who is in it.
pub(crate) struct World {
    pub(crate) sizes: Sizes,
    pub(crate) hs: Homeserver,
    pub(crate) hs_pid: Option<u32>,
    pub(crate) floor: Floor,
    pub(crate) api: Api,
    pub(crate) bridge: Bridge,
    /// The bridge's own registration: its appservice address and hs_token.
    pub(crate) registration: Option<Registration>,
    /// The lobby that the agents join; none: the default one.
    pub(crate) lobby: Option<String>,
    /// Lobbies for large crowds, so that these do not weigh on the sends that are measured; empty: `lobby`.
    pub(crate) crowd_lobbies: Vec<String>,
    /// Agents in the lobby.
    pub(crate) agents: Vec<Agent>,
    /// Agents elsewhere.
    pub(crate) others: Vec<Agent>,
    /// A floor user in the lobby; the bridge sees an ordinary person.
    pub(crate) person: String,
    /// Keeps the users of two runs against one homeserver apart.
    pub(crate) tag: String,
}

/// What a world is made of.
pub(crate) struct Parts {
    pub(crate) sizes: Sizes,
    pub(crate) hs_url: String,
    pub(crate) hs_pid: Option<u32>,
    pub(crate) floor_registration: Registration,
    pub(crate) bridge_url: String,
    pub(crate) bridge: Bridge,
    pub(crate) registration: Option<Registration>,
    pub(crate) lobby: Option<String>,
    pub(crate) crowd_lobbies: Vec<String>,
}

impl World {
    /// Starts the floor, waits until the homeserver delivers to it, and registers the person.
    pub(crate) async fn new(parts: Parts) -> Result<Self> {
        let floor = Floor::start(&parts.floor_registration.url).await?;
        let hs = Homeserver::connect(&parts.hs_url, &parts.floor_registration).await?;
        hs.ready(&floor).await?;
        let tag = format!("r{}", &fresh_id()[..6]);
        Ok(Self {
            sizes: parts.sizes,
            person: hs.register(&format!("{tag}person")).await?,
            hs,
            hs_pid: parts.hs_pid,
            floor,
            api: Api::new(&parts.bridge_url)?,
            bridge: parts.bridge,
            registration: parts.registration,
            lobby: parts.lobby,
            crowd_lobbies: parts.crowd_lobbies,
            agents: vec![],
            others: vec![],
            tag,
        })
    }

    /// At least `n` agents in the lobby, the person there too, and their inboxes empty.
    pub(crate) async fn need_agents(&mut self, n: usize) -> Result<()> {
        let missing = n.saturating_sub(self.agents.len());
        let new = self.join_agents(missing, &self.lobby.clone().into_iter().collect::<Vec<_>>()).await?;
        self.agents.extend(new);
        self.hs.join(self.room(), &self.person).await?;
        self.drain(&self.agents[..n]).await
    }

    /// The lobby's room id. There are agents in it.
    pub(crate) fn room(&self) -> &str {
        self.agents.first().map_or("", |agent| &agent.room)
    }

    /// `n` new agents, spread over these lobbies (none: the default lobby).
    pub(crate) async fn join_agents(&self, n: usize, lobbies: &[String]) -> Result<Vec<Agent>> {
        let (agents, pumped) = gather(n, JOINS_AT_ONCE, async |i| {
            let lobby = lobbies.get(i % lobbies.len().max(1)).map(String::as_str);
            self.api.join(&format!("Load {i}"), lobby).await
        })
        .await;
        match pumped.failed {
            0 => Ok(agents),
            failed => bail!("{failed} of {n} joins failed"),
        }
    }

    /// Empties inboxes. What is still on its way from the homeserver comes first.
    pub(crate) async fn drain(&self, agents: &[Agent]) -> Result<()> {
        pause(500).await;
        let pumped = pump(agents.len(), 8, async |i| self.api.drain(&agents[i]).await.map(drop)).await;
        match pumped.failed {
            0 => Ok(()),
            failed => bail!("{failed} of {} inboxes could not be emptied", agents.len()),
        }
    }

    /// `n` floor users in the lobby: raw sends then cost the homeserver what the bridge's cost it, same room, same pushes.
    pub(crate) async fn floor_in_lobby(&self, n: usize) -> Result<Vec<String>> {
        let mut users = vec![];
        for i in 0..n {
            let user = self.hs.register(&format!("{}lobby{i}", self.tag)).await?;
            self.hs.join(self.room(), &user).await?;
            users.push(user);
        }
        Ok(users)
    }

    /// A room of `n` floor users that only the floor's appservice hears of; gives it and its first member.
    pub(crate) async fn floor_room(&self, name: &str, n: usize) -> Result<(String, String)> {
        let first = self.hs.register(&format!("{}{name}0", self.tag)).await?;
        let room = self.hs.create_room(&first, name).await?;
        let joined = pump(n.saturating_sub(1), 2, async |i| {
            let user = self.hs.register(&format!("{}{name}{}", self.tag, i + 1)).await?;
            self.hs.join(&room, &user).await
        })
        .await;
        match joined.failed {
            0 => Ok((room, first)),
            failed => bail!("{failed} floor users could not join a room"),
        }
    }

    /// A raw send, and the milliseconds until its event reached the floor.
    pub(crate) async fn raw_delivery(&self, user: &str, room: &str) -> Result<Option<f64>> {
        let (marker, start) = (marker::fresh(), now());
        self.hs.send(user, room, &marker).await?;
        Ok(self.floor.wait_for(&marker, ARRIVES).await.map(|at| ms_between(start, at)))
    }

    /// Meters on the homeserver's and the bridge's CPU.
    pub(crate) fn meters(&self) -> (Meter, Meter) {
        (Meter::start(self.hs_pid), Meter::start(self.bridge.pid()))
    }

    /// Memory, CPU, files and threads of the bridge as they are now.
    pub(crate) fn bridge_figures(&self) -> Value {
        json!(machine::process(self.bridge.pid()))
    }

    /// The query part that narrows a wait to what one user says.
    pub(crate) fn only_from(user: &str) -> String {
        format!("settle=0&from={}", encode(user))
    }

    /// Takes all agents out again, as the bridge goes on running without us.
    pub(crate) async fn leave_all(&self) {
        let all: Vec<&Agent> = self.agents.iter().chain(&self.others).collect();
        pump(all.len(), 4, async |i| self.api.leave(all[i]).await).await;
    }
}
