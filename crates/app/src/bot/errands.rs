//! What the bot was asked to do, carried out.

use std::sync::Arc;

use parlour_domain::{bot::command, ids::RoomKey};
use parlour_matrix::events::Thread;
use parlour_store::{self as store, NewSaying, Tx};
use ruma::{EventId, OwnedEventId, OwnedUserId, UserId};
use serde::{Deserialize, Serialize};

use super::{Words, ask::Ask, commands};
use crate::{app::App, live::RoomLive, survive::survive};

const RETRY_MS: i64 = 1_000;

/// As it is kept until it is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Errand {
    Said { text: String, mentions: Vec<OwnedUserId>, thread: Option<OwnedEventId> },
    Pressed { target: OwnedEventId, yes: bool },
}

impl Errand {
    pub(crate) fn to_json(&self) -> String {
        // text and lists of text always serialise
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl App {
    pub(super) async fn run_errands(self: Arc<Self>) {
        while !self.tasks.stopping() {
            match self.store.read(|r| r.errand_rooms()).await {
                Ok(rooms) => rooms.into_iter().for_each(|room| self.start_errands_in(room)),
                Err(error) => tracing::error!(%error, "cannot read what the bot was asked to do"),
            }
            self.until_told(&self.bot.to_do, None).await;
        }
    }

    fn start_errands_in(self: &Arc<Self>, room: RoomKey) {
        let app = self.clone();
        self.tasks.spawn(async move { app.do_errands_in(room).await });
    }

    /// One after the other, in the order they came.
    async fn do_errands_in(self: &Arc<Self>, room: RoomKey) {
        let Some(mut lane) = self.bot.errands.enter(&room) else { return };
        while !self.tasks.stopping() {
            match self.store.read(move |r| r.next_errand(room)).await {
                Ok(Some(errand)) => self.do_errand(errand).await,
                Ok(None) => {
                    drop(lane);
                    let more = self.store.read(move |r| r.next_errand(room)).await;
                    if !matches!(more, Ok(Some(_))) {
                        return;
                    }
                    let Some(again) = self.bot.errands.enter(&room) else { return };
                    lane = again;
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read what the bot was asked to do");
                    self.let_pass(RETRY_MS).await;
                }
            }
        }
    }

    async fn do_errand(self: &Arc<Self>, errand: store::Errand) {
        let answer = survive("an errand", self.carry_out_errand(&errand)).await;
        if answer.is_none() && self.tasks.stopping() {
            // it may have been cut off: the next start takes it up
            return;
        }
        let id = errand.id;
        let written = self.store.write(move |tx: &Tx<'_>| {
            answer.iter().try_for_each(|saying| tx.put_saying(saying))?;
            tx.errand_done(id)
        });
        match written.await {
            Ok(()) => self.bot.to_say.notify_one(),
            Err(error) => {
                tracing::error!(%error, "cannot note what the bot answers; it is asked again");
                self.let_pass(RETRY_MS).await;
            }
        }
    }

    /// What is to be said to it, if anything.
    async fn carry_out_errand(self: &Arc<Self>, errand: &store::Errand) -> Option<NewSaying> {
        let room = self.rooms.get(errand.room).filter(|room| self.bot_is_in(room))?;
        let what: Errand = serde_json::from_str(&errand.what).ok()?;
        match what {
            Errand::Said { text, mentions, thread } => {
                let ask =
                    Ask { direct: self.is_direct(&room), room, sender: errand.sender.clone(), mentions };
                let words = self.reply(&ask, &text).await?;
                let answers = Thread { event_id: errand.event_id.clone(), root: thread };
                Some(self.answer_to(&ask, &words, &answers))
            }
            Errand::Pressed { target, yes } => {
                let words = self.press(&room, &errand.sender, &target, yes).await?;
                Some(self.notice(room.key, &words, None))
            }
        }
    }

    fn answer_to(&self, ask: &Ask, words: &Words, answers: &Thread) -> NewSaying {
        // that they are alone may not hold any more: then it is not said at all
        if words.is_confidential() {
            return self.confidential(ask.room.key, &ask.sender, words, Some(answers));
        }
        self.notice(ask.room.key, words, Some(answers))
    }

    /// Whoever waits for the notice's event takes nobody else's place.
    async fn press(
        self: &Arc<Self>,
        room: &Arc<RoomLive>,
        by: &UserId,
        target: &EventId,
        yes: bool,
    ) -> Option<Words> {
        let notice = self.notice_pressed(room, target).await?;
        if !self.bot.may_answer(by, self.now()) {
            return None;
        }
        let _place = self.bot.errands.places.acquire().await.ok()?;
        self.pressed(room, by, &notice, yes).await
    }

    async fn reply(self: &Arc<Self>, ask: &Ask, text: &str) -> Option<Words> {
        if !self.is_heard(ask) || !self.bot.may_answer(&ask.sender, self.now()) {
            return None;
        }
        let _place = self.bot.errands.places.acquire().await.ok()?;
        match command::asked(text) {
            command::Asked::Command { verb, rest } => {
                self.bot.understood(&ask.sender);
                commands::carry_out(self, ask, verb, rest).await
            }
            command::Asked::Unclear(meant) => {
                self.bot.may_wonder(&ask.sender).then(|| not_understood(ask, meant))
            }
        }
    }
}

fn not_understood(ask: &Ask, meant: Option<&str>) -> Words {
    let words = Words::new("I do not know that command. ");
    let words = match meant {
        Some(meant) => words.text("Did you mean ").code(ask.typed(meant)).text("? "),
        None => words,
    };
    words.code(ask.typed("help")).text(" lists them all.")
}
