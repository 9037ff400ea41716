//! People invite puppets into their rooms: followed or declined, by the operator's rule.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    ids::{CatalogId, Pos},
    knock::Way,
    quota::DAY_MS,
    room::RoomKind,
};
use parlour_matrix::HsError;
use parlour_store::{BotInvitation, Invitation, NewPrivateRoom, StoreError, Tx, Who};
use ruma::{OwnedRoomId, OwnedServerName, RoomId, UserId};
use tokio::sync::Notify;

use super::backfill::BackfillError;
use crate::{
    app::App,
    live::{AgentLive, Members, RoomLive},
    survey::SurveyError,
};

const PAUSE_MS: i64 = 5_000;
/// What could not be followed within a day is not followed any more.
const FOLLOW_EFFORT_MS: i64 = DAY_MS;
/// A homeserver elsewhere shows ours an invitation before it has written it down (Synapse 1.163). Whoever answers at once is
/// refused: a join for good, and a decline ends at home, so that people there wait for ever.
const WRITTEN_DOWN_MS: i64 = 1_000;
/// A busy one takes longer.
const WRITTEN_DOWN_AT_MOST_MS: i64 = 30_000;

/// Why an invitation could not be followed yet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowError {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FollowError {
    /// Trying again changes nothing.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Homeserver(error) if error.is_final())
    }
}

impl From<SurveyError> for FollowError {
    fn from(error: SurveyError) -> Self {
        match error {
            SurveyError::Homeserver(error) => Self::Homeserver(error),
            SurveyError::Store(error) => Self::Store(error),
        }
    }
}

impl From<BackfillError> for FollowError {
    fn from(error: BackfillError) -> Self {
        match error {
            BackfillError::Homeserver(error) => Self::Homeserver(error),
            BackfillError::Store(error) => Self::Store(error),
        }
    }
}

impl App {
    /// Works off invitations and tombstones: those that come, and those that were left when we ended.
    pub(crate) fn start_following(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                let read = app.start_invitations().await;
                app.until_news(&app.invited, read).await;
            }
        });
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                let all =
                    app.follow_successors().await & app.finish_moves().await & app.settle_unread().await;
                app.until_news(&app.upgraded, all).await;
            }
        });
    }

    /// `done`: nothing is left that has to be tried again.
    async fn until_news(&self, news: &Notify, done: bool) {
        self.until_told(news, (!done).then(|| self.now() + PAUSE_MS)).await;
    }

    /// `false`: they could not be read.
    async fn start_invitations(self: &Arc<Self>) -> bool {
        let Ok((bot, puppets)) = self.open_invitations().await else { return false };
        let rooms = bot.into_iter().map(|i| i.room_id).chain(puppets.into_iter().map(|i| i.room_id));
        rooms.collect::<BTreeSet<_>>().into_iter().for_each(|room| self.follow_into(room));
        true
    }

    async fn open_invitations(&self) -> Result<(Vec<BotInvitation>, Vec<Invitation>), StoreError> {
        self.store.read(|r| Ok((r.bot_invitations()?, r.invitations()?))).await
    }

    fn follow_into(self: &Arc<Self>, room: OwnedRoomId) {
        let app = self.clone();
        self.tasks.spawn(async move {
            let Some(lane) = app.following.enter(&room) else { return };
            app.rests.attempt(&room);
            match app.follow_all_into(&room).await {
                true => app.rests.done(&room),
                false => app.rest(&room).await,
            }
            drop(lane);
            app.invited.notify_one();
        });
    }

    /// A homeserver far away that does not answer is not asked every few seconds for a day.
    async fn rest(&self, room: &OwnedRoomId) {
        let (ms, cut_short) = self.rests.begin(room);
        tokio::select! {
            _ = self.let_pass(ms) => {}
            () = cut_short.notified() => {}
        }
    }

    /// One after the other, the bot first: whoever is first has the room read. `false`: to be tried again.
    async fn follow_all_into(self: &Arc<Self>, room: &RoomId) -> bool {
        let Ok((bot, puppets)) = self.open_invitations().await else { return false };
        let mut all = true;
        for invitation in bot.iter().filter(|i| i.room_id == room) {
            all &= self.follow_or_give_up(invitation).await;
        }
        for invitation in puppets.iter().filter(|i| i.room_id == room) {
            if self.tasks.stopping() {
                return true;
            }
            all &= self.follow_one(invitation).await;
        }
        all
    }

    async fn follow_one(self: &Arc<Self>, invitation: &Invitation) -> bool {
        self.until_written_down(&invitation.invited_by, invitation.received_at_ms).await;
        match self.follow_invitation(invitation).await {
            Ok(()) => self.forget_invitation(invitation).await,
            Err(error) if self.is_given_up(&error, &invitation.invited_by, invitation.received_at_ms) => {
                tracing::info!(%error, room = %invitation.room_id, "an invitation cannot be followed");
                self.leave_given_up(invitation).await;
                self.forget_invitation(invitation).await
            }
            Err(error) => {
                tracing::info!(%error, room = %invitation.room_id, "cannot follow an invitation yet");
                false
            }
        }
    }

    /// An invitation of somebody elsewhere is not answered before their homeserver knows of it, too.
    pub(crate) async fn until_written_down(&self, by: &UserId, received_at_ms: i64) {
        if by.server_name() != self.settings.server_name {
            self.let_pass(received_at_ms + WRITTEN_DOWN_MS - self.now()).await;
        }
    }

    /// Refused for good; or old, and the homeserver has answered: while it is down, nothing grows old.
    pub(crate) fn is_given_up(&self, error: &FollowError, by: &UserId, received_at_ms: i64) -> bool {
        let age_ms = self.now() - received_at_ms;
        let written_down = by.server_name() == self.settings.server_name || age_ms > WRITTEN_DOWN_AT_MOST_MS;
        let answered =
            matches!(error, FollowError::Homeserver(HsError::Refused { .. } | HsError::Unknown(_)));
        (error.is_final() && written_down) || (answered && age_ms > FOLLOW_EFFORT_MS)
    }

    /// Whoever is in by now, and could not be seated, does not stay.
    async fn leave_given_up(&self, invitation: &Invitation) {
        let Some(agent) = self.agents.get(invitation.agent) else { return };
        if let Err(error) = self.client.leave(agent.user_id(), &invitation.room_id, None).await {
            tracing::info!(%error, room = %invitation.room_id, "a puppet cannot leave a room that it did not get to know");
        }
    }

    async fn forget_invitation(&self, invitation: &Invitation) -> bool {
        let done = invitation.clone();
        let forgotten = self.store.write(move |tx| tx.drop_invitation(&done)).await;
        if let Err(error) = &forgotten {
            tracing::warn!(%error, "cannot forget an invitation that is done with");
        }
        forgotten.is_ok()
    }
}

