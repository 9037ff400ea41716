//! Encrypted events: people's are decrypted once and given to all who could read them themselves; our own come back
//! and are known by their ciphertext.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parlour_domain::{
    ids::{AgentKey, Pos},
    visibility::Visibility,
};
use parlour_matrix::{
    Incoming,
    crypto::{Decrypted, Undecryptable, session_place},
    events::Head,
};
use parlour_store::{SealedEcho, Waiting};
use ruma::OwnedEventId;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{Planner, Step, plan::Came};
use crate::{
    app::App,
    devices::{Slot, ciphertext_digest},
    live::{AgentLive, RoomLive},
    sending::author,
};

/// A session's id is a key of 32 bytes in base64: 43 characters.
const SESSION_ID_BYTES: usize = 64;

/// Somebody who withholds keys must not make us fetch for each message.
const FETCHED_MS: i64 = 30_000;

/// A person's event that was decrypted.
#[derive(Clone, Debug)]
pub(crate) struct Unsealed {
    pub(crate) event_id: OwnedEventId,
    /// Names session and index: the same place under another event id is a replay.
    pub(crate) place: [u8; 16],
    pub(crate) session_id: String,
    pub(crate) message_index: u32,
    /// As it came.
    pub(crate) event: String,
    /// Whose machines have its key: nobody else is given it.
    pub(crate) readers: BTreeSet<AgentKey>,
    /// Who is in the room and cannot read it. There may be more by the time that this is written down.
    pub(crate) withheld: Vec<AgentKey>,
    /// It waited for its key.
    pub(crate) waited: bool,
    /// What it says: a message or an edit; `None`: nothing for us.
    pub(crate) then: Option<Box<Step>>,
}

/// An encrypted event as it has just come, or as it was kept until its key came.
pub(super) struct SealedEvent<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) head: Head,
    pub(super) session_id: Option<String>,
    pub(super) kept: Option<Kept>,
}

/// What was noted of an event that waited.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) pos: Pos,
    pub(super) visibility: Visibility,
}

/// What an event says, and who can and cannot read it by themselves.
#[derive(Default)]
struct Reading {
    decrypted: Option<Decrypted>,
    readers: BTreeSet<AgentKey>,
    withheld: Vec<AgentKey>,
}

impl App {
    /// The agents whose puppets are in a room, in their order.
    pub(crate) fn agents_in(&self, room: &RoomLive) -> Vec<Arc<AgentLive>> {
        let joined = room.with_members(|m| m.joined(|user| self.settings.is_puppet(user)));
        let joined = joined.iter().filter_map(|user| self.agents.by_user(user));
        // seated by the answer to a join whose event is still to come
        let seated = self.agents.all().into_iter().filter(|agent| agent.is_in(room.key));
        let all: BTreeMap<_, _> = joined.chain(seated).map(|agent| (agent.key(), agent)).collect();
        all.into_values().collect()
    }

    /// Those who were in a room at a place of its order, and may have left since.
    fn agents_then(&self, room: &RoomLive, pos: Pos) -> Vec<Arc<AgentLive>> {
        let there = |a: &Arc<AgentLive>| a.seat_in(room.key).is_some_and(|seat| seat.was_in(pos));
        self.agents.all().into_iter().filter(there).collect()
    }
}

