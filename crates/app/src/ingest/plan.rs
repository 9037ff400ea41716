//! From events to what they change: everything that needs memory or a look elsewhere is decided here, before the one
//! write that carries it out.

use std::sync::Arc;

use parlour_domain::{
    agent::Author,
    ids::{AgentKey, MessageId, RoomKey},
    visibility::Visibility,
};
use parlour_matrix::{
    Incoming,
    events::{Edit, Head, Member as MemberState, Membership, NewMessage, Redaction, StateChange, StateEvent},
};
use parlour_store::{Member, NewEdit, NewEntry};
use ruma::{OwnedEventId, OwnedUserId, RoomId, UserId};
use serde_json::value::RawValue;

use crate::{
    app::App,
    live::{AgentLive, RoomLive},
    sending::author,
};

/// One thing to write down.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A message; and the submission that its arrival settles.
    Append {
        entry: NewEntry,
        settles: Option<(AgentKey, MessageId)>,
    },
    Edit {
        room: RoomKey,
        edit: NewEdit,
    },
    Redact {
        room: RoomKey,
        event_id: OwnedEventId,
        by: OwnedUserId,
        any: bool,
    },
    Member {
        room: RoomKey,
        member: Member,
    },
    Joined {
        agent: AgentKey,
        room: RoomKey,
    },
    Left {
        agent: AgentKey,
        room: RoomKey,
    },
    Name {
        room: RoomKey,
        name: Option<String>,
    },
    Visibility {
        room: RoomKey,
        visibility: Visibility,
    },
    Power {
        room: RoomKey,
        power: String,
    },
    Encrypted {
        room: RoomKey,
    },
}

/// Turns events, in the order they came, into steps.
pub(crate) struct Planner<'a> {
    app: &'a App,
    received_at_ms: i64,
    steps: Vec<Step>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(app: &'a App, received_at_ms: i64) -> Self {
        Self { app, received_at_ms, steps: vec![] }
    }

    pub(crate) fn finish(self) -> Vec<Step> {
        self.steps
    }

    /// Takes an event. One that makes no sense is counted and left out, whatever else comes with it.
    pub(crate) async fn take(&mut self, raw: &RawValue, room: Option<&RoomId>) {
        metrics::counter!("parlour_events_total").increment(1);
        match Incoming::parse(raw, room) {
            Incoming::Message(message) => self.message(message).await,
            Incoming::Edit(edit) => self.edit(edit),
            Incoming::Redaction(redaction) => self.redaction(redaction),
            // only transactions come without naming their room
            Incoming::State(state) => self.state(state, room.is_none()),
            Incoming::Poison { event_id, why } => {
                metrics::counter!("parlour_poison_events_total").increment(1);
                tracing::warn!(?event_id, why, "skipped an event that makes no sense");
            }
            Incoming::Encrypted { .. } | Incoming::Ignored { .. } | Incoming::Redacted { .. } => {}
        }
    }

    /// The same for what was said in the past; state of the past does not count today.
    pub(crate) async fn take_said(&mut self, raw: &RawValue, room: &RoomId) {
        if !matches!(Incoming::parse(raw, Some(room)), Incoming::State(_)) {
            self.take(raw, Some(room)).await;
        }
    }

    async fn message(&mut self, message: NewMessage) {
        let head = message.head;
        let Some(room) = self.app.rooms.by_id(&head.room_id) else { return };
        if head.sender == self.app.settings.bot {
            // what the bridge bot says concerns people
            return;
        }
        let agent = self.app.agents.by_user(&head.sender);
        let settles = agent.as_ref().zip(message.submission).map(|(a, id)| (a.key(), id));
        let message_id = settles.map(|(_, id)| id);
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
            visibility: room.visibility(),
            echoed: true,
        };
        self.steps.push(Step::Append { entry, settles });
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

    fn edit(&mut self, edit: Edit) {
        let Some(room) = self.app.rooms.by_id(&edit.head.room_id) else { return };
        let new = NewEdit {
            event_id: edit.head.event_id,
            target: edit.target,
            sender: edit.head.sender,
            sent_at_ms: edit.head.sent_at_ms,
            content: edit.content.get().to_owned(),
            body: edit.body,
        };
        self.steps.push(Step::Edit { room: room.key, edit: new });
    }

    fn redaction(&mut self, redaction: Redaction) {
        let Some(room) = self.app.rooms.by_id(&redaction.head.room_id) else { return };
        let by = redaction.head.sender;
        let any = room.power().is_some_and(|p| p.level_of(&by) >= p.redact);
        self.steps.push(Step::Redact { room: room.key, event_id: redaction.redacts, by, any });
    }

    /// Facts about rooms go into memory at once, for the events after them; being told twice changes nothing.
    fn state(&mut self, state: StateEvent, live: bool) {
        let Some(room) = self.app.rooms.by_id(&state.head.room_id) else { return };
        match state.change {
            StateChange::Member(member) => {
                let own_doing = live && state.head.sender == member.user;
                self.member(&room, member, live, own_doing);
            }
            StateChange::Name(name) => {
                room.set_name(name.clone());
                self.steps.push(Step::Name { room: room.key, name });
            }
            StateChange::HistoryVisibility(visibility) => {
                room.set_visibility(visibility);
                self.steps.push(Step::Visibility { room: room.key, visibility });
            }
            StateChange::PowerLevels(mut power) => {
                power.creators = room.power().map(|p| p.creators).unwrap_or_default();
                self.power(&room, power);
            }
            StateChange::Encryption { .. } => {
                room.set_encrypted();
                self.steps.push(Step::Encrypted { room: room.key });
            }
            StateChange::Create(_)
            | StateChange::JoinRule(_)
            | StateChange::CanonicalAlias
            | StateChange::Tombstone { .. }
            | StateChange::Other => {}
        }
    }

    pub(crate) fn power(&mut self, room: &Arc<RoomLive>, power: parlour_matrix::events::Power) {
        if let Ok(json) = serde_json::to_string(&power) {
            self.steps.push(Step::Power { room: room.key, power: json });
        }
        room.set_power(power);
    }

    /// A puppet does nothing by itself: its leaving was noted before it was asked for, and may have been followed by a
    /// new join since.
    fn member(&mut self, room: &Arc<RoomLive>, state: MemberState, live: bool, own_doing: bool) {
        if let Some(agent) = self.app.agents.by_user(&state.user) {
            match state.membership {
                // state that was read somewhere may be older than what has happened since; the event itself comes too
                Membership::Join if !live || agent.has_left_since(room.key) => {}
                Membership::Join => self.steps.push(Step::Joined { agent: agent.key(), room: room.key }),
                Membership::Leave | Membership::Ban if own_doing => {}
                Membership::Leave | Membership::Ban => {
                    self.steps.push(Step::Left { agent: agent.key(), room: room.key });
                }
                Membership::Invite | Membership::Knock => {}
            }
        }
        let member = Member {
            user_id: state.user,
            membership: membership(state.membership).to_owned(),
            display_name: state.display_name,
            avatar_url: state.avatar_url,
        };
        room.alter_members(|members| members.put(member.clone()));
        self.steps.push(Step::Member { room: room.key, member });
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

fn membership(membership: Membership) -> &'static str {
    match membership {
        Membership::Join => "join",
        Membership::Invite => "invite",
        Membership::Leave => "leave",
        Membership::Ban => "ban",
        Membership::Knock => "knock",
    }
}
