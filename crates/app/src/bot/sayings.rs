//! What the bot says, on its way out.

use std::sync::Arc;

use parlour_domain::{
    ids::{MessageId, RoomKey},
    quota::DAY_MS,
};
use parlour_matrix::{
    HsError,
    events::{Said, Thread, bot_edit, bot_notice, reaction},
};
use parlour_store::{NewSaying, Saying, StoreError, Tx};
use ruma::{EventId, OwnedEventId, UserId};
use serde_json::Value;

use super::Words;
use crate::{
    app::App,
    devices::{DeviceError, Held},
    live::RoomLive,
    sending::{ENCRYPTED, MESSAGE, Outgoing, Unclear},
};

const FIRST_PAUSE_MS: i64 = 500;
const LONGEST_PAUSE_MS: i64 = 60_000;
/// What could not be said within a day is not said any more.
const EFFORT_MS: i64 = DAY_MS;

/// Why something was not said.
#[derive(Debug, thiserror::Error)]
enum SayError {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("what was to be said cannot be opened")]
    Sealed,
    #[error("others would read it")]
    Overheard,
}

impl SayError {
    /// While the homeserver is down, nothing grows old.
    fn is_an_answer(&self) -> bool {
        matches!(self, Self::Homeserver(HsError::Refused { .. } | HsError::Unknown(_)))
    }

    /// Trying again changes nothing.
    fn is_final(&self) -> bool {
        match self {
            Self::Homeserver(error) => error.is_final(),
            Self::Device(error) => matches!(error, DeviceError::TooLarge),
            Self::Store(_) => false,
            Self::Sealed | Self::Overheard => true,
        }
    }
}

impl App {
    pub(super) fn notice(&self, room: RoomKey, words: &Words, answers: Option<&Thread>) -> NewSaying {
        self.saying(room, MESSAGE, |mark| bot_notice(words.said(), answers, mark))
    }

    pub(super) fn changed_notice(&self, room: RoomKey, target: &EventId, said: &Said) -> NewSaying {
        self.saying(room, MESSAGE, |mark| bot_edit(target, said, mark))
    }

    pub(super) fn sign(&self, room: RoomKey, target: &EventId, key: &str) -> NewSaying {
        self.saying(room, "m.reaction", |mark| reaction(target, key, mark))
    }

    fn saying(&self, room: RoomKey, event_type: &str, content: impl FnOnce(MessageId) -> Value) -> NewSaying {
        let mark = MessageId::new(self.now(), self.chance.bytes());
        let content = content(mark).to_string();
        NewSaying {
            content: self.sealing.seal(&place(&mark), content.as_bytes()),
            mark,
            room,
            event_type: event_type.to_owned(),
            only_for: None,
            made_at_ms: self.now(),
        }
    }

    /// A notice to somebody alone. If the chat is not theirs alone by the time, it is not said.
    pub(super) fn confidential(
        &self,
        room: RoomKey,
        person: &UserId,
        words: &Words,
        answers: Option<&Thread>,
    ) -> NewSaying {
        NewSaying { only_for: Some(person.to_owned()), ..self.notice(room, words, answers) }
    }

    pub(super) async fn speak(self: Arc<Self>) {
        while !self.tasks.stopping() {
            match self.store.read(|r| r.saying_rooms()).await {
                Ok(rooms) => rooms.into_iter().for_each(|room| self.start_speaking_in(room)),
                Err(error) => tracing::error!(%error, "cannot read what the bot is to say"),
            }
            self.until_told(&self.bot.to_say, None).await;
        }
    }

    fn start_speaking_in(self: &Arc<Self>, room: RoomKey) {
        let app = self.clone();
        self.tasks.spawn(async move { app.speak_in(room).await });
    }

