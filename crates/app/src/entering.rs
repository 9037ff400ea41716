//! Into a private room: by its code, by knocking, or because one was let in before.

use std::sync::Arc;

use parlour_domain::{
    code::AgentCode,
    fault::{Code, Fault},
    ids::{AgentKey, RoomKey},
    knock::{Knock, Outcome, Status, Way, code_opens},
    quota::RetryAfter,
    room::RoomKind,
    room_ref::RoomRef,
};
use parlour_matrix::HsError;
use parlour_store::{Overdrawn, SeatRow, StoreError, Tx, Who};
use ruma::{OwnedUserId, UserId};

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    quotas::{guess_charges, knock_charges, overdrawn},
    request::Source,
    view,
};

/// What the digests of codes are made for.
const CODE: &str = "agent code";

/// Where somebody wants to go.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Lobby(Arc<RoomLive>),
    /// A private room's door.
    Door(Arc<RoomLive>),
    Code(AgentCode),
}

impl App {
    /// # Errors
    /// `code_invalid` for what is no code at all; `room_not_found`.
    pub(crate) fn target(&self, room: Option<&str>, code: Option<&str>) -> Result<Target, Fault> {
        if let Some(code) = code {
            return Ok(Target::Code(AgentCode::parse(code)?));
        }
        match self.door(room) {
            Some(door) => Ok(Target::Door(door)),
            None => self.find_lobby(room).map(Target::Lobby),
        }
    }

    /// The private room that a number means, if somebody can open its door.
    fn door(&self, room: Option<&str>) -> Option<Arc<RoomLive>> {
        let RoomRef::Number(number) = RoomRef::parse(room) else { return None };
        let room = self.rooms.by_number(number)?;
        let answered = room.owner().is_some() || self.is_managed(&room);
        let answered = answered && !self.is_barred_room(&room.room_id);
        (room.kind() == RoomKind::Private && !room.closed() && answered).then_some(room)
    }

    /// By which a code is found.
    pub(crate) fn code_digest(&self, code: AgentCode) -> [u8; 32] {
        self.sealing.lookup(CODE, &code.canonical())
    }

    /// The room that a code opens for this agent, or for a stranger. Costs the source a guess where it opens none, and
    /// nothing is said about why.
    pub(crate) async fn room_of_code(
        &self,
        code: AgentCode,
        agent: Option<AgentKey>,
        source: Source,
    ) -> Result<Arc<RoomLive>, Fault> {
        let (digest, now) = (self.code_digest(code), self.now());
        let charges = guess_charges(&self.settings.limits, source);
        let found = self.store.write(move |tx| {
            let taken = match tx.charge(&charges, now)? {
                Ok(taken) => taken,
                Err(Overdrawn(retry_after)) => return Ok(Err(retry_after)),
            };
            let found = opened(tx, &digest, agent)?;
            if found.is_some() {
                tx.refund(&charges, &taken)?;
            }
            Ok(Ok(found))
        });
        let found = found.await?.map_err(|r| overdrawn(r, "Agent codes tried from your address"))?;
        let room = found.and_then(|room| self.rooms.get(room));
        room.filter(|room| !self.is_barred_room(&room.room_id)).ok_or_else(code_invalid)
    }

