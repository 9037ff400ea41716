//! Ban lists (Matrix spec, "Moderation policy lists"): the rooms named in `[moderation] ban_lists` say who is banned.
//! What such people say reaches no agent and not the bot, their invitations are declined, nobody of ours invites them,
//! and in rooms of the bridge (the lobbies, and those that agents made) they are banned. An agent is never put out by a
//! rule: its owner is not the one who is known for abuse.

mod due;
mod known;
mod lists;
mod ours;
mod sweep;
mod to_sweep;

use std::sync::Arc;

use parlour_domain::ban_list::Rules;
use parlour_store::{BanList, ListedBan};
use ruma::{OwnedServerName, RoomId, UserId};

use self::{due::Due, known::Known, ours::Ours, to_sweep::ToSweep};
use crate::app::App;

#[derive(Debug)]
pub(crate) struct Bans {
    pub(crate) known: Known,
    pub(crate) due: Due,
    pub(crate) to_sweep: ToSweep,
    pub(crate) ours: Ours,
}

impl Bans {
    pub(crate) fn new(home: OwnedServerName, lists: Vec<BanList>, ours: Vec<ListedBan>) -> Self {
        Self {
            known: Known::new(home, lists),
            due: Due::default(),
            to_sweep: ToSweep::default(),
            ours: Ours::new(ours),
        }
    }

    /// How long a redaction waits until what it changes is read: where no list is, there is none.
    pub(crate) fn redaction_rests_ms(&self, room: &RoomId, now_ms: i64) -> i64 {
        if self.known.is_list(room) { self.due.redaction_rests_ms(room, now_ms) } else { 0 }
    }
}

impl App {
    /// Whether a list bans somebody. Nobody of ours is.
    pub(crate) fn is_barred(&self, user: &UserId) -> bool {
        self.is_barred_by(&self.bans.known.rules(), user)
    }

    fn is_barred_by(&self, rules: &Rules, user: &UserId) -> bool {
        rules.ban_user(user) && !self.is_ours(user)
    }

    /// Whether a list bans a room.
    pub(crate) fn is_barred_room(&self, room: &RoomId) -> bool {
        self.bans.known.rules().ban_room(room)
    }

    /// Whether a list bans who invites, or where to.
    pub(crate) fn is_barred_invitation(&self, by: &UserId, room: &RoomId) -> bool {
        self.is_barred(by) || self.is_barred_room(room)
    }

    /// What somebody said who is banned is nobody's to hear.
    pub(crate) fn is_unheard(&self, sender: &UserId) -> bool {
        let unheard = self.is_barred(sender);
        if unheard {
            metrics::counter!("parlour_barred_events_total").increment(1);
        }
        unheard
    }

    pub(crate) fn start_ban_lists(self: &Arc<Self>) {
        self.tasks.spawn(self.clone().follow_ban_lists());
        self.tasks.spawn(self.clone().sweep_rooms());
    }
}
