//! Rooms that were upgraded: where the new room names the old one as its predecessor, ours go on there, under the same
//! number, with the same log, cursors and code.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::room::RoomKind;
use parlour_store::{SeatRow, Tx};
use ruma::{OwnedServerName, OwnedUserId, RoomId, UserId};

use super::invitations::FollowError;
use crate::{app::App, live::RoomLive};

/// How many homeservers elsewhere are asked for a room that ours does not know.
const ASKED: usize = 5;

impl App {
    /// Follows all tombstones that can be followed now. `false`: try again.
    pub(crate) async fn follow_successors(self: &Arc<Self>) -> bool {
        let mut all = true;
        for room in self.rooms.all() {
            let Some(to) = room.successor().filter(|to| !self.is_barred_room(to)) else { continue };
            if let Err(error) = self.follow_tombstone(&room, &to).await {
                tracing::info!(%error, room = %room.room_id, "cannot follow a tombstone yet");
                all = false;
            }
        }
        all
    }

    /// The first of ours who can get in opens the way: into a lobby the bot. Where nobody can, it is done once somebody
    /// is invited.
    async fn follow_tombstone(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        to: &RoomId,
    ) -> Result<(), FollowError> {
        let (bot, via) = (self.settings.bot.clone(), self.where_upgraded(room));
        let by_bot = room.kind() == RoomKind::Lobby || self.bot_is_in(room);
        if by_bot && self.gets_in_by(&bot, to, &via).await? {
            return self.go_on_or_leave(room, to, &bot).await;
        }
        if room.kind() == RoomKind::Lobby {
            return Ok(());
        }
        for agent in self.agents.all().into_iter().filter(|a| !a.ended() && a.is_in(room.key)) {
            let _one = agent.moving.lock().await;
            if self.gets_in_by(agent.user_id(), to, &via).await? {
                return self.go_on_or_leave(room, to, agent.user_id()).await;
            }
        }
        Ok(())
    }

    async fn go_on_or_leave(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        to: &RoomId,
        first: &UserId,
    ) -> Result<(), FollowError> {
        if !self.go_on_in(room, to, first).await? {
            self.client.leave(first, to, None).await?;
        }
        Ok(())
    }

    /// Homeservers elsewhere that may know the new room: it was made by somebody who could upgrade the old one.
    fn where_upgraded(&self, room: &RoomLive) -> Vec<OwnedServerName> {
        let Some(power) = room.power() else { return vec![] };
        let home = &self.settings.server_name;
        let may = |user: &UserId| user.server_name() != home && power.may_set(user, "m.room.tombstone");
        let people = room.with_members(|m| m.joined(may));
        let servers: BTreeSet<_> = people.iter().map(|user| user.server_name().to_owned()).collect();
        servers.into_iter().take(ASKED).collect()
    }

    /// The same where our homeserver is in the room.
    async fn gets_in(&self, user: &UserId, to: &RoomId) -> Result<bool, FollowError> {
        self.gets_in_by(user, to, &[]).await
    }

    /// `false`: refused, since not invited.
    async fn gets_in_by(
        &self,
        user: &UserId,
        to: &RoomId,
        via: &[OwnedServerName],
    ) -> Result<bool, FollowError> {
        match self.join_as(user, to, via).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_final() => Ok(false),
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
        let leads_here = create["predecessor"]["room_id"].as_str() == Some(room.room_id.as_str());
        // one that is known already is a room of its own
        let known = self.rooms.by_id(to).is_some();
        if known || !leads_here {
            let key = room.key;
            self.store.write(move |tx| tx.set_successor(key, None)).await?;
            room.set_successor(None);
            return Ok(known);
        }
        let (key, new_id) = (room.key, to.to_owned());
        let write = move |tx: &Tx<'_>| tx.move_room(key, &new_id);
        let new = self.write_and_follow(write, |app, row| app.rooms.replace(row)).await?;
        tracing::info!(from = %room.room_id, to = %new.room_id, "went on in the room that a tombstone leads to");
        self.finish_move(&room.room_id, &new, first).await?;
        Ok(true)
    }

    /// Moves that a restart came into.
    pub(crate) async fn finish_moves(self: &Arc<Self>) -> bool {
        let Ok(moves) = self.store.read(|r| r.open_moves()).await else { return false };
        let mut all = true;
        for (old, key) in moves {
            let Some(room) = self.rooms.get(key) else { continue };
            let finished = async {
                match self.first_inside(&room).await? {
                    Some(first) => self.finish_move(&old, &room, &first).await,
                    None => Ok(()),
                }
            };
            if let Err(error) = finished.await {
                tracing::info!(%error, room = %room.room_id, "cannot go on in a room that was upgraded yet");
                all = false;
            }
        }
        all
    }