    /// Knocks for an agent. Who was let in before is taken in. Call it with `agent.moving` held.
    pub(crate) async fn knock(
        self: &Arc<Self>,
        agent: &Arc<AgentLive>,
        room: &Arc<RoomLive>,
        source: Source,
    ) -> Result<view::Entered, Fault> {
        let (key, at, now) = (agent.key(), room.key, self.now());
        let charges = knock_charges(&self.settings.limits, source);
        let places = self.settings.limits.waiting_knocks_per_room;
        let door = room.clone();
        let write = move |tx: &Tx<'_>| {
            let taken = match tx.charge(&charges, now)? {
                Ok(taken) => taken,
                Err(Overdrawn(retry_after)) => return Ok(Err(retry_after)),
            };
            let outcome = tx.knock(key, at, places, now)?;
            if matches!(outcome, Outcome::Enter | Outcome::Full(_)) {
                tx.refund(&charges, &taken)?;
            }
            Ok(Ok(outcome))
        };
        let follow = move |app: &Arc<Self>, outcome: Result<Outcome, RetryAfter>| {
            if let Ok(outcome) = outcome {
                app.heard_at_door(&door, (at, key), outcome);
            }
            outcome
        };
        let outcome = self.write_and_follow(write, follow).await?;
        match outcome.map_err(|r| overdrawn(r, "Knocks from your address"))? {
            Outcome::Enter => self
                .let_in(agent, room, None, Who::Agent(key))
                .await
                .map(|()| view::Entered::Room(room.room())),
            Outcome::Waits { knock, .. } | Outcome::Declined(knock) => {
                Ok(view::Entered::Knock(shown(room.room().catalog_id, knock, now)))
            }
            Outcome::Full(retry_after) => Err(full(retry_after)),
        }
    }

    /// Memory follows a knock; whoever answers is told of one that is news.
    pub(crate) fn heard_at_door(&self, room: &RoomLive, place: (RoomKey, AgentKey), outcome: Outcome) {
        let Outcome::Waits { knock, news } = outcome else { return };
        if !news {
            return self.doors.put_again(room.owner(), place, knock);
        }
        self.doors.put(room.owner(), place, knock, false);
        room.owner().into_iter().for_each(|owner| self.hub.nudge(owner));
        self.bot.at_door.notify_one();
    }

    /// Takes an agent into a private room: invited by one of ours who may, joined, seated. With a `way` it is noted
    /// first that it was let in, so that an end in the middle leaves nobody inside who could not be removed. Call it
    /// with `agent.moving` held.
    pub(crate) async fn let_in(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        way: Option<Way>,
        who: Who,
    ) -> Result<(), Fault> {
        let (key, at, by) = (agent.key(), room.key, self.by(who));
        if let Some(way) = way {
            let open = self.store.write(move |tx| tx.let_in_here(key, at, way, &by)).await?;
            if !open {
                return Err(nobody_inside());
            }
        }
        self.bring_in(agent, room).await?;
        let write = move |tx: &Tx<'_>| {
            tx.settle_knock(key, at)?;
            tx.seat_taken(key, at)
        };
        let follow = move |app: &Arc<Self>, seat: SeatRow| {
            app.doors.leave(at, key);
            app.bot.at_door.notify_one();
            app.seat(seat);
        };
        self.write_and_follow(write, follow).await?;
        self.prepare_ahead(key, at);
        Ok(())
    }

    /// Whether an agent was put out of a private room and not let in again since.
    pub(crate) async fn was_removed(&self, agent: &AgentLive, room: &RoomLive) -> bool {
        let (key, at) = (agent.key(), room.key);
        let pass = self.store.read(move |r| r.pass(key, at)).await;
        pass.is_ok_and(|pass| pass.is_some_and(|p| !p.holds()))
    }

    /// Invites and joins. Who is invited or in already needs no invitation: then joining says whether it is so.
    async fn bring_in(&self, agent: &AgentLive, room: &RoomLive) -> Result<(), Fault> {
        if room.may_be_encrypted() {
            self.device_for_room(agent.user_id()).await?;
        }
        let _entering = agent.enters(room.key);
        let invited = self.invite_puppet(agent.user_id(), room).await;
        match (self.join_as(agent.user_id(), &room.room_id, &[]).await, invited) {
            (Ok(_), _) => Ok(()),
            (Err(_), Err(fault)) => Err(fault),
            (Err(error), Ok(())) => Err(self.homeserver_fault(error)),
        }
    }

    async fn invite_puppet(&self, puppet: &UserId, room: &RoomLive) -> Result<(), Fault> {
        let inviter = self.inviter(room).ok_or_else(nobody_inside)?;
        match self.client.invite(&inviter, &room.room_id, puppet, None).await {
            Err(error @ HsError::NotSent(_)) => Err(self.homeserver_fault(error)),
            other => other.map_err(|e| self.homeserver_fault(e)),
        }
    }

    /// Somebody of ours in the room who may invite: its owner first.
    pub(crate) fn inviter(&self, room: &RoomLive) -> Option<OwnedUserId> {
        let owner = room.owner().and_then(|key| self.agents.get(key)).filter(|a| a.is_in(room.key));
        if let Some(owner) = owner {
            return Some(owner.agent.user_id.clone());
        }
        let power = room.power()?;
        let may = |user: &UserId| {
            let ours = *user == self.settings.bot || self.agents.by_user(user).is_some();
            ours && power.may_invite(user)
        };
        room.with_members(|m| m.joined(may)).into_iter().next()
    }
}

/// The room, if the code opens it: one that was removed needs a code made since.
fn opened(tx: &Tx<'_>, digest: &[u8; 32], agent: Option<AgentKey>) -> Result<Option<RoomKey>, StoreError> {
    let Some((room, number)) = tx.room_of_code(digest)? else { return Ok(None) };
    let pass = agent.map(|agent| tx.pass(agent, room)).transpose()?.flatten();
    Ok(code_opens(pass, number).then_some(room))
}

/// A knock as whoever knocked sees it.
pub(crate) fn shown(catalog_id: parlour_domain::ids::CatalogId, knock: Knock, now_ms: i64) -> view::Knock {
    view::Knock {
        catalog_id,
        status: match knock.status(now_ms) {
            Status::Declined => view::KnockStatus::Declined,
            Status::Expired => view::KnockStatus::Expired,
            // one that was let in stands before no door
            Status::Waiting | Status::Admitted => view::KnockStatus::Waiting,
        },
        knocked_at_ms: knock.at_ms,
        expires_at_ms: knock.expires_at_ms(),
    }
}

pub(crate) fn full(retry_after: RetryAfter) -> Fault {
    Fault::new(
        Code::RateLimited,
        "As many as may wait at this door already do. Knock again after the seconds in Retry-After, or ask for a code.",
    )
    .retry_after(retry_after.0)
}

pub(crate) fn code_invalid() -> Fault {
    Fault::from(parlour_domain::code::MalformedCode)
}

fn nobody_inside() -> Fault {
    Fault::unavailable("nobody of ours in the room may invite")
}