impl App {
    async fn follow_invitation(self: &Arc<Self>, invitation: &Invitation) -> Result<(), FollowError> {
        let Some(agent) = self.agents.get(invitation.agent).filter(|a| !a.ended()) else { return Ok(()) };
        let _one = agent.moving.lock().await;
        // no place is held while waiting for one's turn: an agent's many invitations would take them all
        let _place = self.following.places.acquire().await.map_err(|_| StoreError::Closed)?;
        let room_id = &invitation.room_id;
        let welcome = self.settings.people.invites.allows(&invitation.invited_by, &self.settings.server_name)
            || self.is_expected(&agent, room_id).await;
        let welcome = welcome && !self.is_barred_invitation(&invitation.invited_by, room_id);
        let lobby = self.rooms.by_id(room_id).is_some_and(|r| r.kind() == RoomKind::Lobby);
        if !welcome || lobby {
            let why = "Agents of this bridge do not follow this invitation.";
            return Ok(self.client.leave(agent.user_id(), room_id, Some(why)).await?);
        }
        if let Some(room) = self.rooms.by_id(room_id) {
            self.note_decider(&room, &agent, &invitation.invited_by).await;
        }
        if self.rooms.by_id(room_id).is_some_and(|r| r.state_read()) {
            // the room is known: the event of the join says where the agent's place in it begins
            self.note_invited(&agent, invitation).await?;
        }
        let via: Vec<OwnedServerName> = vec![invitation.invited_by.server_name().to_owned()];
        if let Err(error) = self.ensure_device(agent.user_id()).await {
            // what cannot be read then is read once there is one
            tracing::warn!(%error, "a puppet enters a room without a device for now");
        }
        if let Err(error) = self.expect_history(agent.user_id(), room_id, &invitation.invited_by).await {
            tracing::warn!(%error, "a room's history cannot be expected");
        }
        self.join_as(agent.user_id(), room_id, &via).await?;
        if let Some(before) = self.rooms.before(room_id)
            && self.go_on_in(&before, room_id, agent.user_id()).await?
        {
            return self.take_invited_seat(&agent, invitation).await;
        }
        self.come_to_know(&agent, invitation).await
    }

