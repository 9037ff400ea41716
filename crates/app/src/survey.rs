//! Reading a room as one of ours who is in it: the bot in lobbies, some agent's puppet in private rooms, where the bot
//! is not.

use std::sync::Arc;

use parlour_domain::room::RoomKind;
use parlour_matrix::{
    HsError, Incoming,
    events::{Create, Power, StateChange, StateEvent},
};
use parlour_store::StoreError;
use ruma::{OwnedUserId, UserId};
use serde_json::value::RawValue;

use crate::{
    app::App,
    ingest::Planner,
    live::{Members, RoomLive},
};

/// Why a room's state is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SurveyError {
    #[error(transparent)]
    Homeserver(#[from] HsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Somebody of ours who may read the room; `None`: nobody is in it.
    pub(crate) fn reader(&self, room: &RoomLive) -> Option<OwnedUserId> {
        if room.kind() == RoomKind::Lobby {
            return Some(self.settings.bot.clone());
        }
        let here = |user: &UserId| {
            *user == self.settings.bot || self.agents.by_user(user).is_some_and(|a| a.is_in(room.key))
        };
        room.with_members(|m| m.joined(here)).into_iter().next()
    }

    /// Takes in all of a room's state: who is in, who may do what, whether it is encrypted. How it began comes back.
    pub(crate) async fn survey(
        &self,
        room: &Arc<RoomLive>,
        reader: &UserId,
    ) -> Result<Option<Create>, SurveyError> {
        let raw = self.client.room_state(reader, &room.room_id).await?;
        let mut planner = Planner::new(self, self.now());
        let mut create: Option<Create> = None;
        for event in &raw {
            match Incoming::parse(event, Some(&room.room_id)) {
                Incoming::State(StateEvent { change: StateChange::Create(c), .. }) => create = Some(c),
                // known before anything opens the room to agents
                Incoming::State(StateEvent { change: StateChange::Encryption { .. }, .. }) => {
                    room.set_encrypted();
                }
                _ => {}
            }
        }
        for event in &raw {
            planner.take(event, Some(&room.room_id)).await;
        }
        if let Some(create) = &create {
            let power = room.power().map_or_else(|| Power::absent(create), |p| p.under(create));
            planner.power(room, power);
        }
        let mut plan = planner.finish();
        self.carry_out(&mut plan, None).await?;
        let key = room.key;
        self.store.write(move |tx| tx.room_state_read(key)).await?;
        room.set_state_read();
        Ok(create)
    }

    /// Who of the people is in, anew; agents' places are settled by the events themselves. `false`: somebody came or went
    /// by transaction while it was read, which is newer, so that nothing of it counts.
    pub(crate) async fn survey_people(
        &self,
        room: &Arc<RoomLive>,
        reader: &UserId,
    ) -> Result<bool, SurveyError> {
        let before = room.with_members(Members::changes);
        let raw = self.client.room_state(reader, &room.room_id).await?;
        let news: Vec<_> = raw.iter().filter(|event| self.is_news_of_people(room, event)).collect();
        if room.with_members(Members::changes) != before {
            return Ok(false);
        }
        let mut planner = Planner::new(self, self.now());
        planner.as_of = Some(before);
        for event in news {
            planner.take(event, Some(&room.room_id)).await;
        }
        self.carry_out(&mut planner.finish(), None).await?;
        Ok(true)
    }

    fn is_news_of_people(&self, room: &RoomLive, event: &RawValue) -> bool {
        let Incoming::State(StateEvent { change: StateChange::Member(member), .. }) =
            Incoming::parse(event, Some(&room.room_id))
        else {
            return false;
        };
        let known = room.with_members(|m| m.get(&member.user).map(|m| m.membership.clone()));
        !self.is_ours(&member.user) && known.as_deref() != Some(member.membership.as_str())
    }
}
