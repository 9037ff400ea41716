use std::sync::Arc;

use parlour_domain::quota::MINUTE_MS;

use super::{Said, in_room};
use crate::{
    app::App,
    bot::{Words, ask::Ask},
};

pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let room = app.room_meant(ask, rest).await?;
    let waiting = app.waiting_at(&room);
    if waiting.is_empty() {
        return Ok(Words::new("Nobody knocks").and(&in_room(ask, &room)).text(" right now."));
    }
    let now = app.now();
    let lines = waiting.iter().map(|(agent, knock)| {
        let minutes = (now - knock.at_ms).max(0) / MINUTE_MS;
        let since = if minutes == 0 { "just now".to_owned() } else { format!("{minutes} min ago") };
        Words::default().bold(&agent.agent.display_name).text(format!(", {since}"))
    });
    let words = Words::new("These agents knock").and(&in_room(ask, &room)).text(":").numbered(lines);
    Ok(words
        .text("\n")
        .code(ask.typed("admit NAME"))
        .text(" or ")
        .code(ask.typed("decline NAME"))
        .text(" answers."))
}
