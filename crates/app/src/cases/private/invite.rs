use std::sync::Arc;

use parlour_domain::{
    fault::{Code, Fault},
    people::account,
    share,
};
use parlour_matrix::HsError;
use parlour_store::Overdrawn;
use ruma::UserId;

use crate::{
    app::App,
    caller::Caller,
    live::{AgentLive, Members, RoomLive},
    quotas::{invitation_charges, overdrawn},
    request::Source,
};

impl App {
    /// Invites a person. Invited or inside already: nothing changes, at no quota.
    ///
    /// # Errors
    /// `room_not_owned`, `account_not_found`, `rate_limited`, `forbidden`, `dependency_unavailable`.
    pub async fn invite_person(
        self: &Arc<Self>,
        caller: &Caller,
        room: &str,
        account_id: &str,
        source: Source,
    ) -> Result<(), Fault> {
        self.put_back(caller).await;
        let room = self.own_room(&caller.0, room)?;
        let person = account(account_id).ok_or_else(no_account)?;
        if *person == *self.settings.bot || self.settings.is_puppet(&person) {
            return Err(an_agent());
        }
        if room.with_members(|m| m.get(&person).is_some_and(|m| ["join", "invite"].contains(&&*m.membership)))
        {
            return Ok(());
        }
        self.may_invite(&person).await?;
        let (app, agent) = (self.clone(), caller.0.clone());
        let inviting = async move { app.invite_charged(&agent, &room, &person, source).await };
        self.to_the_end(inviting, |_, ()| {}).await
    }

    /// Whether the operator lets agents invite this person, and whether there is such a person at all.
    async fn may_invite(&self, person: &UserId) -> Result<(), Fault> {
        if self.is_barred(person) {
            return Err(barred());
        }
        let user = person.to_owned();
        let known = self.is_known(person) || self.store.read(move |r| r.knows_of_bot(&user)).await?;
        if !self.settings.people.invitable.allows(person, &self.settings.server_name, known) {
            return Err(self.stranger());
        }
        if known {
            return Ok(());
        }
        match self.client.find_profile(person).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(no_account()),
            // what another homeserver will not tell us, the invitation will
            Err(HsError::Refused { .. }) if person.server_name() != self.settings.server_name => Ok(()),
            Err(error) => Err(self.homeserver_fault(error)),
        }
    }

    /// Shares a room with one of ours.
    fn is_known(&self, person: &UserId) -> bool {
        let ours = |user: &UserId| *user == self.settings.bot || self.agents.by_user(user).is_some();
        let shared =
            |room: &Arc<RoomLive>| room.with_members(|m| m.is_joined(person) && !m.joined(ours).is_empty());
        self.rooms.all().iter().any(shared)
    }

    async fn invite_charged(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        person: &UserId,
        source: Source,
    ) -> Result<(), Fault> {
        let charges = invitation_charges(&self.settings.limits, agent.key(), source);
        let (subjects, now) = (charges.clone(), self.now());
        let charged = self.store.write(move |tx| tx.charge(&subjects, now)).await?;
        let taken = charged.map_err(|Overdrawn(r)| overdrawn(r, "Invitations of people"))?;
        let reason = share::invitation(&agent.agent.display_name, self.settings.server_name.as_str());
        let invited = self.invite_from(agent, room, person, &reason).await;
        if invited.is_err() {
            self.store.write(move |tx| tx.refund(&charges, &taken)).await?;
        }
        invited.map_err(|error| self.not_invited(error))
    }

    /// What is said from then on is for them as well: they are known as invited before the event of it has come.
    pub(super) async fn invite_from(
        &self,
        agent: &AgentLive,
        room: &RoomLive,
        person: &UserId,
        reason: &str,
    ) -> Result<(), HsError> {
        let as_of = room.with_members(Members::changes);
        self.client.invite(agent.user_id(), &room.room_id, person, Some(reason)).await?;
        room.alter_members(|members| members.invited(person, as_of));
        Ok(())
    }

    fn not_invited(&self, error: HsError) -> Fault {
        match error {
            error if error.is_not_found() => no_account().because(error),
            error if error.is_forbidden() => Fault::new(
                Code::Forbidden,
                "The Matrix server refused to invite this person: they may be banned from the room, or take no invitations.",
            )
            .because(error),
            error => self.homeserver_fault(error),
        }
    }

    fn stranger(&self) -> Fault {
        let lobby = self.lobbies().into_iter().find(|l| l.default).map(|l| l.name);
        let meet = lobby.map_or_else(
            || format!("write to {}", self.settings.bot),
            |name| format!("come into the lobby {name}, or write to {}", self.settings.bot),
        );
        Fault::new(
            Code::AccountNotFound,
            format!("This server does not know that person, and agents may not invite strangers. Ask them to {meet} first."),
        )
        .field("accountId")
    }
}

fn no_account() -> Fault {
    Fault::new(
        Code::AccountNotFound,
        "There is nobody to invite under this accountId. Ask the person for their Matrix id, such as @ada:example.org; \
         do not guess it.",
    )
    .field("accountId")
}

fn barred() -> Fault {
    Fault::new(
        Code::Forbidden,
        "This person is on a ban list that the operator of this server follows. Agents here do not invite them; somebody else \
         with the power to invite may.",
    )
    .field("accountId")
}

fn an_agent() -> Fault {
    Fault::new(
        Code::AccountNotFound,
        "This is an agent, not a person. Agents come in by the room's code or by knocking: pass on the share text.",
    )
    .field("accountId")
}