impl Planner<'_> {
    pub(super) async fn encrypted(
        &mut self,
        raw: &RawValue,
        head: Head,
        ciphertext: Option<String>,
        session_id: Option<String>,
    ) {
        if let Some(agent) = self.app.agents.by_user(&head.sender) {
            return self.own_echo(&agent, head, ciphertext, session_place(raw));
        }
        if self.app.is_unheard(&head.sender) {
            let known = self.app.rooms.by_id(&head.room_id).is_some();
            self.steps.extend(known.then_some(Step::Heard { event_id: head.event_id }));
        } else if !self.app.is_ours(&head.sender) {
            self.read_sealed(SealedEvent { raw, head, session_id, kept: None }).await;
        }
    }

    /// What our own said was known when it was said.
    fn own_echo(
        &mut self,
        agent: &AgentLive,
        head: Head,
        ciphertext: Option<String>,
        session: Option<(String, u32)>,
    ) {
        let (Some(room), Some(ciphertext)) = (self.app.rooms.by_id(&head.room_id), ciphertext) else {
            return;
        };
        self.steps.push(Step::OwnEcho {
            agent: agent.key(),
            author: author(agent),
            sender: head.sender,
            room: room.key,
            digest: ciphertext_digest(&ciphertext),
            echo: SealedEcho {
                event_id: head.event_id,
                sent_at_ms: head.sent_at_ms,
                visibility: room.visibility(),
            },
            session,
            received_at_ms: self.received_at_ms,
        });
    }

    pub(super) async fn read_sealed(&mut self, event: SealedEvent<'_>) {
        let Some(room) = self.app.rooms.by_id(&event.head.room_id) else { return };
        let id = event.head.event_id.clone();
        // what waits comes once more with its key
        let past = self.app.store.read(move |r| r.had(&id)).await;
        let past = event.kept.is_none() && past.unwrap_or(false);
        if past || !self.read.insert(event.head.event_id.clone()) {
            return;
        }
        let mut agents = self.app.agents_in(&room);
        agents.extend(event.kept.into_iter().flat_map(|kept| self.app.agents_then(&room, kept.pos)));
        agents.sort_by_key(|agent| agent.key());
        agents.dedup_by_key(|agent| agent.key());
        let with_bot = self.app.bot_is_in(&room);
        match self.decrypt(event.raw, &room, &agents).await {
            Ok(reading) if reading.decrypted.is_some() => self.unsealed(&room, event, reading).await,
            Ok(_) if with_bot && self.read_as_bot(&room, &event, agents.is_empty()).await => {}
            Ok(_) if (agents.is_empty() && !with_bot) || event.kept.is_some() => {}
            Ok(_) => {
                self.afterwards.missing.insert(room.key);
                self.steps.push(Step::Wait(Waiting {
                    event_id: event.head.event_id,
                    room: room.key,
                    visibility: self.visibility_then(&room),
                    sender: event.head.sender,
                    session_id: event.session_id.unwrap_or_default(),
                    event: event.raw.get().to_owned(),
                    received_at_ms: self.received_at_ms,
                }));
            }
            Err(why) => {
                let event_id = event.head.event_id;
                metrics::counter!("parlour_poison_events_total").increment(1);
                tracing::warn!(%event_id, %why, "skipped an encrypted event that no key will open");
                self.steps.push(Step::GiveUp { event_id });
            }
        }
    }

    /// Decrypted by the first who can, and those who cannot.
    async fn decrypt(
        &mut self,
        raw: &RawValue,
        room: &RoomLive,
        agents: &[Arc<AgentLive>],
    ) -> Result<Reading, Undecryptable> {
        let mut reading = Reading::default();
        for agent in agents {
            let slot = self.app.keyring.with_device(agent.user_id());
            let reads = match &slot {
                Some(slot) => self.reads(raw, room, slot, &mut reading.decrypted).await?,
                None => false,
            };
            match reads {
                true => drop(reading.readers.insert(agent.key())),
                false => reading.withheld.push(agent.key()),
            }
            if let Some(slot) = slot.filter(|_| !reads) {
                self.lacks_key(&slot, raw);
            }
        }
        Ok(reading)
    }

    /// It may have been lost on the way, or still come.
    fn lacks_key(&mut self, slot: &Slot, raw: &RawValue) {
        let now = self.app.now();
        // the sender's own words, which no key of that length will ever answer
        if let Some((session, _)) =
            session_place(raw).filter(|(session, _)| session.len() <= SESSION_ID_BYTES)
        {
            self.app.keyring.lacks(&slot.user, &session, now);
        }
        if !slot.pulled_since(now - FETCHED_MS) {
            self.afterwards.pull.insert(slot.user.clone());
        }
    }

    /// Whether a device can read an event; the first that can decrypts it.
    async fn reads(
        &mut self,
        raw: &RawValue,
        room: &RoomLive,
        slot: &Arc<Slot>,
        decrypted: &mut Option<Decrypted>,
    ) -> Result<bool, Undecryptable> {
        if let Some(found) = decrypted
            && slot.reads(room.key, &found.session_id, found.message_index)
        {
            return Ok(true);
        }
        let Some(held) = self.hold(slot).await else { return Ok(false) };
        let reads = match decrypted {
            Some(_) => held.can_read(raw, &room.room_id).await.unwrap_or(false),
            None => match held.decrypt(raw, &room.room_id).await {
                Ok(found) => {
                    *decrypted = Some(found);
                    true
                }
                Err(error @ (Undecryptable::Forged | Undecryptable::Broken)) => return Err(error),
                Err(Undecryptable::MissingKey { .. } | Undecryptable::Machine(_)) => false,
            },
        };
        if let Some(found) = decrypted.as_ref().filter(|_| reads) {
            slot.now_reads(room.key, &found.session_id, found.message_index);
        }
        Ok(reads)
    }

    /// What no agent can read the bot may: then it is read for what is meant for the bot, and for nothing else. `true`:
    /// it is dealt with.
    async fn read_as_bot(&mut self, room: &Arc<RoomLive>, event: &SealedEvent<'_>, alone: bool) -> bool {
        let SealedEvent { raw, head, kept, .. } = event;
        let Some(slot) = self.app.keyring.with_device(&self.app.settings.bot) else { return false };
        let Some(held) = self.hold(&slot).await else { return false };
        let Ok(decrypted) = held.decrypt(raw, &room.room_id).await else {
            self.lacks_key(&slot, raw);
            return false;
        };
        let then = match Incoming::parse(&decrypted.event, Some(&room.room_id)) {
            Incoming::Message(message) if message.head == *head => {
                let meant = self.app.meant_for_bot(room, &message);
                meant.map(|meant| self.for_bot(meant, head.event_id.clone()))
            }
            Incoming::Reaction(reaction) if reaction.head == *head => self.reaction(&reaction),
            _ => None,
        };
        if then.is_none() && !alone {
            return false;
        }
        self.steps.push(Step::Unsealed(Unsealed {
            place: place(room, &decrypted),
            event_id: head.event_id.clone(),
            session_id: decrypted.session_id,
            message_index: decrypted.message_index,
            event: raw.get().to_owned(),
            readers: BTreeSet::new(),
            withheld: vec![],
            waited: kept.is_some(),
            then: then.map(Box::new),
        }));
        true
    }

    async fn unsealed(&mut self, room: &Arc<RoomLive>, event: SealedEvent<'_>, reading: Reading) {
        let SealedEvent { raw, head, kept, .. } = event;
        let Some(decrypted) = reading.decrypted else { return };
        let came = Came { encrypted: true, visibility: kept.map(|kept| kept.visibility) };
        // state has no place inside: whatever else it may be, only what is said counts
        let then = match Incoming::parse(&decrypted.event, Some(&room.room_id)) {
            Incoming::Message(message) if message.head == head => self.said(message, came).await,
            Incoming::Edit(edit) if edit.head == head => self.edited(edit, came),
            Incoming::Reaction(reaction) if reaction.head == head => self.reaction(&reaction),
            _ => None,
        };
        self.steps.push(Step::Unsealed(Unsealed {
            place: place(room, &decrypted),
            event_id: head.event_id,
            session_id: decrypted.session_id,
            message_index: decrypted.message_index,
            event: raw.get().to_owned(),
            readers: reading.readers,
            withheld: reading.withheld,
            waited: kept.is_some(),
            then: then.map(Box::new),
        }));
    }
}

fn place(room: &RoomLive, decrypted: &Decrypted) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(room.room_id.as_bytes());
    hash.update([0]);
    hash.update(decrypted.session_id.as_bytes());
    hash.update(decrypted.message_index.to_le_bytes());
    let mut place = [0; 16];
    place.copy_from_slice(&hash.finalize()[..16]);
    place
}
