//! From events to what they change: everything that needs memory or a look elsewhere is decided here, before the one
//! write that carries it out.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parlour_domain::{
    agent::Author,
    ids::{AgentKey, MessageId, RoomKey},
    room::RoomKind,
    visibility::Visibility,
};
use parlour_matrix::{
    Incoming,
    crypto::{KeyCounts, RoomKey as MegolmKey},
    events::{Edit, Head, Member as MemberState, Membership, NewMessage, Redaction, StateChange, StateEvent},
};
use parlour_store::{
    BotInvitation, Invitation, KeyFrom, Member, NewEdit, NewEntry, NewErrand, PersonKnock, SealedEcho,
    Waiting,
};
use ruma::{OwnedEventId, OwnedRoomId, OwnedUserId, RoomId, UserId};
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::sealed::Unsealed;
use crate::{
    app::App,
    crypto_rows::CryptoBatch,
    devices::{Held, Slot},
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
    Edit(NewEdit),
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
    /// Out of a room; `removed`: by somebody else.
    Left {
        agent: AgentKey,
        room: RoomKey,
        removed: bool,
    },
    /// A person knocks on a room that an agent made.
    PersonKnocks(PersonKnock),
    /// And does so no more.
    PersonGone {
        room: RoomKey,
        user: OwnedUserId,
    },
    /// Put out by somebody before it was let in.
    TurnedAway {
        agent: AgentKey,
        room: RoomKey,
        by: OwnedUserId,
    },
    /// A person invited a puppet.
    Invited(Invitation),
    /// A person invited the bot, by this event.
    BotInvited {
        event_id: OwnedEventId,
        invitation: BotInvitation,
    },
    /// The bot is out of a room.
    BotOut {
        room: RoomKey,
    },
    /// Something was said to the bot, or a sign of its was pressed.
    Errand(NewErrand),
    /// Meant for the bot, and nothing to be done about (any more).
    Heard {
        event_id: OwnedEventId,
    },
    /// The room goes on elsewhere.
    Successor {
        room: RoomKey,
        to: OwnedRoomId,
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
    /// Anybody may join, or not any more.
    Open {
        room: RoomKey,
        open: bool,
    },
    /// A person's event, decrypted.
    Unsealed(Unsealed),
    /// One that nobody can read yet.
    Wait(Waiting),
    /// One that no key will ever open.
    GiveUp {
        event_id: OwnedEventId,
    },
    /// A key came for an agent that could not read what others could: a message or an edit.
    Readable {
        agent: AgentKey,
        room: RoomKey,
        event_id: OwnedEventId,
    },
    /// An agent has a room key: what was said with it before it came may be shared history.
    HasKey {
        agent: AgentKey,
        room: RoomKey,
        key: KeyFrom,
    },
    /// An own encrypted message has come back.
    OwnEcho {
        agent: AgentKey,
        author: Author,
        sender: OwnedUserId,
        room: RoomKey,
        digest: [u8; 32],
        echo: SealedEcho,
        /// Its room key, and its place in that.
        session: Option<(String, u32)>,
        received_at_ms: i64,
    },
    /// What waited for a device was taken up to here.
    Pulled {
        account: i64,
        since: String,
    },
    /// What the homeserver has left of a device's keys.
    Counts {
        account: i64,
        counts: KeyCounts,
    },
}

impl Step {
    /// The event that it is about, where that takes a place in the room's order.
    pub(crate) fn event(&self) -> Option<&OwnedEventId> {
        match self {
            Self::Append { entry, .. } => Some(&entry.event_id),
            Self::Edit(edit) => Some(&edit.event_id),
            Self::Unsealed(unsealed) => Some(&unsealed.event_id),
            Self::Wait(waiting) => Some(&waiting.event_id),
            _ => None,
        }
    }
}

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
    /// Rooms in which a key is missing.
    missing: BTreeSet<RoomKey>,
    encrypted_rooms: BTreeSet<RoomKey>,
    /// Members or powers changed where the bot is.
    bot_news: bool,
    /// Devices to be pulled for.
    pull: BTreeSet<OwnedUserId>,
    /// Devices that have requests to make.
    talk: BTreeSet<OwnedUserId>,
    lost: BTreeSet<OwnedUserId>,
    /// Puppets whose devices the homeserver says have changed.
    look_after: BTreeSet<OwnedUserId>,
    /// Devices that had word of a room's history.
    bundles: BTreeSet<OwnedUserId>,
}

