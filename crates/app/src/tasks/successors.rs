//! Rooms that were upgraded: where the new room names the old one as its predecessor, ours go on there, under the same
//! number, with the same log, cursors and code.

use std::sync::Arc;

use parlour_domain::room::RoomKind;
use parlour_matrix::HsError;
use parlour_store::{SeatRow, Tx};
use ruma::{OwnedUserId, RoomId, UserId};

use super::invitations::FollowError;
use crate::{app::App, live::RoomLive};

impl App {
    /// Follows all tombstones that can be followed now. `false`: try again.
    pub(crate) async fn follow_successors(self: &Arc<Self>) -> bool {
        let mut all = true;
        for room in self.rooms.all() {
            let Some(to) = room.successor() else { continue };
            if let Err(error) = self.follow_tombstone(&room, &to).await {
                tracing::info!(%error, room = %room.room_id, "cannot follow a tombstone yet");
                all = false;
            }
        }
        all
    }

    /// The first of ours who can get in opens the way. Where nobody can, it is done once somebody is invited.
    async fn follow_tombstone(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        to: &RoomId,
    ) -> Result<(), FollowError> {
        let bot = &self.settings.bot;
        if self.bot_is_in(room) && self.gets_in(bot, to).await? {
            if !self.go_on_in(room, to, bot).await? {
                self.client.leave(bot, to, None).await?;
            }
            return Ok(());
        }
        for agent in self.agents.all().into_iter().filter(|a| !a.ended() && a.is_in(room.key)) {
            let _one = agent.moving.lock().await;
            if self.gets_in(agent.user_id(), to).await? {
                if !self.go_on_in(room, to, agent.user_id()).await? {
                    self.client.leave(agent.user_id(), to, None).await?;
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// `false`: refused, since not invited.
    async fn gets_in(&self, user: &UserId, to: &RoomId) -> Result<bool, FollowError> {
        let target = to.as_str().try_into().map_err(|_| HsError::NotSent("no room id".to_owned()))?;
        match self.client.join(user, target, &[]).await {
            Ok(_) => Ok(true),
            Err(HsError::Refused { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves a room to its successor, `first` being in there. `false`: that room says nothing of ours, so that the
    /// tombstone was a lure; it is not looked at again.
    pub(crate) async fn go_on_in(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        to: &RoomId,
        first: &UserId,
    ) -> Result<bool, FollowError> {
        let create = self.client.state_content(first, to, "m.room.create").await?.unwrap_or_default();
        if create["predecessor"]["room_id"].as_str() != Some(room.room_id.as_str()) {
            let key = room.key;
            self.store.write(move |tx| tx.set_successor(key, None)).await?;
            room.set_successor(None);
            return Ok(false);
        }
        let with_bot = self.bot_is_in(room);
        let (key, new_id) = (room.key, to.to_owned());
        let write = move |tx: &Tx<'_>| tx.move_room(key, &new_id);
        let new = self.write_and_follow(write, |app, row| app.rooms.replace(row)).await?;
        tracing::info!(from = %room.room_id, to = %new.room_id, "went on in the room that a tombstone leads to");
        let mut inside = self.settle_down(&new, first).await?;
        if with_bot && (first == self.settings.bot || self.gets_in(&self.settings.bot, to).await?) {
            inside.push(self.settings.bot.clone());
        }
        for puppet in inside {
            if let Err(error) = self.client.leave(&puppet, &room.room_id, None).await {
                tracing::info!(%error, %puppet, "cannot leave a room that was upgraded");
            }
        }
        Ok(true)
    }

    /// Rooms whose state nobody has read: a restart came between the move and that.
    pub(crate) async fn settle_unread(self: &Arc<Self>) -> bool {
        let mut all = true;
        for room in self.rooms.all().into_iter().filter(|r| r.kind() == RoomKind::Private && !r.state_read())
        {
            let first = self.agents.all().into_iter().find(|a| !a.ended() && a.is_in(room.key));
            let bot = self.bot.knows(room.key).then(|| self.settings.bot.clone());
            let Some(first) = first.map(|a| a.agent.user_id.clone()).or(bot) else { continue };
            if let Err(error) = self.settle_down(&room, &first).await {
                tracing::info!(%error, room = %room.room_id, "cannot read a room yet");
                all = false;
            }
        }
        all
    }

    /// The others in, then the room read; who is inside comes back.
    async fn settle_down(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        first: &UserId,
    ) -> Result<Vec<OwnedUserId>, FollowError> {
        let inside = self.bring_others(room, first).await?;
        self.survey(room, first).await?;
        self.read_all_history(room, first).await?;
        Ok(inside)
    }

    /// Everybody else who can get in comes along; who cannot is out until somebody invites it.
    async fn bring_others(
        self: &Arc<Self>,
        new: &RoomLive,
        first: &UserId,
    ) -> Result<Vec<OwnedUserId>, FollowError> {
        let mut inside: Vec<OwnedUserId> = vec![first.to_owned()];
        for agent in self.agents.all().into_iter().filter(|a| a.user_id() != first && a.is_in(new.key)) {
            if self.gets_in(agent.user_id(), &new.room_id).await? {
                inside.push(agent.agent.user_id.clone());
                continue;
            }
            let (key, at) = (agent.key(), new.key);
            let follow =
                |app: &Arc<Self>, left: Option<SeatRow>| left.into_iter().for_each(|row| app.seat(row));
            self.write_and_follow(move |tx: &Tx<'_>| tx.seat_left(key, at, false), follow).await?;
        }
        Ok(inside)
    }
}
