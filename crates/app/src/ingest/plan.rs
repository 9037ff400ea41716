//! From events to what they change: everything that needs memory or a look elsewhere is decided here, before the one
//! write that carries it out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parlour_domain::{agent::Author, ids::MessageId, visibility::Visibility};
use parlour_matrix::{
    Incoming,
    crypto::RoomKey as MegolmKey,
    events::{Edit, Head, NewMessage, Redaction},
};
use parlour_store::{By, NewEdit, NewEntry, Who};
use ruma::{OwnedEventId, OwnedUserId, RoomId, UserId};
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::{Step, afterwards::Afterwards};
use crate::{
    app::App,
    crypto_rows::CryptoBatch,
    devices::{Held, Slot},
    live::{AgentLive, RoomLive},
    sending::author,
    survive::survive,
};

/// How something that was said came to us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) encrypted: bool,
    /// The room's history visibility then; `None`: as it is now.
    pub(super) visibility: Option<Visibility>,
}

impl Came {
    const OPEN: Self = Self { encrypted: false, visibility: None };
}

/// Steps to be carried out, and the machines that have something to remember along with them.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) batches: Vec<CryptoBatch>,
    held: Vec<Held>,
    many: Option<OwnedMutexGuard<()>>,
    afterwards: Afterwards,
}

impl Plan {
    /// It is on disk: the machines are given back, and what follows from it is set going.
    pub(crate) fn committed(&mut self, app: &App) {
        for mut held in std::mem::take(&mut self.held) {
            held.committed();
        }
        self.many = None;
        std::mem::take(&mut self.afterwards).set_going(app);
    }
}

