use parlour_domain::fault::Fault;

use crate::{
    app::App,
    live::AgentLive,
    view::{AgentShown, AgentSummary, QuotaUse},
};

impl App {
    /// All that have not ended, oldest first.
    #[must_use]
    pub fn all_agents(&self) -> Vec<AgentSummary> {
        let mut agents = self.agents.all();
        agents.retain(|agent| !agent.ended());
        agents.sort_by_key(|agent| agent.key());
        agents.iter().map(|agent| self.agent_summary(agent)).collect()
    }

    /// One of them, with its quotas.
    ///
    /// # Errors
    /// `invalid_request`: there is no such agent.
    pub async fn agent_shown(&self, named: &str) -> Result<AgentShown, Fault> {
        let agent = self.agent_named(named)?;
        let quotas = self.quotas_of(&agent).await?;
        Ok(AgentShown { summary: self.agent_summary(&agent), quotas })
    }

    pub(super) fn agent_summary(&self, agent: &AgentLive) -> AgentSummary {
        AgentSummary {
            agent: agent.agent.clone(),
            rooms: agent.present().iter().filter_map(|s| Some(self.rooms.get(s.room)?.room())).collect(),
            last_call_ms: agent.last_call_ms(),
            waiting: self.hub.is_waiting(agent.key()),
        }
    }

    async fn quotas_of(&self, agent: &AgentLive) -> Result<Vec<QuotaUse>, Fault> {
        let mut uses = self.quotas_taken(agent.key()).await?;
        let open = self.rooms.of_owner(agent.key()).iter().filter(|r| !r.closed()).count();
        uses.push(QuotaUse {
            key: "open_rooms_per_agent",
            used: u32::try_from(open).unwrap_or(u32::MAX),
            limit: self.settings.limits.open_rooms_per_agent,
            back_at_ms: None,
        });
        Ok(uses)
    }
}
