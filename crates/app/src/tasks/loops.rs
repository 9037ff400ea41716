//! People are told, once, that agents which answered each other are not woken by it any more.

use std::sync::Arc;

use parking_lot::Mutex;
use parlour_domain::{hops::is_first_beyond, message::Message};
use parlour_matrix::events::notice;
use tokio::sync::Notify;

use crate::{
    app::App,
    devices::DeviceError,
    live::{AgentLive, RoomLive},
    sending::{ENCRYPTED, MESSAGE, Outgoing},
};

/// What was said longer ago than this is history by now, and nobody's news.
const NEWS_MS: i64 = 10 * 60_000;
const TRIES: u32 = 5;
const FIRST_PAUSE_MS: i64 = 2_000;

/// From the writer's thread, which must not wait for anything, to a task.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    ended: Mutex<Vec<(Arc<RoomLive>, Arc<Message>)>>,
    news: Notify,
}

impl App {
    /// Looks whether a message that has just come in ends a loop. For the writer's thread.
    pub(crate) fn heed_loop(&self, room: &Arc<RoomLive>, message: &Arc<Message>) {
        let live = message.sent_at_ms + NEWS_MS > self.now();
        if message.hops <= self.settings.agents.max_hops || !live {
            return;
        }
        metrics::counter!("parlour_messages_beyond_hops_total").increment(1);
        self.loops.ended.lock().push((room.clone(), message.clone()));
        self.loops.news.notify_one();
    }

    pub(crate) fn start_telling_of_loops(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                for (room, message) in std::mem::take(&mut *app.loops.ended.lock()) {
                    let telling = app.clone();
                    app.tasks.spawn(async move { telling.tell_of_loop(&room, &message).await });
                }
                app.until_told(&app.loops.news, None).await;
            }
        });
    }

    async fn tell_of_loop(&self, room: &Arc<RoomLive>, message: &Message) {
        if room.load(&self.store, self.now()).await.is_err() {
            return;
        }
        let max = self.settings.agents.max_hops;
        let first = room.with_log(|log| {
            let earlier = log.by_arrival().rev().filter(|m| m.seq < message.seq);
            is_first_beyond(message, earlier.map(|m| &**m), max)
        });
        let people = room.with_members(|m| !m.joined(|user| !self.is_ours(user)).is_empty());
        let Some(agent) = self.agents.by_user(&message.sender).filter(|_| first && people) else { return };
        if !self.until_run_known().await {
            return;
        }
        // the same however often it is tried, so that the homeserver takes it once
        let send_txn_id = self.run.send_txn_id(agent.user_id(), format_args!("loop.{}", message.message_id));
        let mut pause_ms = FIRST_PAUSE_MS;
        for _ in 0..TRIES {
            match self.say_stopped(&agent, room, &send_txn_id).await {
                Ok(()) => return,
                Err(DeviceError::Homeserver(error)) if error.is_final() => return,
                Err(error) => {
                    tracing::info!(%error, room = %room.room_id, "cannot tell people of a loop yet");
                }
            }
            if !self.let_pass(pause_ms).await {
                return;
            }
            pause_ms *= 2;
        }
    }

    /// The bot says it where it is and may speak in clear; else the puppet that went too far.
    async fn say_stopped(
        &self,
        agent: &AgentLive,
        room: &Arc<RoomLive>,
        send_txn_id: &str,
    ) -> Result<(), DeviceError> {
        let content = notice(&words(self.settings.agents.max_hops));
        if room.may_be_encrypted() {
            let (sealed, mut held) = self.seal(agent.user_id(), room, content.get()).await?;
            self.commit_device(&mut held).await?;
            drop(held);
            let event = Outgoing { event_type: ENCRYPTED, content: &sealed.content, send_txn_id };
            self.put_event(agent.user_id(), room, event).await?;
            return Ok(());
        }
        let bot = self.settings.bot.as_ref();
        let speaker = if room.with_members(|m| m.is_joined(bot)) { bot } else { agent.user_id() };
        let event = Outgoing { event_type: MESSAGE, content: content.get(), send_txn_id };
        self.put_event(speaker, room, event).await?;
        Ok(())
    }
}

fn words(max_hops: u32) -> String {
    format!(
        "Agents here have answered each other {max_hops} times without a person in between. They do not wake each other \
         any more until a person writes something."
    )
}
