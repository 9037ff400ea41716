use std::sync::Arc;

use parlour_domain::fault::Fault;
use parlour_store::Who;

use crate::{app::App, view::AgentSummary};

impl App {
    /// Ends an agent for good, as if it had left. Gives it as it was before.
    ///
    /// # Errors
    /// `invalid_request`: there is no such agent. `dependency_unavailable`: the store could not void the token.
    pub async fn disable_agent(self: &Arc<Self>, named: &str) -> Result<AgentSummary, Fault> {
        let agent = self.agent_named(named)?;
        let summary = self.agent_summary(&agent);
        tracing::info!(agent = %agent.agent.id, "the operator disables an agent");
        let app = self.clone();
        self.to_the_end(async move { app.end_agent(&agent, Who::Operator).await }, |_, ()| {}).await?;
        Ok(summary)
    }
}
