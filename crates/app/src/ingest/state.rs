//! What becomes of rooms and of those in them.

use std::sync::Arc;

use parlour_domain::room::RoomKind;
use parlour_matrix::events::{Member as MemberState, Membership, Power, StateChange, StateEvent};
use parlour_store::{Invitation, Member};
use ruma::UserId;

use super::{Planner, Step};
use crate::live::{AgentLive, RoomLive};

impl Planner<'_> {
    /// Facts about rooms go into memory at once, for the events after them; being told twice changes nothing.
    pub(super) async fn state(&mut self, state: StateEvent, live: bool) {
        if live {
            self.invited(&state);
            if state.change == StateChange::BanRule {
                self.list_changed(&state.head.room_id, 0);
            }
        }
        let Some(room) = self.app.rooms.by_id(&state.head.room_id) else {
            return self.unknown_room(&state).await;
        };
        match state.change {
            StateChange::Member(member) => self.member(&room, &state.head.sender, member, live),
            StateChange::Name(name) => {
                room.set_name(name.clone());
                let by = live.then(|| self.done_by(&state.head.sender));
                self.steps.push(Step::Name { room: room.key, name, by });
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
                // on disk whatever comes after
                self.steps.push(Step::Encrypted { room: room.key });
                room.set_encrypted();
                room.set_encryption(None);
                self.app.hub.lobby_changed();
                self.afterwards.encrypted_rooms.insert(room.key);
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
            | StateChange::BanRule
            | StateChange::Other => {}
        }
    }

    pub(crate) fn power(&mut self, room: &Arc<RoomLive>, power: Power) {
        self.afterwards.bot_news |= self.app.bot.knows(room.key);
        if self.app.keeper(room).is_some() && room.power().as_ref() != Some(&power) {
            self.afterwards.powers.insert(room.key);
        }
        if let Ok(json) = serde_json::to_string(&power) {
            self.steps.push(Step::Power { room: room.key, power: json });
        }
        room.set_power(power);
    }

    fn member(&mut self, room: &Arc<RoomLive>, by: &UserId, state: MemberState, live: bool) {
        let as_of = self.as_of.unwrap_or(u64::MAX);
        if room.with_members(|members| members.changed_after(as_of, &state.user)) {
            return;
        }
        if let Some(agent) = self.app.agents.by_user(&state.user) {
            match state.membership {
                // state that was read somewhere may be older than what has happened since; the event itself comes too
                Membership::Join if !live && room.kind() == RoomKind::Lobby => {}
                Membership::Join => self.joined(&agent, room),
                Membership::Leave => self.left(&agent, room, by, live, false),
                Membership::Ban => self.left(&agent, room, by, live, true),
                Membership::Invite | Membership::Knock => {}
            }
        }
        self.news_for_bot(room, by, &state, live);
        let member = Member {
            user_id: state.user,
            membership: state.membership.as_str().to_owned(),
            display_name: state.display_name,
            avatar_url: state.avatar_url,
        };
        if room.alter_members(|members| members.put_as_of(as_of, member.clone())) {
            self.steps.push(Step::Member { room: room.key, member });
        }
    }

    /// News of a join may be old: the agent was taken out since.
    fn joined(&mut self, agent: &AgentLive, room: &RoomLive) {
        if !agent.has_left_since(room.key) {
            self.steps.push(Step::Joined { agent: agent.key(), room: room.key });
        }
    }

    /// A puppet does nothing by itself, and in private rooms ours do nothing to each other: what they do was noted
    /// before it was asked for, and may be undone since.
    fn left(&mut self, agent: &AgentLive, room: &RoomLive, by: &UserId, live: bool, banned: bool) {
        let removed = by != agent.user_id();
        let own_doing = match removed {
            false => live,
            true => room.kind() == RoomKind::Private && self.app.is_ours(by),
        };
        if !own_doing {
            let knocked =
                room.with_members(|m| m.get(agent.user_id()).is_some_and(|m| m.membership == "knock"));
            let (agent, room, at_ms) = (agent.key(), room.key, self.received_at_ms);
            self.steps.push(match removed {
                true => Step::PutOut { agent, room, banned, by: self.done_by(by) },
                false => Step::Left { agent, room },
            });
            if removed && live && knocked {
                self.steps.push(Step::TurnedAway { agent, room, by: by.to_owned(), at_ms });
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
