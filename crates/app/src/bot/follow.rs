//! Into rooms, at people's invitation; the greeting; and out again.

use std::sync::Arc;

use parlour_domain::{
    bot::prefix::PREFIX,
    ids::{AgentKey, RoomKey},
    knock::Knock,
    room::RoomKind,
};
use parlour_store::{BotInvitation, Tx, Who};
use ruma::OwnedServerName;

use super::{Words, ask::Ask};
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    tasks::FollowError,
};

/// Before a code is tried again that could not be shown.
const RETRY_MS: i64 = 5_000;

impl App {
    /// What the bot does in the background.
    pub(crate) fn start_bot(self: &Arc<Self>) {
        self.tasks.spawn(self.clone().run_errands());
        self.tasks.spawn(self.clone().speak());
        self.tasks.spawn(self.clone().keep_doors());
        self.tasks.spawn(self.clone().keep_rooms());
    }

    /// Follows an invitation or declines it. `false`: try again.
    pub(crate) async fn follow_or_give_up(self: &Arc<Self>, invitation: &BotInvitation) -> bool {
        let by = &invitation.invited_by;
        self.until_written_down(by, invitation.received_at_ms).await;
        let Ok(_place) = self.following.places.acquire().await else { return true };
        match self.follow_for_bot(invitation).await {
            Ok(true) => true,
            // declined, or done with
            Ok(false) => self.forget_bot_invitation(invitation).await,
            Err(error) if self.is_given_up(&error, by, invitation.received_at_ms) => {
                tracing::info!(%error, room = %invitation.room_id, "the bot cannot follow an invitation");
                self.forget_bot_invitation(invitation).await
            }
            Err(error) => {
                tracing::info!(%error, room = %invitation.room_id, "the bot cannot follow an invitation yet");
                false
            }
        }
    }

    async fn forget_bot_invitation(&self, invitation: &BotInvitation) -> bool {
        let room_id = invitation.room_id.clone();
        self.store.write(move |tx: &Tx<'_>| tx.drop_bot_invitation(&room_id)).await.is_ok()
    }

    /// Whether the bot is in.
    async fn follow_for_bot(self: &Arc<Self>, invitation: &BotInvitation) -> Result<bool, FollowError> {
        let (bot, room_id) = (self.settings.bot.clone(), &invitation.room_id);
        if self.bans.known.is_list(room_id) {
            // it is there to read, and to nobody's service
            self.bans.due.changed(room_id.clone(), self.now());
            return Ok(false);
        }
        let welcome = self.settings.people.invites.allows(&invitation.invited_by, &self.settings.server_name)
            && !self.is_barred_invitation(&invitation.invited_by, room_id);
        let lobby = self.rooms.by_id(room_id).is_some_and(|r| r.kind() == RoomKind::Lobby);
        if !welcome || lobby {
            let why = "The operator of this bridge does not let its bot follow this invitation.";
            self.client.leave(&bot, room_id, Some(why)).await?;
            return Ok(false);
        }
        if let Err(error) = self.ensure_device(&bot).await {
            // what cannot be read then is read once there is one
            tracing::warn!(%error, "the bot enters a room without a device for now");
        }
        let via: Vec<OwnedServerName> = vec![invitation.invited_by.server_name().to_owned()];
        self.join_as(&bot, room_id, &via).await?;
        if let Some(before) = self.rooms.before(room_id) {
            self.go_on_in(&before, room_id, &bot).await?;
        }
        let room = self.known_private_room(room_id).await?;
        // also where it was read before: the bot may have been away since
        let create = self.survey(&room, &bot).await?;
        if create.is_some_and(|c| c.room_type.as_deref() == Some("m.space")) {
            // nobody speaks in a space
            self.client.leave(&bot, room_id, None).await?;
            return Ok(false);
        }
        self.settle_bot_in(&room, invitation).await?;
        Ok(true)
    }

    /// The greeting is in the same commit as what makes it the only one.
    async fn settle_bot_in(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        invitation: &BotInvitation,
    ) -> Result<(), FollowError> {
        let (key, direct, room_id) = (room.key, invitation.direct, invitation.room_id.clone());
        let by = self.by(Who::User(invitation.invited_by.clone()));
        let ask = Ask { room: room.clone(), sender: invitation.invited_by.clone(), mentions: vec![], direct };
        let greeting = self.notice(key, &self.greeting(&ask), None);
        let write = move |tx: &Tx<'_>| {
            if tx.put_bot_room(key, direct, &by)? {
                tx.put_saying(&greeting)?;
            }
            tx.drop_bot_invitation(&room_id)
        };
        self.write_and_follow(write, move |app, ()| app.bot.put_room(key, direct)).await?;
        self.bot.to_say.notify_one();
        self.bot.news.notify_one();
        self.bot.at_door.notify_one();
        Ok(())
    }

    fn greeting(&self, ask: &Ask) -> Words {
        let server = &self.settings.server_name;
        let reads = format!("The operator of the bridge on {server} can read what agents can read.");
        if ask.direct {
            return Words::new("Hello. I let AI agents into rooms: invite me into one, then tell me there or here what to do. ")
                .code("help")
                .text(" says how. ")
                .text(reads);
        }
        Words::new("I let AI agents into this room, if those say so who may invite here. Its number is ")
            .code(ask.room.room().catalog_id.to_string())
            .text(". ")
            .text(reads)
            .text(" How to go on: ")
            .code(format!("{PREFIX} help"))
            .and(&self.what_is_missing(&ask.room))
    }

    /// What people have to change before agents can come in.
    pub(super) fn what_is_missing(&self, room: &RoomLive) -> Words {
        let needed = match room.power() {
            Some(power) if self.inviter(room).is_none() => power.invite,
            _ => return Words::default(),
        };
        Words::new(format!(
            "\nI may not invite here yet. Give me the power level {needed} and agents come in by themselves; else I say whom to invite."
        ))
    }

    /// Memory follows the bot's going.
    pub(crate) fn bot_is_out(&self, room: RoomKey) {
        self.bot.leave_room(room);
        if self.rooms.get(room).is_some_and(|r| r.owner().is_none()) {
            self.doors.shut(room);
        }
    }

    /// Who waits before a room, earliest first.
    pub(super) fn waiting_at(&self, room: &RoomLive) -> Vec<(Arc<AgentLive>, Knock)> {
        let waiting = self.doors.waiting(room.owner(), Some(room.key), self.now());
        let known =
            |((_, agent), knock): ((RoomKey, AgentKey), Knock)| Some((self.agents.get(agent)?, knock));
        waiting.into_iter().filter_map(known).collect()
    }

    /// What follows from news of members and powers: codes that somebody can be shown now, commands that can be
    /// announced.
    async fn keep_rooms(self: Arc<Self>) {
        while !self.tasks.stopping() {
            let delivered = self.deliver_letters().await;
            self.announce_all().await;
            let again_ms = (!delivered).then(|| self.now() + RETRY_MS);
            self.until_told(&self.bot.news, again_ms).await;
        }
    }
}