    async fn speak_in(self: &Arc<Self>, room: RoomKey) {
        if !self.until_run_known().await {
            return;
        }
        let Some(mut lane) = self.bot.sayings.enter(&room) else { return };
        let mut pause_ms = FIRST_PAUSE_MS;
        while !self.tasks.stopping() {
            let said = match self.store.read(move |r| r.next_saying(room)).await {
                Ok(Some(saying)) => self.say_or_drop(saying).await,
                Ok(None) => {
                    drop(lane);
                    let more = self.store.read(move |r| r.next_saying(room)).await;
                    if !matches!(more, Ok(Some(_))) {
                        return;
                    }
                    let Some(again) = self.bot.sayings.enter(&room) else { return };
                    lane = again;
                    true
                }
                Err(_) => false,
            };
            if said {
                pause_ms = FIRST_PAUSE_MS;
                continue;
            }
            if !self.let_pass(pause_ms).await {
                return;
            }
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
    }

    /// `false`: to be tried again.
    async fn say_or_drop(self: &Arc<Self>, saying: Saying) -> bool {
        let Ok(_place) = self.bot.sayings.places.acquire().await else { return false };
        let done = match self.say(saying.clone()).await {
            Ok(event_id) => {
                let of_notice = self.store.write(move |tx: &Tx<'_>| tx.saying_sent(&saying, &event_id)).await;
                self.bot.at_door.notify_one();
                of_notice
            }
            Err(error)
                if error.is_final()
                    || (error.is_an_answer() && saying.made_at_ms + EFFORT_MS < self.now()) =>
            {
                tracing::info!(%error, "something that the bot was to say cannot be said");
                self.store.write(move |tx: &Tx<'_>| tx.saying_refused(&saying)).await
            }
            Err(error) => {
                tracing::info!(%error, "the bot cannot say something yet");
                return false;
            }
        };
        done.is_ok()
    }

    /// Looked for first where the homeserver may have it; then the same bytes under the same id.
    async fn say(&self, mut saying: Saying) -> Result<OwnedEventId, SayError> {
        let room = self.rooms.get(saying.room).ok_or(SayError::Sealed)?;
        self.check_alone(&saying, &room)?;
        if saying.tried
            && let Some(event_id) =
                self.find_sent(&self.settings.bot, &room, unclear(&saying, &self.settings.bot)).await?
        {
            return Ok(event_id);
        }
        let content =
            self.sealing.open(&place(&saying.mark), &saying.content).map_err(|_| SayError::Sealed)?;
        let content = std::str::from_utf8(&content).map_err(|_| SayError::Sealed)?;
        if !saying.tried || must_be_sealed(&saying, &room) {
            self.commit_saying(&mut saying, &room, content).await?;
        }
        self.put_saying_there(&saying, &room, content).await
    }

    fn check_alone(&self, saying: &Saying, room: &RoomLive) -> Result<(), SayError> {
        let alone = saying.only_for.as_ref().is_none_or(|person| self.is_alone_with(room, person));
        if alone { Ok(()) } else { Err(SayError::Overheard) }
    }

    /// On disk, with its ratchet, before the homeserver hears of it.
    async fn commit_saying(
        &self,
        saying: &mut Saying,
        room: &Arc<RoomLive>,
        content: &str,
    ) -> Result<(), SayError> {
        let mut held: Option<Held> = None;
        if must_be_sealed(saying, room) {
            let (sealed, machine) = self.seal(&self.settings.bot, room, content).await?;
            saying.encrypted = Some(sealed);
            held = Some(machine);
        }
        let batch = held.as_mut().and_then(Held::take);
        let (id, encrypted) = (saying.id, saying.encrypted.clone());
        let write = self.store.write(move |tx: &Tx<'_>| {
            batch.iter().try_for_each(|batch| batch.put(tx))?;
            tx.saying_tried(id, encrypted.as_ref())
        });
        write.await?;
        held.iter_mut().for_each(Held::committed);
        Ok(())
    }

    async fn put_saying_there(
        &self,
        saying: &Saying,
        room: &RoomLive,
        content: &str,
    ) -> Result<OwnedEventId, SayError> {
        let (event_type, content) = match &saying.encrypted {
            Some(sealed) => (ENCRYPTED, sealed.content.as_str()),
            None if must_be_sealed(saying, room) => {
                return Err(HsError::NotSent("the room is encrypted".to_owned()).into());
            }
            None => (saying.event_type.as_str(), content),
        };
        // somebody may have come while it was encrypted
        self.check_alone(saying, room)?;
        // another id where it goes out sealed after all
        let way = if saying.encrypted.is_some() { "sealed" } else { "plain" };
        let bot = &self.settings.bot;
        let send_txn_id = self.run.send_txn_id(bot, format_args!("{}.{way}", saying.mark));
        let event = Outgoing { event_type, content, send_txn_id: &send_txn_id };
        Ok(self.put_event(bot, room, event).await?)
    }
}

/// Not encrypted yet, or by a device that must not speak any more.
fn must_be_sealed(saying: &Saying, room: &RoomLive) -> bool {
    let sealed = saying.encrypted.as_ref().is_some_and(|sealed| !sealed.content.is_empty());
    saying.event_type == MESSAGE && room.may_be_encrypted() && !sealed
}

fn unclear<'a>(saying: &'a Saying, bot: &'a UserId) -> Unclear<'a> {
    Unclear { sender: bot, mark: saying.mark, sealed: saying.encrypted.as_ref(), since_ms: saying.made_at_ms }
}

fn place(mark: &MessageId) -> [&[u8]; 2] {
    [b"bot saying", mark.0.as_bytes()]
}
