//! A new agent: its name, its number, its token and its row.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use parlour_domain::{
    agent::Agent,
    fault::{Code, Fault},
    ids::{AgentId, RoomKey},
    knock::Outcome,
    names::{AgentName, NUMBERS, display_name},
    quota::Window,
};
use parlour_store::{AgentRow, AgentState, Charge, NewAgent, Overdrawn, Who};
use ruma::{OwnedUserId, UserId};

use crate::{app::App, entering::full, live::AgentLive, quotas::overdrawn, token::TokenDigest};

/// Letters and digits of a puppet's Matrix id after the prefix: 60 bits, never used again.
const LOCALPART_LENGTH: usize = 12;
const LOCALPART_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

pub(super) struct Newcomer {
    pub(super) live: Arc<AgentLive>,
    pub(super) token: String,
    charges: Vec<Charge>,
    taken: Vec<Window>,
}

impl App {
    /// A new agent, charged for, which nobody was told the token of yet; none where it could not even wait at `door`.
    pub(super) async fn add_newcomer(
        self: &Arc<Self>,
        name: &AgentName,
        charges: Vec<Charge>,
        door: Option<RoomKey>,
    ) -> Result<Newcomer, Fault> {
        let likeness = name.likeness();
        let start = u16::from_le_bytes(self.chance.bytes()) % NUMBERS;
        let number = self.agents.reserve_number(&likeness, start).ok_or_else(name_unavailable)?;
        let added = self.write_newcomer(name, number, charges, door).await;
        if added.is_err() {
            self.agents.free_number(&likeness, number);
        }
        added
    }

    async fn write_newcomer(
        &self,
        name: &AgentName,
        number: u16,
        charges: Vec<Charge>,
        door: Option<RoomKey>,
    ) -> Result<Newcomer, Fault> {
        let token =
            format!("{}_{}", self.settings.bridge_id, URL_SAFE_NO_PAD.encode(self.chance.bytes::<32>()));
        let new = NewAgent {
            id: AgentId::new(self.now(), self.chance.bytes()),
            user_id: self.new_puppet_id()?,
            display_name: display_name(name, number),
            likeness: name.likeness(),
            number,
            token_digest: TokenDigest::of(&token).for_store(),
            created_at_ms: self.now(),
        };
        let (row, subjects, now) = (new.clone(), charges.clone(), self.now());
        let places = self.settings.limits.waiting_knocks_per_room;
        let written = self.store.write(move |tx| {
            if let Some(Outcome::Full(retry_after)) = door.map(|d| tx.door(d, places, now)).transpose()? {
                return Ok(Err(full(retry_after)));
            }
            match tx.charge(&subjects, now)? {
                Ok(taken) => Ok(Ok((tx.add_agent(&row)?, taken))),
                Err(Overdrawn(retry_after)) => {
                    Ok(Err(overdrawn(retry_after, "New agents from your address")))
                }
            }
        });
        let (key, taken) = written.await??;
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

    pub(super) async fn undo_newcomer(self: &Arc<Self>, new: Newcomer) {
        let (key, charges, taken) = (new.live.key(), new.charges, new.taken);
        let by = self.by(Who::Bridge);
        let undone = self.store.write(move |tx| {
            tx.refund(&charges, &taken)?;
            tx.forget_knocks(key)?;
            tx.agent_leaves(key, &by)
        });
        if let Err(error) = undone.await {
            tracing::warn!(%error, "cannot undo a join that failed; the next start does");
        }
        self.doors.forget(key);
        self.agents.end(&new.live);
        self.start_leaving(new.live);
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

fn name_unavailable() -> Fault {
    Fault::new(Code::NameUnavailable, "Every number for this name is taken. Choose another name.")
        .field("name")
}
