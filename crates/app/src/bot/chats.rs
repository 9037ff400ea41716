//! Direct, encrypted chats with people: where codes are said. The bot makes one where there is none.

use std::sync::Arc;

use parlour_domain::{
    fault::Fault,
    ids::{CatalogId, RoomKey},
    share::{Place, share},
};
use parlour_matrix::{CreateRoom, HsError, events::CATALOG_KEY};
use parlour_store::{BotChat, NewPrivateRoom, NewSaying, Tx, Who};
use ruma::{OwnedRoomId, OwnedUserId, RoomId, UserId};
use serde_json::json;

use super::Words;
use crate::{
    app::App,
    live::{Members, RoomLive},
    view::CodeState,
};

/// What became of showing somebody a code.
#[derive(Debug)]
pub(super) enum Shown {
    /// It was asked for where it may be said.
    Here(Words),
    InChat,
    /// There is a chat now, and they are invited.
    Invited,
    /// They were invited before and have not come.
    Expected,
    /// No device of theirs can read it.
    Deaf,
}

impl App {
    /// Shows a room's code in a chat with a person alone, now or once they come. `asked_in`: where they asked.
    pub(super) async fn show_code_to(
        self: &Arc<Self>,
        person: &OwnedUserId,
        room: &Arc<RoomLive>,
        asked_in: &RoomLive,
    ) -> Result<Shown, Fault> {
        if let Some(chat) = self.chat_to_speak_in(person) {
            if !self.reaches(person, &chat).await? {
                return Ok(Shown::Deaf);
            }
            let words = self.words_of_code(room).await?;
            self.note_code_shown(room, Who::User(person.clone())).await?;
            if chat.key == asked_in.key {
                return Ok(Shown::Here(words));
            }
            let letter = self.confidential(chat.key, person, &words, None);
            self.send_letter(letter, person, room.key).await?;
            return Ok(Shown::InChat);
        }
        let (user, key, now) = (person.clone(), room.key, self.now());
        self.store.write(move |tx: &Tx<'_>| tx.put_letter(&user, key, now)).await?;
        self.invite_to_chat(person).await
    }

    /// Codes that wait for somebody who has come meanwhile. `false`: one of them is to be tried again.
    pub(super) async fn deliver_letters(self: &Arc<Self>) -> bool {
        let Ok(letters) = self.store.read(|r| r.letters()).await else { return false };
        let mut all = true;
        for (person, room) in letters {
            if let Err(fault) = self.deliver_letter(&person, room).await {
                tracing::info!(%fault, cause = fault.cause, "a code cannot be shown to somebody yet");
                all = false;
            }
        }
        all
    }

    async fn deliver_letter(self: &Arc<Self>, person: &OwnedUserId, key: RoomKey) -> Result<(), Fault> {
        let Some(chat) = self.chat_to_speak_in(person) else { return Ok(()) };
        let room = self.rooms.get(key).filter(|room| self.is_managed(room) && self.manages(room, person));
        let Some(room) = room else {
            let user = person.clone();
            return Ok(self.store.write(move |tx: &Tx<'_>| tx.drop_letter(&user, key)).await?);
        };
        if self.reaches(person, &chat).await? {
            let words = self.words_of_code(&room).await?;
            self.note_code_shown(&room, Who::User(person.clone())).await?;
            return self.send_letter(self.confidential(chat.key, person, &words, None), person, key).await;
        }
        let deaf = Words::new(
            "I cannot send you the code: none of your devices reads encrypted messages. Sign in with a client that does, then ask me again.",
        );
        self.send_letter(self.notice(key, &deaf, None), person, key).await
    }

    /// Said, and no longer owed, in one commit.
    async fn send_letter(&self, letter: NewSaying, person: &UserId, of: RoomKey) -> Result<(), Fault> {
        let user = person.to_owned();
        let write = self.store.write(move |tx: &Tx<'_>| {
            tx.put_saying(&letter)?;
            tx.drop_letter(&user, of)
        });
        write.await?;
        self.bot.to_say.notify_one();
        Ok(())
    }

    /// An encrypted chat in which the person is, alone with the bot.
    fn chat_to_speak_in(&self, person: &UserId) -> Option<Arc<RoomLive>> {
        let rooms = self.bot.all().into_keys().filter_map(|key| self.rooms.get(key));
        // the latest: older ones may have been forgotten
        rooms.filter(|room| self.is_alone_with(room, person)).last()
    }

    pub(super) fn is_alone_with(&self, room: &RoomLive, person: &UserId) -> bool {
        self.bot_is_in(room)
            && self.is_direct(room)
            && room.encrypted()
            && room.with_members(|m| m.is_joined(person))
    }

    /// Whether the person has a device that can read what is said there.
    async fn reaches(&self, person: &UserId, chat: &Arc<RoomLive>) -> Result<bool, Fault> {
        let reached = async {
            let slot = self.ensure_device(&self.settings.bot).await?;
            self.prepare(&slot, chat).await?;
            let held = self.hold(&slot).await?;
            Ok(held.reaches(person, self.settings.trust).await?)
        };
        reached.await.map_err(|error| self.device_fault(error))
    }

    async fn words_of_code(&self, room: &RoomLive) -> Result<Words, Fault> {
        let access = self.access(room).await?;
        let name = match &access.room.name {
            Some(name) => Words::default().bold(name),
            None => Words::new("your room"),
        };
        let number = access.room.catalog_id;
        let CodeState::Visible(code) = access.code else {
            return Ok(Words::new("The Agent code of ")
                .and(&name)
                .text(" cannot be shown any more. Make a new one: ")
                .code(format!("code new {number}")));
        };
        let place = Place { public_url: &self.settings.public_url, room: number };
        let share = share(place, Some(code));
        Ok(Words::new("The Agent code of ")
            .and(&name)
            .text(": ")
            .code(code.reveal())
            .text("\nWhoever has it can send an agent in. This is what to give the agent:\n")
            .code(share.en)
            .text("\n")
            .code(share.zh)
            .confidential())
    }

    async fn invite_to_chat(self: &Arc<Self>, person: &OwnedUserId) -> Result<Shown, Fault> {
        let user = person.clone();
        let before = self.store.read(move |r| r.chat_with(&user)).await?;
        let known = before.and_then(|chat| chat.room_id).and_then(|id| self.rooms.by_id(&id));
        if let Some(chat) = known.filter(|chat| self.bot_is_in(chat) && chat.encrypted()) {
            let membership = chat.with_members(|m| m.get(person).map(|m| m.membership.clone()));
            if membership.as_deref() == Some("invite") {
                return Ok(Shown::Expected);
            }
            let why = "I have a code for you.";
            let invited = self.client.invite(&self.settings.bot, &chat.room_id, person, Some(why)).await;
            return invited.map(|()| Shown::Invited).map_err(|e| self.homeserver_fault(e));
        }
        self.make_chat(person).await.map(|()| Shown::Invited)
    }

    async fn make_chat(self: &Arc<Self>, person: &OwnedUserId) -> Result<(), Fault> {
        let (user, number) = (person.clone(), CatalogId::new(self.now(), self.chance.bytes()));
        let claim = self
            .store
            .write(move |tx: &Tx<'_>| {
                // one that the bot is not in any more is none
                if tx.claim_chat(&user, number)?.room_id.is_some() {
                    tx.drop_chat(&user)?;
                }
                tx.claim_chat(&user, number)
            })
            .await?;
        if claim.catalog_id != number && self.look_for_chat(&claim).await? {
            return Ok(());
        }
        match self.client.create_room(&self.settings.bot, self.chat_ordered(&claim)).await {
            Ok(room_id) => self.take_chat(&claim, &room_id).await,
            Err(HsError::Unknown(cause)) if self.look_for_chat(&claim).await? => {
                tracing::info!(cause, "making a chat had no clear answer; it is there");
                Ok(())
            }
            Err(error) => Err(self.homeserver_fault(error)),
        }
    }

    fn chat_ordered(&self, claim: &BotChat) -> CreateRoom {
        let state = |kind: &str, content| json!({"type": kind, "state_key": "", "content": content});
        CreateRoom {
            initial_state: vec![
                state("m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"})),
                state("m.room.history_visibility", json!({"history_visibility": "invited"})),
                state("m.room.guest_access", json!({"guest_access": "forbidden"})),
            ],
            creation_content: json!({CATALOG_KEY: claim.catalog_id}),
            invite: vec![claim.user_id.clone()],
            is_direct: true,
            ..CreateRoom::default()
        }
    }

    /// Among the bot's rooms: a chat that was made and never answered.
    async fn look_for_chat(self: &Arc<Self>, claim: &BotChat) -> Result<bool, Fault> {
        let bot = &self.settings.bot;
        let joined = self.client.joined_rooms(bot).await.map_err(|e| self.homeserver_fault(e))?;
        for room_id in joined.iter().filter(|id| self.rooms.by_id(id).is_none()) {
            let create = self.client.state_content(bot, room_id, "m.room.create").await;
            let create = create.map_err(|e| self.homeserver_fault(e))?.unwrap_or_default();
            if create[CATALOG_KEY].as_str().and_then(CatalogId::parse) == Some(claim.catalog_id) {
                self.take_chat(claim, room_id).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn take_chat(self: &Arc<Self>, claim: &BotChat, room_id: &RoomId) -> Result<(), Fault> {
        let (number, id, now): (_, OwnedRoomId, _) = (claim.catalog_id, room_id.to_owned(), self.now());
        let by = self.by(Who::User(claim.user_id.clone()));
        let write = move |tx: &Tx<'_>| {
            tx.settle_chat(number, &id)?;
            let new = NewPrivateRoom { room_id: id, catalog_id: number, name: None, created_at_ms: now };
            let row = tx.put_private_room(&new)?;
            tx.put_bot_room(row.room.key, true, &by)?;
            Ok(row)
        };
        let follow = |app: &Arc<Self>, row: parlour_store::RoomRow| {
            app.bot.put_room(row.room.key, true);
            app.rooms.put(row, Members::default())
        };
        let room = self.write_and_follow(write, follow).await?;
        self.survey(&room, &self.settings.bot).await.map_err(Fault::unavailable)?;
        self.bot.news.notify_one();
        Ok(())
    }
}
