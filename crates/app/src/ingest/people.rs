//! What concerns the bridge bot, and people at doors.

use std::sync::Arc;

use parlour_domain::{ids::AgentId, knock::Answer, room::RoomKind};
use parlour_matrix::events::{Member, Membership, Reaction, StateEvent};
use parlour_store::{BotInvitation, ListedBan, PersonKnock};
use ruma::{OwnedEventId, RoomId, UserId};

use super::{Planner, Step};
use crate::{bot::Meant, live::RoomLive};

impl Planner<'_> {
    /// No log has it, so that no agent is ever given it.
    pub(super) fn for_bot(&self, meant: Meant, event_id: OwnedEventId) -> Step {
        match meant {
            Meant::Errand(errand) if !self.past => Step::Errand(errand),
            Meant::Errand(_) | Meant::Nothing => Step::Heard { event_id },
        }
    }

    pub(super) fn reaction(&self, reaction: &Reaction) -> Option<Step> {
        let room = self.app.rooms.by_id(&reaction.head.room_id).filter(|_| !self.past)?;
        if self.app.is_unheard(&reaction.head.sender) {
            return None;
        }
        self.app.pressed_for_bot(&room, reaction).map(Step::Errand)
    }

    pub(super) fn bot_invited(&mut self, state: &StateEvent, direct: bool) {
        if self.app.is_ours(&state.head.sender) {
            return;
        }
        let invitation = BotInvitation {
            room_id: state.head.room_id.clone(),
            invited_by: state.head.sender.clone(),
            direct,
            received_at_ms: self.received_at_ms,
        };
        self.steps.push(Step::BotInvited { event_id: state.head.event_id.clone(), invitation });
    }

    /// What a change of membership means for the bot, and for the owner of the room.
    pub(super) fn news_for_bot(&mut self, room: &Arc<RoomLive>, by: &UserId, state: &Member, live: bool) {
        self.visitor(room, by, state, live);
        self.listed(room, by, state, live);
        let out = matches!(state.membership, Membership::Leave | Membership::Ban);
        if state.user == self.app.settings.bot && live && out && room.kind() == RoomKind::Private {
            self.steps.push(Step::BotOut { room: room.key, by: self.done_by(by) });
        }
        self.afterwards.bot_news |= state.membership == Membership::Join && self.app.bot.knows(room.key);
    }

    /// What a change of membership means for a ban by the rules of a list.
    fn listed(&mut self, room: &RoomLive, by: &UserId, state: &Member, live: bool) {
        let comes = !matches!(state.membership, Membership::Leave | Membership::Ban);
        if comes {
            self.app.bans.ours.comes(room.key, &state.user);
            if self.app.keeper(room).is_some() && self.app.is_barred(&state.user) {
                self.afterwards.barred.insert((room.key, state.user.clone()));
            }
        }
        let by_moderator = live && *by != state.user && !self.app.is_ours(by);
        if by_moderator && self.app.bans.ours.give_up(room.key, &state.user) {
            // from here on it is theirs to lift
            let (room, user) = (room.key, state.user.clone());
            self.steps.push(Step::BanNotOurs(ListedBan { room, user_id: user }));
        }
    }

    /// The list is to be read within that time.
    pub(super) fn list_changed(&mut self, room: &RoomId, rest_ms: i64) {
        if self.app.bans.known.is_list(room) {
            let rest = self.afterwards.ban_lists.entry(room.to_owned()).or_insert(rest_ms);
            *rest = rest_ms.min(*rest);
        }
    }

    fn visitor(&mut self, room: &RoomLive, by: &UserId, state: &Member, live: bool) {
        if room.owner().is_none() || self.app.is_ours(&state.user) {
            return;
        }
        // or came with the same news
        let knocked = || room.with_members(|m| m.get(&state.user).is_some_and(|m| m.membership == "knock"));
        let known = self.app.visitors.has(room.key, &state.user) || knocked();
        match state.membership {
            // read somewhere, it may be one that is known
            Membership::Knock if !live && known => {}
            Membership::Knock => self.steps.push(Step::PersonKnocks(PersonKnock {
                room: room.key,
                user_id: state.user.clone(),
                id: AgentId::new(self.app.now(), self.app.chance.bytes()),
                at_ms: self.received_at_ms,
                told: false,
            })),
            _ if known => {
                let answer = answer(by, state);
                let by = self.done_by(by);
                self.steps.push(Step::PersonGone { room: room.key, user: state.user.clone(), answer, by });
            }
            _ => {}
        }
    }
}

/// What a change of membership is to the knock that it ends.
fn answer(by: &UserId, state: &Member) -> Answer {
    match state.membership {
        _ if *by == state.user => Answer::None,
        Membership::Leave | Membership::Ban => Answer::Declined,
        Membership::Invite | Membership::Join | Membership::Knock => Answer::Admitted,
    }
}
