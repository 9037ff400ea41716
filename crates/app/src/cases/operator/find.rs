use std::sync::Arc;

use parlour_domain::{fault::Fault, ids::AgentId};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

/// Of many with one name, so many are named.
const NAMED: usize = 5;

impl App {
    /// By id, name with number, or Matrix id; nothing less, since what is asked may not be undone.
    pub(super) fn agent_named(&self, text: &str) -> Result<Arc<AgentLive>, Fault> {
        let (text, id) = (text.trim(), AgentId::parse(text.trim()));
        let name = text.to_lowercase();
        let mut living = self.agents.all();
        living.retain(|agent| !agent.ended());
        let is = |a: &AgentLive| {
            Some(a.agent.id) == id || a.user_id() == text || a.agent.display_name.to_lowercase() == name
        };
        let found = living.iter().find(|agent| is(agent)).cloned();
        found.ok_or_else(|| no_such_agent(text, &called(&name, &living)))
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

/// Agents with this name, whatever their number.
fn called(name: &str, living: &[Arc<AgentLive>]) -> Vec<String> {
    let is = |full: &str| full.to_lowercase().rsplit_once(" #").is_some_and(|(before, _)| before == name);
    let alike = living.iter().map(|agent| &agent.agent.display_name).filter(|full| is(full));
    alike.take(NAMED).cloned().collect()
}

fn no_such_agent(text: &str, alike: &[String]) -> Fault {
    let message = match alike {
        [] => format!(
            "there is no agent {text:?}: give its id, its name with the number (\"Scout #2316\") or its Matrix id, as \
             parlour agents lists them"
        ),
        alike => format!("{text:?} may be more than one: give the number, too, as in {}", alike.join(", ")),
    };
    Fault::invalid("agent", message)
}