    /// A room of people, known from here on: its state first (nothing may be said before it is known whether the room
    /// is encrypted), then what was said, then the agent's place in it.
    async fn come_to_know(
        self: &Arc<Self>,
        agent: &AgentLive,
        invitation: &Invitation,
    ) -> Result<(), FollowError> {
        let room_id = &invitation.room_id;
        let room = self.known_private_room(room_id).await?;
        let mut after = None;
        if !room.state_read() {
            let create = self.survey(&room, agent.user_id()).await?;
            if create.is_some_and(|c| c.room_type.as_deref() == Some("m.space")) {
                // nobody speaks in a space
                return Ok(self.client.leave(agent.user_id(), room_id, None).await?);
            }
            if room.encrypted() {
                self.take_shared_history(agent).await;
            }
            after = Some(self.read_history_around_join(&room, agent.user_id()).await?);
        }
        self.seat_invited(agent, &room, &invitation.invited_by, after).await?;
        // with a seat it may be shown what was said before
        if room.encrypted() {
            self.take_shared_history(agent).await;
        }
        Ok(())
    }

    /// What is not there yet is taken in when word of it comes.
    async fn take_shared_history(self: &Arc<Self>, agent: &AgentLive) {
        if let Err(error) = self.fetch_history(agent.user_id()).await {
            tracing::info!(%error, "a room's shared history cannot be fetched yet");
        }
    }

    pub(crate) async fn known_private_room(&self, room_id: &RoomId) -> Result<Arc<RoomLive>, StoreError> {
        if let Some(room) = self.rooms.by_id(room_id) {
            return Ok(room);
        }
        let new = NewPrivateRoom {
            room_id: room_id.to_owned(),
            catalog_id: CatalogId::new(self.now(), self.chance.bytes()),
            name: None,
            created_at_ms: self.now(),
        };
        let write = move |tx: &Tx<'_>| tx.put_private_room(&new);
        self.write_and_follow(write, |app, row| app.rooms.put(row, Members::default())).await
    }

    async fn take_invited_seat(&self, agent: &AgentLive, invitation: &Invitation) -> Result<(), FollowError> {
        match self.rooms.by_id(&invitation.room_id) {
            Some(room) => self.seat_invited(agent, &room, &invitation.invited_by, None).await,
            None => Ok(()),
        }
    }

    async fn note_invited(&self, agent: &AgentLive, invitation: &Invitation) -> Result<(), StoreError> {
        let Some(room) = self.rooms.by_id(&invitation.room_id) else { return Ok(()) };
        let (key, at) = (agent.key(), room.key);
        let by = self.by(Who::User(invitation.invited_by.clone()));
        self.store.write(move |tx| tx.let_in(key, at, Way::Invite, &by)).await
    }

    async fn seat_invited(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        by: &UserId,
        after: Option<Pos>,
    ) -> Result<(), FollowError> {
        let (key, at, by) = (agent.key(), room.key, self.by(Who::User(by.to_owned())));
        let write = move |tx: &Tx<'_>| {
            tx.let_in(key, at, Way::Invite, &by)?;
            tx.settle_knock(key, at)?;
            match after {
                Some(after) => tx.seat_placed(key, at, after),
                None => tx.seat_taken(key, at),
            }
        };
        let follow = move |app: &Arc<Self>, row| {
            app.doors.leave(at, key);
            app.bot.at_door.notify_one();
            app.seat(row);
        };
        self.write_and_follow(write, follow).await?;
        self.prepare_ahead(key, room.key);
        self.hub.nudge(key);
        Ok(())
    }

    /// It knocks there, or somebody who manages the room said that it may come in.
    async fn is_expected(&self, agent: &AgentLive, room_id: &RoomId) -> bool {
        let Some(room) = self.rooms.by_id(room_id) else { return false };
        let (key, at) = (agent.key(), room.key);
        let pass = || self.store.read(move |r| r.pass(key, at));
        self.waits_at(&room, agent) || pass().await.is_ok_and(|pass| pass.is_some_and(|p| p.holds()))
    }
}
