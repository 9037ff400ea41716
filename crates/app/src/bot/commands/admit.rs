use std::sync::Arc;

use parlour_store::Who;

use super::{Said, failed, in_room, one_of};
use crate::{
    app::App,
    bot::{
        Words,
        ask::{Ask, no_power},
    },
    live::{AgentLive, RoomLive},
};

pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let (room, agent) = app.agent_meant(ask, rest, |name, room| knocker(app, ask, name, room)).await?;
    app.admit_for(&room, &agent, &ask.sender).await?;
    Ok(Words::default()
        .bold(&agent.agent.display_name)
        .text(" is in")
        .and(&in_room(ask, &room))
        .text(" now."))
}

/// The one of those who wait that is meant, by somebody who may answer.
pub(super) fn knocker(app: &App, ask: &Ask, name: &str, room: &RoomLive) -> Result<Arc<AgentLive>, Words> {
    if !app.manages(room, &ask.sender) {
        return Err(no_power("invite"));
    }
    let waiting: Vec<Arc<AgentLive>> = app.waiting_at(room).into_iter().map(|(agent, _)| agent).collect();
    let nobody = || match name {
        _ if waiting.is_empty() => Words::new("Nobody knocks right now."),
        "" => {
            Words::new("Whom? Say its name or its place in the list of ").code(ask.typed("knocks")).text(".")
        }
        _ => Words::new("No agent of that name knocks (any more). ")
            .code(ask.typed("knocks"))
            .text(" lists those that do."),
    };
    one_of(ask, name, &waiting, true, nobody)
}

impl App {
    /// Lets in who knocks, at a manager's word.
    pub(crate) async fn admit_for(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        agent: &Arc<AgentLive>,
        by: &ruma::UserId,
    ) -> Result<(), Words> {
        self.note_decider(room, agent, by).await;
        match self.admit_one(room, agent, Who::User(by.to_owned())).await {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.not_let_in(room, agent, &fault)),
        }
    }

    /// It may come in, but nobody of ours may invite: then the person does that.
    pub(super) fn not_let_in(
        &self,
        room: &RoomLive,
        agent: &AgentLive,
        fault: &parlour_domain::fault::Fault,
    ) -> Words {
        let name = &agent.agent.display_name;
        if fault.code == parlour_domain::fault::Code::KnockNotFound {
            return Words::default().bold(name).text(" does not knock any more.");
        }
        if self.inviter(room).is_some() {
            return failed(&format!("let {name} in"), fault);
        }
        Words::default()
            .bold(name)
            .text(" may come in, but I may not invite here. Invite it yourself: ")
            .code(agent.user_id().as_str())
            .text(". It follows at once.")
            .and(&self.what_is_missing(room))
    }
}
