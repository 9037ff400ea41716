use std::sync::Arc;

use parlour_domain::{
    fault::Fault,
    ids::{AgentId, RoomKey},
    knock::{Answer, Knock},
    share,
};
use parlour_store::{PersonKnock, Tx, Who};

use super::knocks::knock_not_found;
use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    view::{Admitted, IncomingKnock},
};

impl App {
    /// People who wait before the agent's rooms, or the one room: as many as may wait at a door are told of.
    fn visitors_of(&self, agent: &AgentLive, room: Option<RoomKey>) -> Vec<PersonKnock> {
        let mine = |key: RoomKey| {
            let own = self.rooms.get(key).is_some_and(|r| r.owner() == Some(agent.key()) && !r.closed());
            own && room.is_none_or(|r| r == key)
        };
        let waiting = self.waiting_visitors(mine);
        let places = self.settings.limits.waiting_knocks_per_room as usize;
        let nth = |at: usize| waiting[..at].iter().filter(|k| k.room == waiting[at].room).count();
        (0..waiting.len()).filter(|at| nth(*at) < places).map(|at| waiting[at].clone()).collect()
    }

    fn waiting_visitors(&self, is_meant: impl Fn(RoomKey) -> bool) -> Vec<PersonKnock> {
        let mut waiting = self.visitors.waiting(is_meant, self.now());
        waiting.retain(|knock| !self.is_barred(&knock.user_id));
        waiting
    }

    /// Whether somebody waits whom the owner was not told of.
    pub(crate) fn untold_visitors(&self, agent: &AgentLive, room: Option<RoomKey>) -> bool {
        self.visitors_of(agent, room).iter().any(|knock| !knock.told)
    }

    pub(super) fn incoming_visitors(&self, agent: &AgentLive, room: Option<RoomKey>) -> Vec<IncomingKnock> {
        let visitors = self.visitors_of(agent, room).into_iter();
        visitors.filter_map(|knock| self.visit_at(knock)).collect()
    }

    pub(crate) fn visit_at(&self, knock: PersonKnock) -> Option<IncomingKnock> {
        Some(shown(&*self.rooms.get(knock.room)?, knock))
    }

    pub(super) async fn tell_visitors(&self, agent: &AgentLive, room: Option<RoomKey>) -> Result<(), Fault> {
        let untold = self.visitors_of(agent, room).into_iter().filter(|knock| !knock.told);
        let news: Vec<AgentId> = untold.map(|knock| knock.id).collect();
        if !news.is_empty() {
            self.visitors.tell(&news);
            self.store.write(move |tx: &Tx<'_>| tx.person_knocks_told(&news)).await?;
        }
        Ok(())
    }

    /// A person who waits before a room, by what its owner knows them by.
    pub(super) fn visitor(&self, room: &RoomLive, id: AgentId) -> Option<PersonKnock> {
        let waiting = self.waiting_visitors(|key| key == room.key);
        waiting.into_iter().find(|knock| knock.id == id)
    }

    /// Invites a person who knocks; they come in by themselves.
    pub(super) async fn admit_visitor(
        self: &Arc<Self>,
        owner: &AgentLive,
        room: &RoomLive,
        visitor: PersonKnock,
    ) -> Result<Admitted, Fault> {
        let reason = share::invitation(&owner.agent.display_name, self.settings.server_name.as_str());
        let invited = self.invite_from(owner, room, &visitor.user_id, &reason).await;
        invited.map_err(|e| self.homeserver_fault(e))?;
        let display_name = name_in(room, &visitor);
        self.visitor_is_answered(owner, &visitor, Answer::Admitted).await?;
        Ok(Admitted { agent_id: visitor.id, display_name })
    }

    pub(super) async fn decline_visitor(
        self: &Arc<Self>,
        owner: &AgentLive,
        room: &RoomLive,
        visitor: PersonKnock,
    ) -> Result<(), Fault> {
        match self.client.kick(owner.user_id(), &room.room_id, &visitor.user_id, None).await {
            Ok(()) => self.visitor_is_answered(owner, &visitor, Answer::Declined).await,
            Err(error) if error.is_forbidden() && !self.still_knocks(owner, room, &visitor).await? => {
                self.visitor_is_answered(owner, &visitor, Answer::None).await?;
                Err(knock_not_found())
            }
            Err(error) => Err(self.homeserver_fault(error)),
        }
    }

    /// Who has taken the knock back cannot be sent away, and the event of it may not have come yet.
    async fn still_knocks(
        &self,
        owner: &AgentLive,
        room: &RoomLive,
        visitor: &PersonKnock,
    ) -> Result<bool, Fault> {
        let membership = self.client.membership(owner.user_id(), &room.room_id, &visitor.user_id).await;
        Ok(membership.map_err(|e| self.homeserver_fault(e))?.as_deref() == Some("knock"))
    }

    async fn visitor_is_answered(
        &self,
        owner: &AgentLive,
        visitor: &PersonKnock,
        answer: Answer,
    ) -> Result<(), Fault> {
        let (room, user, by) = (visitor.room, visitor.user_id.clone(), self.by(Who::Agent(owner.key())));
        let gone = user.clone();
        let write = move |tx: &Tx<'_>| tx.answer_person_knock(room, &user, answer, &by);
        Ok(self.write_and_follow(write, move |app, ()| app.visitors.leave(room, &gone)).await?)
    }
}

fn shown(room: &RoomLive, knock: PersonKnock) -> IncomingKnock {
    IncomingKnock {
        room: room.room(),
        agent_id: knock.id,
        display_name: name_in(room, &knock),
        knocked_at_ms: knock.at_ms,
        expires_at_ms: Knock::new(knock.at_ms).expires_at_ms(),
        person: Some(knock.user_id),
    }
}

fn name_in(room: &RoomLive, knock: &PersonKnock) -> String {
    let name = room.with_members(|m| m.get(&knock.user_id).and_then(|m| m.display_name.clone()));
    name.filter(|n| !n.trim().is_empty()).unwrap_or_else(|| knock.user_id.to_string())
}
