use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use parlour_domain::{
    agent::Agent,
    fault::{Code, Fault},
    ids::AgentId,
    names::{AgentName, NUMBERS, display_name},
    quota::Window,
};
use parlour_store::{AgentRow, AgentState, Charge, NewAgent, Overdrawn, Tx};
use ruma::{OwnedUserId, UserId};
use secrecy::SecretString;

use crate::{
    app::App,
    caller::token_digest,
    live::{AgentLive, RoomLive},
    quotas::{entry_charges, overdrawn},
    request::{Join, Source},
    view::{Entered, Welcome},
};

/// Letters and digits of a puppet's Matrix id after the prefix: 60 bits, never used again.
const LOCALPART_LENGTH: usize = 12;
const LOCALPART_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

struct Newcomer {
    live: Arc<AgentLive>,
    token: String,
    charges: Vec<Charge>,
    taken: Vec<Window>,
}

impl App {
    /// Makes an agent and takes it into a lobby.
    ///
    /// # Errors
    /// `name_invalid`, `name_unavailable`, `room_not_found`, `code_invalid`, `rate_limited`, `capacity_reached`,
    /// `dependency_unavailable`.
    pub async fn join(self: &Arc<Self>, ask: Join, source: Source) -> Result<Welcome, Fault> {
        self.open_for_agents()?;
        let name = AgentName::parse(&ask.name, &[self.settings.bot.localpart()])?;
        one_of_room_and_code(ask.room.as_deref(), ask.code.as_deref())?;
        if ask.code.is_some() {
            return Err(code_invalid());
        }
        let room = self.find_lobby(ask.room.as_deref())?;
        let app = self.clone();
        self.to_the_end(async move { app.join_lobby(name, room, source).await }, |app, welcome| {
            app.abandon(&welcome);
        })
        .await
    }

    async fn join_lobby(
        self: &Arc<Self>,
        name: AgentName,
        room: Arc<RoomLive>,
        source: Source,
    ) -> Result<Welcome, Fault> {
        let _place = self.reserve_place()?;
        let new = self.add_newcomer(&name, source).await?;
        match self.settle_newcomer(&new, &room).await {
            Ok(()) => Ok(Welcome {
                agent: new.live.agent.clone(),
                token: SecretString::from(new.token),
                entered: Entered::Room(room.room()),
            }),
            Err(fault) => {
                self.undo_newcomer(new).await;
                Err(fault)
            }
        }
    }

    async fn add_newcomer(self: &Arc<Self>, name: &AgentName, source: Source) -> Result<Newcomer, Fault> {
        let likeness = name.likeness();
        let start = u16::from_le_bytes(self.chance.bytes()) % NUMBERS;
        let number = self.agents.reserve_number(&likeness, start).ok_or_else(name_unavailable)?;
        let added = self.write_newcomer(name, number, source).await;
        if added.is_err() {
            self.agents.free_number(&likeness, number);
        }
        added
    }

    async fn write_newcomer(&self, name: &AgentName, number: u16, source: Source) -> Result<Newcomer, Fault> {
        let token =
            format!("{}_{}", self.settings.bridge_id, URL_SAFE_NO_PAD.encode(self.chance.bytes::<32>()));
        let new = NewAgent {
            id: AgentId::new(self.now(), self.chance.bytes()),
            user_id: self.new_puppet_id()?,
            display_name: display_name(name, number),
            likeness: name.likeness(),
            number,
            token_digest: token_digest(&token),
            created_at_ms: self.now(),
        };
        let charges = entry_charges(&self.settings.limits, source);
        let (row, subjects, now) = (new.clone(), charges.clone(), self.now());
        let written = self.store.write(move |tx| match tx.charge(&subjects, now)? {
            Ok(taken) => Ok(Ok((tx.add_agent(&row)?, taken))),
            Err(Overdrawn(retry_after)) => Ok(Err(retry_after)),
        });
        let (key, taken) = written.await?.map_err(|r| overdrawn(r, "New agents from your address"))?;
        let agent = Agent {
            key,
            id: new.id,
            display_name: new.display_name.clone(),
            user_id: new.user_id.clone(),
            created_at_ms: new.created_at_ms,
        };
        let live = self.agents.put(&row_of(agent, &new));
        Ok(Newcomer { live, token, charges, taken })
    }

    fn new_puppet_id(&self) -> Result<OwnedUserId, Fault> {
        let chance: [u8; LOCALPART_LENGTH] = self.chance.bytes();
        let unique: String =
            chance.iter().map(|b| char::from(LOCALPART_ALPHABET[usize::from(b % 32)])).collect();
        let id = format!("@{}{unique}:{}", self.settings.puppet_prefix, self.settings.server_name);
        UserId::parse(id).map_err(Fault::internal)
    }

    async fn settle_newcomer(&self, new: &Newcomer, room: &RoomLive) -> Result<(), Fault> {
        let agent = &new.live.agent;
        self.make_puppet(&agent.user_id, &agent.display_name).await?;
        self.join_as(&agent.user_id, room).await.map_err(|e| self.homeserver_fault(e))?;
        let (key, room) = (agent.key, room.key);
        let seated = move |tx: &Tx<'_>| {
            tx.agent_is_live(key)?;
            tx.seat_taken(key, room)
        };
        self.write_and_follow(seated, Self::seat).await?;
        self.agents.give_token(&new.live, token_digest(&new.token));
        Ok(())
    }

    async fn undo_newcomer(self: &Arc<Self>, new: Newcomer) {
        let (key, charges, taken) = (new.live.key(), new.charges, new.taken);
        let undone = self.store.write(move |tx| {
            tx.refund(&charges, &taken)?;
            tx.agent_leaves(key)
        });
        if let Err(error) = undone.await {
            tracing::warn!(%error, "cannot undo a join that failed; the next start does");
        }
        self.agents.end(&new.live);
        self.start_leaving(new.live);
    }

    /// Nobody was there any more to be told the token.
    fn abandon(self: &Arc<Self>, welcome: &Welcome) {
        let Some(live) = self.agents.get(welcome.agent.key) else { return };
        let app = self.clone();
        self.tasks.spawn(async move {
            if let Err(fault) = app.end_agent(&live).await {
                tracing::warn!(%fault, cause = fault.cause, "cannot end an agent whose maker went away");
            }
        });
    }
}

fn row_of(agent: Agent, new: &NewAgent) -> AgentRow {
    AgentRow {
        last_call_ms: agent.created_at_ms,
        agent,
        state: AgentState::Joining,
        likeness: new.likeness.clone(),
        number: new.number,
        token_digest: None,
        last_mentions: vec![],
    }
}

pub(crate) fn one_of_room_and_code(room: Option<&str>, code: Option<&str>) -> Result<(), Fault> {
    if room.is_some() && code.is_some() {
        return Err(Fault::invalid(
            "code",
            "Give room or code, not both: a code says by itself which room it opens.",
        ));
    }
    Ok(())
}

pub(crate) fn code_invalid() -> Fault {
    Fault::new(
        Code::CodeInvalid,
        "This code opens no room: it is mistyped, replaced or switched off. Ask the room's owner for the current one.",
    )
}

fn name_unavailable() -> Fault {
    Fault::new(Code::NameUnavailable, "Every number for this name is taken. Choose another name.")
        .field("name")
}
