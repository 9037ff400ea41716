use std::sync::Arc;

use parlour_domain::{fault::Fault, ids::AgentId};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

impl App {
    /// By id, name with number, or Matrix id; nothing less, since what is asked may not be undone.
    pub(super) fn agent_named(&self, text: &str) -> Result<Arc<AgentLive>, Fault> {
        let (text, id) = (text.trim(), AgentId::parse(text.trim()));
        let name = text.to_lowercase();
        let is = |a: &AgentLive| {
            Some(a.agent.id) == id || a.user_id() == text || a.agent.display_name.to_lowercase() == name
        };
        let found: Vec<_> = self.agents.all().into_iter().filter(|a| !a.ended() && is(a)).collect();
        match &found[..] {
            [one] => Ok(one.clone()),
            [] => Err(no_such_agent(text)),
            several => Err(several_agents(text, several)),
        }
    }

    /// By number, room id, or a lobby's slug.
    pub(super) fn room_named(&self, text: &str) -> Result<Arc<RoomLive>, Fault> {
        let text = text.trim();
        self.named(text).or_else(|| self.rooms.lobby(text)).ok_or_else(|| {
            Fault::invalid(
                "room",
                format!(
                    "there is no room {text:?}: give its number, room id or slug, as parlour rooms lists them"
                ),
            )
        })
    }
}

fn no_such_agent(text: &str) -> Fault {
    Fault::invalid(
        "agent",
        format!(
            "there is no agent {text:?}: give its id, its name with the number (\"Scout #2316\") or its Matrix id, as \
             parlour agents lists them"
        ),
    )
}

fn several_agents(text: &str, several: &[Arc<AgentLive>]) -> Fault {
    let ids: Vec<String> = several.iter().map(|a| a.agent.id.to_string()).collect();
    Fault::invalid(
        "agent",
        format!("{text:?} may be more than one agent: give one of the ids {}", ids.join(", ")),
    )
}
