//! Whoever a list bans is banned from the rooms of the bridge, and let back in when no list does any more. Rooms of
//! people are their moderators'.

use std::{collections::BTreeSet, sync::Arc};

use parlour_domain::{ban_list::Rules, ids::RoomKey, room::RoomKind};
use parlour_matrix::{HsError, events::Power};
use parlour_store::{ListedBan, Tx, Who};
use ruma::{OwnedUserId, RoomId, UserId};

use super::to_sweep::Noted;
use crate::{app::App, live::RoomLive, tasks::FollowError};

const REASON: &str = "Banned by a ban list that the operator of this bridge follows.";
const RETRY_MS: i64 = 30_000;

impl App {
    pub(super) async fn sweep_rooms(self: Arc<Self>) {
        let mut all_at_ms = Some(self.now());
        while !self.tasks.stopping() {
            let noted = self.bans.to_sweep.take();
            let all = noted.all || all_at_ms.is_some_and(|at| at <= self.now());
            let done = if all { self.sweep().await } else { self.sweep_places(noted).await };
            all_at_ms = all_at_ms.filter(|_| !all);
            if !done {
                all_at_ms = all_at_ms.or(Some(self.now() + RETRY_MS));
            }
            self.until_told(&self.bans.to_sweep.news, all_at_ms).await;
        }
    }

    /// `false`: something is left to do.
    async fn sweep(self: &Arc<Self>) -> bool {
        let rules = self.bans.known.rules();
        let mut all = self.lift_bans(&rules).await;
        for room in self.rooms.all() {
            all &= self.ban_listed(&room, &rules).await & self.leave_barred(&room).await;
            // many people and many patterns: others have their turn between rooms
            tokio::task::yield_now().await;
        }
        all
    }

    async fn sweep_places(&self, noted: Noted) -> bool {
        let rules = self.bans.known.rules();
        let mut all = self.ban_who_came(noted.came).await;
        for room in noted.rooms.into_iter().filter_map(|room| self.rooms.get(room)) {
            all &= self.ban_listed(&room, &rules).await;
        }
        all
    }

    async fn ban_listed(&self, room: &RoomLive, rules: &Rules) -> bool {
        let Some(keeper) = self.keeper(room) else { return true };
        let here = room.with_members(|m| m.with_membership(is_here));
        let mut all = true;
        for user in here.into_iter().filter(|user| self.is_barred_by(rules, user)) {
            all &= self.ban_here(room, &keeper, user).await;
        }
        all
    }

    /// Those whom a list bans, where they came; whoever has gone since is left.
    async fn ban_who_came(&self, came: BTreeSet<(RoomKey, OwnedUserId)>) -> bool {
        let mut all = true;
        for (room, user) in came {
            let Some(room) = self.rooms.get(room) else { continue };
            let here = room.with_members(|m| m.get(&user).is_some_and(|m| is_here(&m.membership)));
            let keeper = self.keeper(&room).filter(|_| here && self.is_barred(&user));
            if let Some(keeper) = keeper {
                all &= self.ban_here(&room, &keeper, user).await;
            }
        }
        all
    }

    async fn ban_here(&self, room: &RoomLive, keeper: &UserId, user_id: OwnedUserId) -> bool {
        let ban = ListedBan { room: room.key, user_id };
        if self.bans.ours.is_done(&ban) || !may_ban(room, keeper, &ban.user_id) {
            return true;
        }
        done(self.ban_one(keeper, &room.room_id, ban).await)
    }

    /// Noted before, so that it is known for ours whenever we end.
    async fn ban_one(&self, keeper: &UserId, room: &RoomId, ban: ListedBan) -> Result<(), FollowError> {
        let (noted, by) = (ban.clone(), self.by(Who::Bridge));
        self.store.write(move |tx: &Tx<'_>| tx.put_listed_ban(&noted)).await?;
        // before the answer: what comes meanwhile says otherwise
        self.bans.ours.note(&ban, true);
        let banned = self.client.ban(keeper, room, &ban.user_id, Some(REASON)).await;
        if banned.is_err() {
            self.bans.ours.note(&ban, false);
        }
        let is_final = banned.as_ref().err().is_some_and(HsError::is_final);
        let write = move |tx: &Tx<'_>| match is_final {
            true => tx.drop_listed_ban(&ban, None),
            false => tx.listed_ban_is_set(&ban, &by),
        };
        if banned.is_ok() || is_final {
            self.store.write(write).await?;
        }
        Ok(banned?)
    }

    /// Of those that were banned here; what a moderator did is the moderators' to undo.
    async fn lift_bans(&self, rules: &Rules) -> bool {
        let Ok(bans) = self.store.read(|r| r.listed_bans()).await else { return false };
        let mut all = true;
        for ban in bans.into_iter().filter(|ban| !self.is_barred_by(rules, &ban.user_id)) {
            all &= done(self.lift(ban).await);
        }
        all
    }

    /// The homeserver is asked how it stands, and whose ban it is: events may come late, or never. Where nobody keeps order
    /// (any more) it stays noted.
    async fn lift(&self, ban: ListedBan) -> Result<(), FollowError> {
        let mut lifted = None;
        if let Some(room) = self.rooms.get(ban.room) {
            let Some(keeper) = self.keeper(&room) else { return Ok(()) };
            let by = self.client.banned_by(&keeper, &room.room_id, &ban.user_id).await?;
            if by.is_some_and(|by| self.is_ours(&by)) {
                self.client.unban(&keeper, &room.room_id, &ban.user_id).await?;
                lifted = Some(self.by(Who::Bridge));
            }
        }
        self.bans.ours.give_up(ban.room, &ban.user_id);
        Ok(self.store.write(move |tx: &Tx<'_>| tx.drop_listed_ban(&ban, lifted.as_ref())).await?)
    }

    /// Who keeps order in a room of the bridge.
    pub(crate) fn keeper(&self, room: &RoomLive) -> Option<OwnedUserId> {
        match (room.kind(), room.owner()) {
            (RoomKind::Lobby, _) => Some(self.settings.bot.clone()),
            (RoomKind::Private, Some(owner)) => {
                let owner = self.agents.get(owner).filter(|a| a.is_in(room.key) && !room.closed())?;
                Some(owner.user_id().to_owned())
            }
            (RoomKind::Private, None) => None,
        }
    }

    /// Agents and bot do not stay in a room of people that a list bans.
    async fn leave_barred(self: &Arc<Self>, room: &RoomLive) -> bool {
        let of_people = room.kind() == RoomKind::Private && room.owner().is_none();
        let inside = || room.with_members(|m| m.any_joined(|user| self.is_ours(user)));
        if !of_people || !self.is_barred_room(&room.room_id) || !inside() {
            return true;
        }
        let left = self.switch_off(room, Who::Bridge).await;
        if let Err(fault) = &left {
            tracing::info!(%fault, cause = fault.cause, room = %room.room_id, "cannot leave a banned room yet");
        }
        left.is_ok()
    }
}

fn is_here(membership: &str) -> bool {
    ["join", "invite", "knock"].contains(&membership)
}

fn may_ban(room: &RoomLive, keeper: &UserId, user: &UserId) -> bool {
    let may = |p: Power| p.level_of(keeper) >= p.ban && p.level_of(keeper) > p.level_of(user);
    room.power().is_some_and(may)
}

/// What is refused for good is left; all else is tried again.
fn done(deed: Result<(), FollowError>) -> bool {
    let Err(error) = deed else { return true };
    tracing::info!(%error, "cannot carry out a ban list everywhere yet");
    error.is_final()
}
