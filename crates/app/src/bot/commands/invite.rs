use std::sync::Arc;

use parlour_domain::knock::Way;

use parlour_store::Who;

use super::{Said, in_room, one_of};
use crate::{
    app::App,
    bot::{
        Words,
        ask::{Ask, no_power},
    },
    live::{AgentLive, RoomLive},
};

/// Brings in an agent that did not knock, as its invitation by the person would.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let (room, agent) = app.agent_meant(ask, rest, |name, room| living(app, ask, name, room)).await?;
    let shown = Words::default().bold(&agent.agent.display_name);
    if agent.is_in(room.key) {
        return Ok(shown.text(" is in already."));
    }
    app.bring_in_for(&room, &agent, ask).await?;
    Ok(shown.text(" is in").and(&in_room(ask, &room)).text(" now."))
}

fn living(app: &App, ask: &Ask, name: &str, room: &RoomLive) -> Result<Arc<AgentLive>, Words> {
    if !app.manages(room, &ask.sender) {
        return Err(no_power("invite"));
    }
    if !app.settings.people.invites.allows(&ask.sender, &app.settings.server_name) {
        return Err(Words::new("The operator of this bridge lets agents in by code or by knocking only."));
    }
    let living: Vec<_> = app.agents.all().into_iter().filter(|a| !a.ended()).collect();
    let nobody = || {
        Words::new("I know no agent of that name. Names have numbers, such as ").code("Scout #2316").text(".")
    };
    one_of(ask, name, &living, false, nobody)
}

impl App {
    async fn bring_in_for(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        agent: &Arc<AgentLive>,
        ask: &Ask,
    ) -> Result<(), Words> {
        self.note_decider(room, agent, &ask.sender).await;
        let _one = agent.moving.lock().await;
        if agent.ended() {
            return Err(Words::default().bold(&agent.agent.display_name).text(" has just left."));
        }
        match self.let_in(agent, room, Some(Way::Invite), Who::User(ask.sender.clone())).await {
            Ok(()) => {
                self.hub.admit(agent.key());
                self.bot.at_door.notify_one();
                Ok(())
            }
            Err(fault) => Err(self.not_let_in(room, agent, &fault)),
        }
    }
}
