use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
};

use parlour_domain::{
    ids::{AgentKey, RoomKey},
    limits::MAX_EVENT_BYTES,
    visibility::Visibility,
};
use parlour_matrix::crypto::{CryptoError, Preparation, Sharing};
use parlour_store::Sealed;
use ruma::{OwnedUserId, UserId};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

use super::{DeviceError, Held, Slot};
use crate::{app::App, live::RoomLive, survey::SurveyError};

/// How often a room may turn out not to be prepared after all: a device came meanwhile.
const TRIES: usize = 4;
const ROUNDS: usize = 40;
/// Where nothing is pushed, news of devices may be so old when a message goes out.
const NEWS_KEEP_MS: i64 = 10_000;
/// What an event may weigh, less its other parts, which the homeserver adds.
const MAX_CONTENT: usize = MAX_EVENT_BYTES - 2_048;

impl App {
    /// Encrypts a message. The machine comes along: what it has to remember is to be committed with the claim, before
    /// the message is sent.
    pub(crate) async fn seal(
        &self,
        user: &UserId,
        room: &Arc<RoomLive>,
        content: &str,
    ) -> Result<(Sealed, Held), DeviceError> {
        let content: &RawValue =
            serde_json::from_str(content).map_err(|e| CryptoError::Sdk(e.to_string()))?;
        self.run_known().await?;
        for _ in 0..TRIES {
            let slot = self.ensure_device(user).await?;
            self.fetch_news(&slot).await;
            self.check_members(user, room).await?;
            match self.prepare(&slot, room).await {
                Err(DeviceError::Crypto(CryptoError::Lost)) => {
                    self.give_up_device(&slot).await;
                    continue;
                }
                prepared => prepared?,
            }
            let mut held = self.hold(&slot).await?;
            match held.encrypt(&room.room_id, "m.room.message", content).await {
                Ok(sealed) => return Ok((sealed_content(&sealed)?, held)),
                Err(CryptoError::NotPrepared) => self.commit_device(&mut held).await?,
                Err(error) => return self.after_call(&mut held, Err(error)).await,
            }
        }
        Err(CryptoError::NotPrepared.into())
    }

    /// Sees to it that everybody who may read a room's messages has this device's key for it.
    pub(crate) async fn prepare(&self, slot: &Arc<Slot>, room: &Arc<RoomLive>) -> Result<(), DeviceError> {
        let mut way = self.preparation(slot, room).await?;
        let _conversation = slot.conversation.lock().await;
        self.check_people(slot).await?;
        for _ in 0..ROUNDS {
            let requests = {
                let mut held = self.hold(slot).await?;
                let requests = held.prepare(&mut way).await;
                self.after_call(&mut held, requests).await?
            };
            if requests.is_empty() {
                return Ok(());
            }
            self.carry_requests(slot, requests).await?;
        }
        Err(DeviceError::NoEnd)
    }

    /// Who is in is known from transactions, which may lag behind: for sure where the speaker's own join is still to come,
    /// and perhaps after a start or an outage. Whoever is missing then could not read what is said.
    async fn check_members(&self, user: &UserId, room: &Arc<RoomLive>) -> Result<(), DeviceError> {
        let doubts = self.keyring.doubts.load(Ordering::Relaxed);
        let just_in = self.agents.by_user(user).is_some_and(|agent| agent.is_just_in(room.key));
        if !room.state_read() || (room.is_checked(doubts) && !just_in) {
            return Ok(());
        }
        match self.survey_anew(user, room).await {
            // out since: the message will be refused
            Err(SurveyError::Homeserver(error)) if error.is_final() => {}
            surveyed => {
                if surveyed? {
                    room.set_checked(doubts);
                }
            }
        }
        Ok(())
    }