impl Plan {
    /// It is on disk: the machines are given back, and what follows from it is set going.
    pub(crate) fn committed(&mut self, app: &App) {
        for mut held in std::mem::take(&mut self.held) {
            held.committed();
        }
        self.many = None;
        if std::mem::take(&mut self.bot_news) {
            app.bot.news.notify_one();
        }
        let Some(app) = app.me.upgrade() else { return };
        for room in std::mem::take(&mut self.missing) {
            app.pull_for_room(room);
        }
        for room in std::mem::take(&mut self.encrypted_rooms).into_iter().filter_map(|r| app.rooms.get(r)) {
            app.agents_in(&room).iter().for_each(|agent| app.prepare_ahead(agent.key(), room.key));
        }
        let slots = |users: &mut BTreeSet<OwnedUserId>| {
            let users = std::mem::take(users).into_iter();
            users.filter_map(|user| app.keyring.with_device(&user)).collect::<Vec<_>>()
        };
        slots(&mut self.talk).into_iter().for_each(|slot| app.settle_later(slot));
        slots(&mut self.pull).into_iter().for_each(|slot| app.pull_later(slot));
        slots(&mut self.bundles).into_iter().for_each(|slot| app.import_later(slot));
        slots(&mut self.lost).into_iter().for_each(|slot| app.renew_later(slot));
        slots(&mut self.look_after).into_iter().for_each(|slot| app.look_after(slot));
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
    pub(super) missing: BTreeSet<RoomKey>,
    /// Rooms that are encrypted from now on.
    encrypted_rooms: BTreeSet<RoomKey>,
    pub(super) bot_news: bool,
    /// What is read was said long ago: nothing is done about it.
    pub(super) past: bool,
    pub(super) pull: BTreeSet<OwnedUserId>,
    pub(super) talk: BTreeSet<OwnedUserId>,
    pub(super) lost: BTreeSet<OwnedUserId>,
    pub(super) look_after: BTreeSet<OwnedUserId>,
    pub(super) bundles: BTreeSet<OwnedUserId>,
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
            missing: BTreeSet::new(),
            encrypted_rooms: BTreeSet::new(),
            bot_news: false,
            past: false,
            pull: BTreeSet::new(),
            talk: BTreeSet::new(),
            lost: BTreeSet::new(),
            look_after: BTreeSet::new(),
            bundles: BTreeSet::new(),
        }
    }

    pub(crate) fn finish(mut self) -> Plan {
        Plan {
            steps: self.steps,
            batches: self.held.values_mut().filter_map(Held::take).collect(),
            held: self.held.into_values().collect(),
            many: self.many,
            missing: self.missing,
            encrypted_rooms: self.encrypted_rooms,
            bot_news: self.bot_news,
            pull: self.pull,
            talk: self.talk,
            lost: self.lost,
            look_after: self.look_after,
            bundles: self.bundles,
        }
    }

    /// The room's history visibility when the event came about.
    pub(super) fn visibility_then(&self, room: &RoomLive) -> Visibility {
        self.then.unwrap_or_else(|| room.visibility())
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Takes an event. One that makes no sense is counted and left out, whatever else comes with it.
    pub(crate) async fn take(&mut self, raw: &RawValue, room: Option<&RoomId>) {
        metrics::counter!("parlour_events_total").increment(1);
        match Incoming::parse(raw, room) {
            Incoming::Message(message) => {
                let step = self.said(message, Came::OPEN).await;
                self.steps.extend(step);
            }
            Incoming::Edit(edit) => {
                let step = self.edited(edit, Came::OPEN);
                self.steps.extend(step);
            }
            Incoming::Encrypted { head, ciphertext, session_id } => {
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
        let Some(room) = self.app.rooms.by_id(&redaction.head.room_id) else { return };
        let by = redaction.head.sender;
        let any = room.power().is_some_and(|p| p.level_of(&by) >= p.redact);
        self.steps.push(Step::Redact { room: room.key, event_id: redaction.redacts, by, any });
    }

    /// Facts about rooms go into memory at once, for the events after them; being told twice changes nothing.
    async fn state(&mut self, state: StateEvent, live: bool) {
        if live {
            self.invited(&state);
        }
        let Some(room) = self.app.rooms.by_id(&state.head.room_id) else {
            return self.unknown_room(&state).await;
        };
        match state.change {
            StateChange::Member(member) => self.member(&room, &state.head.sender, member, live),
            StateChange::Name(name) => {
                room.set_name(name.clone());
                self.steps.push(Step::Name { room: room.key, name });
            }
            StateChange::HistoryVisibility(visibility) => {
                room.set_visibility(visibility);
                self.app.hub.lobby_changed();
                self.steps.push(Step::Visibility { room: room.key, visibility });
            }
            StateChange::PowerLevels(mut power) => {
                power.creators = room.power().map(|p| p.creators).unwrap_or_default();
                self.power(&room, power);
            }
            StateChange::Encryption { .. } => {
                room.set_encrypted();
                room.set_encryption(None);
                self.app.hub.lobby_changed();
                self.encrypted_rooms.insert(room.key);
                self.steps.push(Step::Encrypted { room: room.key });
            }
            StateChange::Tombstone { replacement: Some(to) } => {
                room.set_successor(Some(to.clone()));
                self.steps.push(Step::Successor { room: room.key, to });
            }
            StateChange::JoinRule(rule) => {
                let open = rule == "public";
                room.set_open(open);
                self.app.hub.lobby_changed();
                self.steps.push(Step::Open { room: room.key, open });
            }
            StateChange::Create(_)
            | StateChange::CanonicalAlias
            | StateChange::Tombstone { .. }
            | StateChange::Other => {}
        }
    }

    pub(crate) fn power(&mut self, room: &Arc<RoomLive>, power: parlour_matrix::events::Power) {
        self.bot_news |= self.app.bot.knows(room.key);
        if let Ok(json) = serde_json::to_string(&power) {
            self.steps.push(Step::Power { room: room.key, power: json });
        }
        room.set_power(power);
    }

    fn member(&mut self, room: &Arc<RoomLive>, by: &UserId, state: MemberState, live: bool) {
        if let Some(agent) = self.app.agents.by_user(&state.user) {
            match state.membership {
                // state that was read somewhere may be older than what has happened since; the event itself comes too
                Membership::Join if !live && room.kind() == RoomKind::Lobby => {}
                Membership::Join => self.joined(&agent, room),
                Membership::Leave | Membership::Ban => self.left(&agent, room, by, live),
                Membership::Invite | Membership::Knock => {}
            }
        }
        self.news_for_bot(room, &state, live);
        let member = Member {
            user_id: state.user,
            membership: membership(state.membership).to_owned(),
            display_name: state.display_name,
            avatar_url: state.avatar_url,
        };
        room.alter_members(|members| members.put(member.clone()));
        self.steps.push(Step::Member { room: room.key, member });
    }

    /// News of a join may be old: the agent was taken out since.
    fn joined(&mut self, agent: &AgentLive, room: &RoomLive) {
        if !agent.has_left_since(room.key) {
            self.steps.push(Step::Joined { agent: agent.key(), room: room.key });
        }
    }

    /// A puppet does nothing by itself, and in private rooms ours do nothing to each other: what they do was noted
    /// before it was asked for, and may be undone since.
    fn left(&mut self, agent: &AgentLive, room: &RoomLive, by: &UserId, live: bool) {
        let removed = by != agent.user_id();
        let own_doing = match removed {
            false => live,
            true => room.kind() == RoomKind::Private && self.app.is_ours(by),
        };
        if !own_doing {
            let knocked =
                room.with_members(|m| m.get(agent.user_id()).is_some_and(|m| m.membership == "knock"));
            self.steps.push(Step::Left { agent: agent.key(), room: room.key, removed });
            if removed && live && knocked {
                self.steps.push(Step::TurnedAway { agent: agent.key(), room: room.key, by: by.to_owned() });
            }
        }
    }

    /// People's invitations are followed or declined later; those of ours are part of letting an agent in. A puppet
    /// that does not exist is nobody's to answer for.
    fn invited(&mut self, state: &StateEvent) {
        let StateChange::Member(MemberState { membership: Membership::Invite, user, is_direct, .. }) =
            &state.change
        else {
            return;
        };
        if *user == self.app.settings.bot {
            return self.bot_invited(state, *is_direct);
        }
        let Some(agent) = self.app.agents.by_user(user).filter(|a| !a.ended()) else { return };
        if self.app.is_ours(&state.head.sender) {
            return;
        }
        self.steps.push(Step::Invited(Invitation {
            agent: agent.key(),
            room_id: state.head.room_id.clone(),
            invited_by: state.head.sender.clone(),
            received_at_ms: self.received_at_ms,
        }));
    }

    /// The first event of a room that a puppet was asked to make: by its number it is known whose it is, whatever
    /// became of the homeserver's answer.
    async fn unknown_room(&mut self, state: &StateEvent) {
        let StateChange::Create(create) = &state.change else { return };
        let (Some(number), Some(maker)) = (create.catalog_id, self.app.agents.by_user(&state.head.sender))
        else {
            return;
        };
        match self.app.take_over(number, &state.head.room_id).await {
            Ok(Some(_)) => {}
            Ok(None) => self.app.stray(maker.user_id(), &state.head.room_id),
            Err(fault) => {
                tracing::warn!(%fault, cause = fault.cause, "cannot take over a room that was made")
            }
        }
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