    /// The first of ours who is inside, or can get in. Who has a seat may not be there yet: a restart came in between.
    async fn first_inside(&self, room: &RoomLive) -> Result<Option<OwnedUserId>, FollowError> {
        let bots = room.kind() == RoomKind::Lobby || self.bot.knows(room.key);
        let bot = bots.then(|| self.settings.bot.clone());
        let agents = self.agents.all().into_iter().filter(|a| !a.ended() && a.is_in(room.key));
        let mut failed = None;
        for user in bot.into_iter().chain(agents.map(|agent| agent.agent.user_id.clone())) {
            match self.gets_in(&user, &room.room_id).await {
                Ok(true) => return Ok(Some(user)),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Everybody in, the room read, and out of the old one. Each part can be repeated.
    async fn finish_move(
        self: &Arc<Self>,
        old: &RoomId,
        new: &Arc<RoomLive>,
        first: &UserId,
    ) -> Result<(), FollowError> {
        let bot = &self.settings.bot;
        let mut inside = self.settle_down(new, first, Some(old)).await?;
        if self.bot.knows(new.key) && first != bot && self.gets_in(bot, &new.room_id).await? {
            inside.push(bot.clone());
        }
        for puppet in inside {
            self.leave_old(&puppet, old).await?;
        }
        let old = old.to_owned();
        Ok(self.store.write(move |tx| tx.move_done(&old)).await?)
    }

    async fn leave_old(&self, puppet: &UserId, old: &RoomId) -> Result<(), FollowError> {
        match self.client.leave(puppet, old, None).await {
            Err(error) if error.is_final() => {
                tracing::info!(%error, %puppet, "cannot leave a room that was upgraded");
                Ok(())
            }
            left => Ok(left?),
        }
    }

    /// Where people let the bot into the new room, it brings those with it that they had let in before.
    async fn taken_along(&self, user: &UserId, new: &RoomLive, first: &UserId) -> Result<bool, FollowError> {
        if *first != self.settings.bot || new.kind() == RoomKind::Lobby {
            return Ok(false);
        }
        match self.client.invite(first, &new.room_id, user, None).await {
            Ok(()) => self.gets_in(user, &new.room_id).await,
            Err(error) if error.is_final() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Rooms whose state nobody has read: a restart came in between.
    pub(crate) async fn settle_unread(self: &Arc<Self>) -> bool {
        let mut all = true;
        for room in self.rooms.all().into_iter().filter(|r| r.kind() == RoomKind::Private && !r.state_read())
        {
            let settled = async {
                match self.first_inside(&room).await? {
                    Some(first) => self.settle_down(&room, &first, None).await.map(drop),
                    None => Ok(()),
                }
            };
            if let Err(error) = settled.await {
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
        old: Option<&RoomId>,
    ) -> Result<Vec<OwnedUserId>, FollowError> {
        let inside = self.bring_others(room, first, old).await?;
        self.survey(room, first).await?;
        self.read_all_history(room, first).await?;
        Ok(inside)
    }

    /// Everybody else who can get in comes along; who cannot is out, of the `old` room as well, until somebody invites it.
    async fn bring_others(
        self: &Arc<Self>,
        new: &RoomLive,
        first: &UserId,
        old: Option<&RoomId>,
    ) -> Result<Vec<OwnedUserId>, FollowError> {
        let mut inside: Vec<OwnedUserId> = vec![first.to_owned()];
        for agent in self.agents.all().into_iter().filter(|a| a.user_id() != first && a.is_in(new.key)) {
            let user = agent.user_id();
            if self.gets_in(user, &new.room_id).await?
                || (old.is_some() && self.taken_along(user, new, first).await?)
            {
                inside.push(user.to_owned());
                continue;
            }
            if let Some(old) = old {
                self.leave_old(agent.user_id(), old).await?;
            }
            let (key, at) = (agent.key(), new.key);
            let follow =
                |app: &Arc<Self>, left: Option<SeatRow>| left.into_iter().for_each(|row| app.seat(row));
            self.write_and_follow(move |tx: &Tx<'_>| tx.seat_left(key, at, false), follow).await?;
        }
        Ok(inside)
    }
}
