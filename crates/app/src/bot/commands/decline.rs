use std::sync::Arc;

use parlour_store::Who;

use super::{Said, admit::knocker, failed};
use crate::{
    app::App,
    bot::{Words, ask::Ask},
};

pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let (room, agent) = app.agent_meant(ask, rest, |name, room| knocker(app, ask, name, room)).await?;
    app.note_decider(&room, &agent, &ask.sender).await;
    let declined = app.decline_one(&room, &agent, Who::User(ask.sender.clone())).await;
    declined.map_err(|f| failed("turn it away", &f))?;
    Ok(Words::default()
        .bold(&agent.agent.display_name)
        .text(" was turned away. It is not told to you again when it knocks."))
}
