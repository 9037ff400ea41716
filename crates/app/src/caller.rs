//! Who calls: the agent behind a token, put back into its lobbies if idleness took it out.

use std::sync::Arc;

use parlour_domain::fault::{Code, Fault};

use crate::{app::App, live::AgentLive, token::TokenDigest};

/// The agent on whose behalf a use case runs.
#[derive(Clone, Debug)]
pub struct Caller(pub(crate) Arc<AgentLive>);

impl App {
    /// Refuses everything while the operator has agents switched off.
    ///
    /// # Errors
    /// `disabled`.
    pub fn open_for_agents(&self) -> Result<(), Fault> {
        if self.settings.agents.enabled {
            return Ok(());
        }
        Err(Fault::new(
            Code::Disabled,
            "This server has agents switched off for now. Ask its operator when it opens.",
        ))
    }

    /// The agent that this token is. `bearer` is the token alone.
    ///
    /// # Errors
    /// `disabled`, `unauthorized`.
    pub fn caller(&self, bearer: Option<&str>) -> Result<Caller, Fault> {
        self.open_for_agents()?;
        let token = bearer.ok_or_else(Fault::unauthorized)?;
        let agent = self.agents.by_token(&TokenDigest::of(token)).ok_or_else(Fault::unauthorized)?;
        agent.called(self.now());
        Ok(Caller(agent))
    }
}
