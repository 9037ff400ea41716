//! One command a file. What a command says, and what it says no with, are both words for whoever asked.

mod admit;
mod agents;
mod code;
mod decline;
mod help;
mod info;
mod invite;
mod knocks;
mod leave;
mod off;
mod remove;

use std::sync::Arc;

use parlour_domain::{
    bot::{
        Verb,
        whom::{Candidate, Found, whom},
    },
    fault::Fault,
};

pub(super) use help::ANNOUNCED;

use super::{Words, ask::Ask};
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

type Said = Result<Words, Words>;

/// What is to be said to it; `None`: nothing, since there is nowhere left to say it.
pub(super) async fn carry_out(app: &Arc<App>, ask: &Ask, verb: Verb, rest: &str) -> Option<Words> {
    let said = match verb {
        Verb::Help => Ok(help::run(app, ask)),
        Verb::Info => info::run(app, ask, rest).await,
        Verb::Code(wish) => code::run(app, ask, wish, rest).await,
        Verb::Knocks => knocks::run(app, ask, rest).await,
        Verb::Admit => admit::run(app, ask, rest).await,
        Verb::Decline => decline::run(app, ask, rest).await,
        Verb::Agents => agents::run(app, ask, rest).await,
        Verb::Remove => remove::run(app, ask, rest).await,
        Verb::Invite => invite::run(app, ask, rest).await,
        Verb::Leave => leave::run(app, ask, rest).await?,
        Verb::Off => off::run(app, ask, rest).await?,
    };
    Some(said.unwrap_or_else(|refusal| refusal))
}

/// The one agent of several that a name means.
fn one_of(
    ask: &Ask,
    name: &str,
    agents: &[Arc<AgentLive>],
    listed: bool,
    nobody: impl FnOnce() -> Words,
) -> Result<Arc<AgentLive>, Words> {
    let candidates: Vec<Candidate<'_>> = agents
        .iter()
        .map(|a| Candidate {
            display_name: &a.agent.display_name,
            user_id: a.user_id(),
            agent_id: a.agent.id,
        })
        .collect();
    match whom(name, &ask.mentions, &candidates, listed) {
        Found::One(at) => agents.get(at).cloned().ok_or_else(nobody),
        Found::Nobody => Err(nobody()),
        Found::Several(at) => {
            let names = at.into_iter().filter_map(|at| agents.get(at)).map(|a| named(a));
            Err(Words::new("That may be more than one. Say it with its number: ").listed(names))
        }
    }
}

fn named(agent: &AgentLive) -> Words {
    Words::default().bold(&agent.agent.display_name)
}

/// What a room is called in an answer; nothing where the answer is said in it.
fn in_room(ask: &Ask, room: &RoomLive) -> Words {
    if ask.room.key == room.key {
        return Words::default();
    }
    match &room.room().name {
        Some(name) => Words::new(" in ").bold(name),
        None => Words::new(" in the room ").code(room.room().catalog_id.to_string()),
    }
}

/// A use case said no. Its words are for agents, so only what a person can do something about is passed on.
fn failed(what: &str, fault: &Fault) -> Words {
    tracing::info!(%fault, cause = fault.cause, "the bot could not do what it was asked");
    Words::new(format!("I could not {what}: the Matrix server did not take it. Try again in a moment."))
}
