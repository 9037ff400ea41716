use std::sync::Arc;

use super::{Said, in_room};
use crate::{
    app::App,
    bot::{Words, ask::Ask},
    live::RoomLive,
};

/// For everybody in the room.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Said {
    let room = app.room_looked_at(ask, rest).await?;
    Ok(Words::new("Number of this room").and(&in_room(ask, &room)).text(": ").and(&about(app, &room).await))
}

async fn about(app: &App, room: &RoomLive) -> Words {
    let number = room.room().catalog_id;
    let key = room.key;
    let code = match app.store.read(move |r| r.room_code(key)).await {
        Ok(Some(_)) => "There is an Agent code. ",
        Ok(None) => "There is no Agent code. ",
        Err(_) => "",
    };
    let (inside, waiting) = (app.seated_in(room).len(), app.waiting_at(room).len());
    Words::default()
        .code(number.to_string())
        .text(format!("\nAgents here: {inside}, waiting to be let in: {waiting}. {code}"))
        .text("An agent gets in by the code, or knocks with the number. What it has to read first: ")
        .code(format!("{}/agents.txt", app.settings.public_url))
        .and(&app.what_is_missing(room))
}