/// Turns events, in the order they came, into steps.
pub(crate) struct Planner<'a> {
    pub(super) app: &'a App,
    pub(super) received_at_ms: i64,
    pub(super) steps: Vec<Step>,
    /// Machines in use, until the plan is carried out.
    pub(super) held: BTreeMap<OwnedUserId, Held>,
    pub(super) many: Option<OwnedMutexGuard<()>>,
    /// Room keys that have come, and to whom.
    pub(super) keys: Vec<(Arc<Slot>, MegolmKey)>,
    /// Of the past: the history visibility then.
    pub(crate) then: Option<Visibility>,
    /// Encrypted events that are dealt with already.
    pub(super) read: BTreeSet<OwnedEventId>,
    /// What is read was said long ago: nothing is done about it.
    pub(super) past: bool,
    /// Of state that was read: how many changes of the room's members were known then. What came since is newer.
    pub(crate) as_of: Option<u64>,
    pub(super) afterwards: Afterwards,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(app: &'a App, received_at_ms: i64) -> Self {
        Self {
            app,
            received_at_ms,
            steps: vec![],
            held: BTreeMap::new(),
            many: None,
            keys: vec![],
            then: None,
            read: BTreeSet::new(),
            past: false,
            as_of: None,
            afterwards: Afterwards::default(),
        }
    }

    pub(crate) fn finish(mut self) -> Plan {
        Plan {
            steps: self.steps,
            batches: self.held.values_mut().filter_map(Held::take).collect(),
            held: self.held.into_values().collect(),
            many: self.many,
            afterwards: self.afterwards,
        }
    }

    /// The room's history visibility when the event came about.
    pub(super) fn visibility_then(&self, room: &RoomLive) -> Visibility {
        self.then.unwrap_or_else(|| room.visibility())
    }

    pub(super) fn done_by(&self, user: &UserId) -> By {
        By { who: Who::User(user.to_owned()), at_ms: self.received_at_ms }
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Takes an event. One that makes no sense is counted and left out, whatever else comes with it.
    pub(crate) async fn take(&mut self, raw: &RawValue, room: Option<&RoomId>) {
        metrics::counter!("parlour_events_total").increment(1);
        survive("an event", self.read(raw, room)).await;
    }

    async fn read(&mut self, raw: &RawValue, room: Option<&RoomId>) {
        match Incoming::parse(raw, room) {
            Incoming::Message(message) => {
                self.note_late(&message.head);
                let step = self.said(message, Came::OPEN).await;
                self.steps.extend(step);
            }
            Incoming::Edit(edit) => {
                let step = self.edited(edit, Came::OPEN);
                self.steps.extend(step);
            }
            Incoming::Encrypted { head, ciphertext, session_id } => {
                self.note_late(&head);
                self.encrypted(raw, head, ciphertext, session_id).await;
            }
            Incoming::Redaction(redaction) => self.redaction(redaction),
            Incoming::Reaction(reaction) => {
                let step = self.reaction(&reaction);
                self.steps.extend(step);
            }
            // only transactions come without naming their room
            Incoming::State(state) => self.state(state, room.is_none()).await,
            Incoming::Poison { event_id, why } => {
                metrics::counter!("parlour_poison_events_total").increment(1);
                tracing::warn!(?event_id, why, "skipped an event that makes no sense");
            }
            Incoming::Ignored { .. } | Incoming::Redacted { .. } => {}
        }
    }

    /// The same for what was said in the past; state of the past does not count today.
    pub(crate) async fn take_said(&mut self, raw: &RawValue, room: &RoomId) {
        self.past = true;
        if !matches!(Incoming::parse(raw, Some(room)), Incoming::State(_)) {
            self.take(raw, Some(room)).await;
        }
    }

    pub(super) async fn said(&mut self, message: NewMessage, came: Came) -> Option<Step> {
        let room = self.app.rooms.by_id(&message.head.room_id)?;
        if self.app.is_unheard(&message.head.sender) {
            return Some(Step::Heard { event_id: message.head.event_id });
        }
        let puppet = self.app.settings.is_puppet(&message.head.sender);
        if message.head.sender == self.app.settings.bot || (puppet && message.notice) {
            // what the bridge says concerns people
            return None;
        }
        if let Some(meant) = self.app.meant_for_bot(&room, &message) {
            return Some(self.for_bot(meant, message.head.event_id));
        }
        let head = message.head;
        let agent = self.app.agents.by_user(&head.sender);
        let settles = agent.as_ref().zip(message.submission).map(|(a, id)| (a.key(), id));
        let message_id = settles.map(|(_, id)| id);
        // anybody's client can write the key
        let hops = if puppet { message.hops } else { 0 };
        let entry = NewEntry {
            room: room.key,
            message_id: message_id.unwrap_or_else(|| MessageId::of_event(head.sent_at_ms, &head.event_id)),
            author: self.author(agent.as_deref(), &room, &head).await,
            event_id: head.event_id,
            sender: head.sender,
            event_type: message.event_type,
            content: message.content.get().to_owned(),
            body: message.body,
            sent_at_ms: head.sent_at_ms,
            received_at_ms: self.received_at_ms,
            visibility: came.visibility.unwrap_or_else(|| self.visibility_then(&room)),
            echoed: true,
            encrypted: came.encrypted,
            hops,
        };
        Some(Step::Append { entry, settles })
    }

    /// Where something comes late, more may be missing.
    pub(super) fn note_late(&mut self, head: &Head) {
        let late = !self.past && self.app.is_late(head, self.received_at_ms);
        let room = late.then(|| self.app.rooms.by_id(&head.room_id)).flatten();
        self.afterwards.late.extend(room.map(|room| room.key));
    }

    async fn author(&self, agent: Option<&AgentLive>, room: &RoomLive, head: &Head) -> Author {
        match agent {
            Some(agent) => author(agent),
            None if self.app.settings.is_puppet(&head.sender) => match self.gone_agent(&head.sender).await {
                Some(author) => author,
                None => person(room, &head.sender),
            },
            None => person(room, &head.sender),
        }
    }

    /// What an agent said stays its word after it is gone.
    async fn gone_agent(&self, puppet: &UserId) -> Option<Author> {
        let puppet = puppet.to_owned();
        let row = self.app.store.read(move |r| r.agent_of(&puppet)).await.ok()??;
        let agent = row.agent;
        Some(Author::Agent { key: agent.key, id: agent.id, display_name: agent.display_name })
    }

    pub(super) fn edited(&mut self, edit: Edit, came: Came) -> Option<Step> {
        let room = self.app.rooms.by_id(&edit.head.room_id)?;
        if self.app.is_unheard(&edit.head.sender) {
            return None;
        }
        let new = NewEdit {
            room: room.key,
            event_id: edit.head.event_id,
            target: edit.target,
            sender: edit.head.sender,
            sent_at_ms: edit.head.sent_at_ms,
            content: edit.content.get().to_owned(),
            body: edit.body,
            visibility: came.visibility.unwrap_or_else(|| self.visibility_then(&room)),
            encrypted: came.encrypted,
        };
        Some(Step::Edit(new))
    }

    fn redaction(&mut self, redaction: Redaction) {
        // perhaps of a rule
        let rest_ms = self.app.bans.redaction_rests_ms(&redaction.head.room_id, self.app.now());
        self.list_changed(&redaction.head.room_id, rest_ms);
        let Some(room) = self.app.rooms.by_id(&redaction.head.room_id) else { return };
        let by = redaction.head.sender;
        let any = room.power().is_some_and(|p| p.level_of(&by) >= p.redact);
        self.steps.push(Step::Redact { room: room.key, event_id: redaction.redacts, by, any });
    }
}

fn person(room: &RoomLive, user: &UserId) -> Author {
    room.with_members(|members| {
        let member = members.get(user);
        let name = member.and_then(|m| m.display_name.clone()).filter(|n| !n.trim().is_empty());
        Author::Person {
            display_name: name.unwrap_or_else(|| user.to_string()),
            avatar_url: member.and_then(|m| m.avatar_url.clone()),
        }
    })
}
