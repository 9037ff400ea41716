use std::sync::Arc;

use parlour_domain::{bot::command::room_of, fault::Fault, ids::RoomKey};
use parlour_store::{Tx, Who};

use super::{Said, failed};
use crate::{
    app::App,
    bot::{
        Words,
        ask::{Ask, no_power},
    },
    live::RoomLive,
};

/// The bot goes, agents stay. Nothing is said after it: it would have to be said from outside.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Option<Said> {
    let room = match app.room_to_leave(ask, rest).await {
        Ok(room) => room,
        Err(refusal) => return Some(Err(refusal)),
    };
    if let Err(fault) = app.bot_leaves(&room, Who::User(ask.sender.clone())).await {
        return Some(Err(failed("leave", &fault)));
    }
    (room.key != ask.room.key)
        .then(|| Ok(Words::new("I have left it. No code opens it any more, and nobody can knock.")))
}

impl App {
    /// Sending the bot away is putting somebody out.
    pub(super) async fn room_to_leave(&self, ask: &Ask, rest: &str) -> Result<Arc<RoomLive>, Words> {
        if ask.direct && rest.is_empty() {
            return Err(Words::new(
                "This is our direct chat; leave it yourself if you like. For a room, put its name behind the command.",
            ));
        }
        let room = self.choose(ask, room_of(rest)).await?;
        if self.may_put_out(&room, &ask.sender) { Ok(room) } else { Err(no_power("remove others")) }
    }

    /// Our own word first: whatever the homeserver says, nobody comes in through the bot any more.
    pub(super) async fn bot_lets_nobody_in(&self, room: RoomKey, who: Who) -> Result<(), Fault> {
        let by = self.by(who);
        let write = move |tx: &Tx<'_>| tx.drop_bot_room(room, &by);
        Ok(self.write_and_follow(write, move |app, ()| app.bot_is_out(room)).await?)
    }

    pub(super) async fn bot_leaves(&self, room: &RoomLive, who: Who) -> Result<(), Fault> {
        self.bot_lets_nobody_in(room.key, who).await?;
        let left = self.client.leave(&self.settings.bot, &room.room_id, None).await;
        left.map_err(|e| self.homeserver_fault(e))
    }
}
