use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    fault::Fault,
    ids::{AgentKey, RoomKey},
};
use parlour_store::{Tx, Who};

use super::Said;
use crate::{
    app::App,
    bot::{Words, ask::Ask},
    live::RoomLive,
};

/// No agents any more: those that are in go, and the bot after them.
pub(super) async fn run(app: &Arc<App>, ask: &Ask, rest: &str) -> Option<Said> {
    let room = match app.room_to_leave(ask, rest).await {
        Ok(room) => room,
        Err(refusal) => return Some(Err(refusal)),
    };
    if let Err(fault) = app.switch_off(&room, Who::User(ask.sender.clone())).await {
        tracing::info!(%fault, cause = fault.cause, "a room could not be switched off");
        return Some(Err(Words::new(
            "Not everybody is out yet: the Matrix server did not take it. Say it again in a moment, or remove the rest \
             yourself.",
        )));
    }
    (room.key != ask.room.key).then(|| Ok(Words::new("All agents are out, and so am I.")))
}

impl App {
    /// The door first, so that nobody comes in while the others go. Where it cannot be finished, the bot stays and can be
    /// told again; where we end in the middle, it is still noted as in, and what it was asked is done by the next start.
    pub(crate) async fn switch_off(self: &Arc<Self>, room: &RoomLive, who: Who) -> Result<(), Fault> {
        let before = self.bot.room(room.key);
        self.shut_bot_door(room.key).await?;
        let done = match self.put_out_all(room, &who).await {
            Ok(()) => self.bot_leaves(room, who.clone()).await,
            failed => failed,
        };
        if let (Err(_), Some(before)) = (&done, before) {
            self.bot_minds(room.key, before.direct, who).await?;
        }
        done
    }

    async fn shut_bot_door(&self, room: RoomKey) -> Result<(), Fault> {
        let write = move |tx: &Tx<'_>| tx.shut_bot_door(room);
        Ok(self.write_and_follow(write, move |app, ()| app.bot_is_out(room)).await?)
    }

    /// As many as can be; the first that could not is told.
    async fn put_out_all(&self, room: &RoomLive, who: &Who) -> Result<(), Fault> {
        let mut done = Ok(());
        for agent in self.inside_or_let_in(room).await? {
            let out = self.put_out(room, &self.settings.bot, agent, who.clone()).await;
            done = done.and(out);
        }
        done
    }

    /// Also who is on the way in, and who was put out before and is in there still.
    async fn inside_or_let_in(&self, room: &RoomLive) -> Result<BTreeSet<AgentKey>, Fault> {
        let key = room.key;
        let holders = self.store.read(move |r| r.pass_holders(key)).await?;
        let puppets = room.with_members(|m| m.joined(|user| self.is_ours(user)));
        let puppets = puppets.iter().filter_map(|user| self.agents.by_user(user));
        Ok(puppets.map(|agent| agent.key()).chain(holders).collect())
    }

    async fn bot_minds(&self, room: RoomKey, direct: bool, who: Who) -> Result<(), Fault> {
        let by = self.by(who);
        let write = move |tx: &Tx<'_>| tx.put_bot_room(room, direct, &by);
        Ok(self.write_and_follow(write, move |app, _| app.bot.put_room(room, direct)).await?)
    }
}