    /// `false`: people came and went all the while.
    async fn survey_anew(&self, user: &UserId, room: &Arc<RoomLive>) -> Result<bool, SurveyError> {
        for _ in 0..TRIES {
            if self.survey_people(room, user).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// After a start or an outage, word of people's new devices may have been lost: they are asked for again.
    async fn check_people(&self, slot: &Arc<Slot>) -> Result<(), DeviceError> {
        let doubts = self.keyring.doubts.load(Ordering::Relaxed);
        if slot.checked.load(Ordering::Relaxed) < doubts {
            let mut held = self.hold(slot).await?;
            let marked = held.recheck_people().await;
            self.after_call(&mut held, marked).await?;
            slot.checked.fetch_max(doubts, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where the homeserver pushes no news of devices, they are fetched before a message goes out.
    async fn fetch_news(&self, slot: &Arc<Slot>) {
        let Some(app) = self.me.upgrade() else { return };
        if self.keyring.is_pushed() || slot.pulled_since(self.now() - NEWS_KEEP_MS) {
            return;
        }
        if let Err(error) = app.pull_device(slot).await {
            tracing::info!(%error, user = %slot.user, "cannot fetch news of devices; asking for people's keys again");
            slot.checked.store(0, Ordering::Relaxed);
        }
    }

    /// Ahead of the first message, in the background.
    pub(crate) fn prepare_ahead(&self, agent: AgentKey, room: RoomKey) {
        let (Some(app), Some(agent), Some(room)) =
            (self.me.upgrade(), self.agents.get(agent), self.rooms.get(room))
        else {
            return;
        };
        if !room.encrypted() {
            return;
        }
        let tasks = app.tasks.clone();
        tasks.spawn(async move {
            let prepared = async {
                let slot = app.ensure_device(agent.user_id()).await?;
                app.prepare(&slot, &room).await
            };
            if let Err(error) = prepared.await {
                tracing::info!(%error, room = %room.room_id, "a room cannot be prepared for encryption yet");
            }
        });
    }

    async fn preparation(&self, slot: &Arc<Slot>, room: &Arc<RoomLive>) -> Result<Preparation, DeviceError> {
        if !room.state_read() {
            return Err(DeviceError::StateUnknown);
        }
        let encryption = self.encryption_of(slot, room).await?;
        let sharing = self.sharing(&encryption, room)?;
        let members = readers_of(room);
        Ok(Preparation::new(&room.room_id, members, |user| self.is_ours(user), sharing))
    }

    /// Whether a room's way of encryption is one of ours.
    pub(crate) fn speaks(&self, encryption: &RawValue, room: &RoomLive) -> Result<(), DeviceError> {
        self.sharing(encryption, room).map(drop)
    }

    fn sharing(&self, encryption: &RawValue, room: &RoomLive) -> Result<Sharing, DeviceError> {
        Ok(Sharing::of_room(encryption, room.visibility(), self.settings.trust)?)
    }

    /// The content of the room's m.room.encryption, read once.
    pub(crate) async fn encryption_of(
        &self,
        slot: &Arc<Slot>,
        room: &RoomLive,
    ) -> Result<Box<RawValue>, DeviceError> {
        if let Some(known) = room.encryption() {
            return Ok(known);
        }
        let content = self.client.state_content(&slot.user, &room.room_id, "m.room.encryption").await?;
        let content = content.ok_or(DeviceError::StateUnknown)?;
        let content = to_raw_value(&content).map_err(|e| CryptoError::Sdk(e.to_string()))?;
        room.set_encryption(Some(content.clone()));
        Ok(content)
    }
}

/// Who is in, and who is invited where those may read what is said from the invitation on.
fn readers_of(room: &RoomLive) -> HashSet<OwnedUserId> {
    let invited = room.visibility() != Visibility::Joined;
    room.with_members(|members| members.with_membership(|m| m == "join" || (invited && m == "invite")))
}

fn sealed_content(content: &RawValue) -> Result<Sealed, DeviceError> {
    if content.get().len() > MAX_CONTENT {
        return Err(DeviceError::TooLarge);
    }
    let fields: serde_json::Value =
        serde_json::from_str(content.get()).map_err(|e| CryptoError::Sdk(e.to_string()))?;
    let ciphertext = fields["ciphertext"].as_str().ok_or(CryptoError::Algorithm)?;
    Ok(Sealed { content: content.get().to_owned(), digest: ciphertext_digest(ciphertext) })
}

/// By which an own message is known when it comes back.
pub(crate) fn ciphertext_digest(ciphertext: &str) -> [u8; 32] {
    Sha256::digest(ciphertext.as_bytes()).into()
}
