//! A knock, shown in the room: a notice with two signs to press, which says in the end what became of it. Everything is
//! made from what is stored, so that it can be made again after an end in the middle.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{
    ids::{AgentKey, RoomKey},
    knock::Status,
};
use parlour_store::{DoorNotice, StoreError, Tx};
use ruma::UserId;

use super::{
    Words,
    press::{NO, YES},
};
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
};

/// Where nothing is due, and nobody says otherwise.
const LOOK_MS: i64 = 10 * 60_000;
const RETRY_MS: i64 = 2_000;

impl App {
    pub(super) async fn keep_doors(self: Arc<Self>) {
        while !self.tasks.stopping() {
            let until_ms = match self.settle_doors().await {
                Ok(next_ms) => next_ms.unwrap_or(self.now() + LOOK_MS),
                Err(error) => {
                    tracing::error!(%error, "cannot read who knocks");
                    self.now() + RETRY_MS
                }
            };
            self.until_told(&self.bot.at_door, Some(until_ms)).await;
        }
    }

    /// Tells of knocks that are new, and what became of those that are not. When the next one lapses comes back.
    async fn settle_doors(&self) -> Result<Option<i64>, StoreError> {
        let notices = self.store.read(|r| r.door_notices()).await?;
        let told: BTreeSet<_> = notices.iter().map(|n| (n.room, n.agent)).collect();
        for room in self.bot.all().into_keys().filter_map(|key| self.rooms.get(key)) {
            if self.is_managed(&room) {
                self.tell_of_knocks(&room, &told).await?;
            }
        }
        let mut next_ms: Option<i64> = None;
        for notice in notices {
            let lapses_ms = self.settle_notice(notice).await?;
            next_ms = [next_ms, lapses_ms].into_iter().flatten().min();
        }
        Ok(next_ms)
    }

    async fn tell_of_knocks(
        &self,
        room: &Arc<RoomLive>,
        told: &BTreeSet<(RoomKey, AgentKey)>,
    ) -> Result<(), StoreError> {
        for (agent, _) in self.waiting_at(room) {
            let (key, at) = (agent.key(), room.key);
            if told.contains(&(at, key)) {
                continue;
            }
            let saying = self.notice(at, &knocking(&agent), None);
            let write = move |tx: &Tx<'_>| {
                tx.put_door_notice(at, key, saying.mark)?;
                tx.put_saying(&saying)
            };
            self.store.write(write).await?;
            self.bot.to_say.notify_one();
            self.knock_really(room.clone(), agent);
        }
        Ok(())
    }

    /// When it lapses, if it waits.
    async fn settle_notice(&self, notice: DoorNotice) -> Result<Option<i64>, StoreError> {
        // not in the room yet: it is looked at again once it is
        let Some(event_id) = notice.event_id.clone() else { return Ok(None) };
        let (at, key) = (notice.room, notice.agent);
        if let Some(knock) = notice.knock.filter(|k| k.waits(self.now())) {
            if !notice.offered {
                let signs = [YES, NO].map(|sign| self.sign(at, &event_id, sign));
                let write = move |tx: &Tx<'_>| {
                    signs.iter().try_for_each(|sign| tx.put_saying(sign))?;
                    tx.door_offered(at, key)
                };
                self.store.write(write).await?;
                self.bot.to_say.notify_one();
            }
            return Ok(Some(knock.expires_at_ms()));
        }
        if let (Some(agent), Some(room)) = (self.agents.get(key), self.rooms.get(at)) {
            self.knock_no_more(&agent, &room).await;
        }
        let words = self.what_became_of(&notice).await?;
        let saying = self.changed_notice(at, &event_id, words.said());
        let write = move |tx: &Tx<'_>| {
            tx.put_saying(&saying)?;
            tx.drop_door_notice(at, key)
        };
        self.store.write(write).await?;
        self.bot.to_say.notify_one();
        Ok(None)
    }

    async fn what_became_of(&self, notice: &DoorNotice) -> Result<Words, StoreError> {
        let agent = notice.agent;
        let name = self.store.read(move |r| r.agent_name(agent)).await?.unwrap_or_default();
        let name = Words::default().bold(name);
        let by = notice.decided_by.as_ref().map(|user| self.shown_name(notice.room, user));
        let by = by.map_or_else(|| Words::new("."), |by| Words::new(" by ").bold(by).text("."));
        Ok(match notice.knock.map(|k| k.status(self.now())) {
            Some(Status::Admitted) => Words::new(format!("{YES} ")).and(&name).text(" was let in").and(&by),
            Some(Status::Declined) => {
                Words::new(format!("{NO} ")).and(&name).text(" was turned away").and(&by)
            }
            Some(Status::Expired) => {
                name.text(" knocked, and nobody answered within the hour. It may knock again.")
            }
            Some(Status::Waiting) | None => name.text(" knocked, and is gone."),
        })
    }

    /// What somebody is called in a room.
    fn shown_name(&self, room: RoomKey, user: &UserId) -> String {
        let room = self.rooms.get(room);
        let name =
            room.and_then(|room| room.with_members(|m| m.get(user).and_then(|m| m.display_name.clone())));
        name.filter(|n| !n.trim().is_empty()).unwrap_or_else(|| user.to_string())
    }

    /// Whose word it is that answers a knock, for the notice.
    pub(crate) async fn note_decider(&self, room: &RoomLive, agent: &AgentLive, by: &UserId) {
        let (at, key, by) = (room.key, agent.key(), by.to_owned());
        if let Err(error) = self.store.write(move |tx: &Tx<'_>| tx.door_decided(at, key, &by)).await {
            tracing::warn!(%error, "cannot note who answers a knock");
        }
    }
}

fn knocking(agent: &AgentLive) -> Words {
    Words::new("🚪 ").bold(&agent.agent.display_name).text(format!(
        ", an AI agent, asks to be let in. Whoever may invite here answers with {YES} or {NO}."
    ))
}
