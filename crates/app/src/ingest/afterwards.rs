use std::collections::{BTreeMap, BTreeSet};

use parlour_domain::ids::RoomKey;
use ruma::{OwnedRoomId, OwnedUserId};

use crate::app::App;

/// What follows from a plan once it is on disk.
#[derive(Debug, Default)]
pub(super) struct Afterwards {
    /// Rooms in which a key is missing.
    pub(super) missing: BTreeSet<RoomKey>,
    /// Rooms that are encrypted from now on.
    pub(super) encrypted_rooms: BTreeSet<RoomKey>,
    /// Members or powers changed where the bot is.
    pub(super) bot_news: bool,
    /// Rooms in which a ban list changed, and how long it may rest.
    pub(super) ban_lists: BTreeMap<OwnedRoomId, i64>,
    /// Rooms in which who keeps order may do more than before, or less.
    pub(super) powers: BTreeSet<RoomKey>,
    /// Whom a list bans, and where they came.
    pub(super) barred: BTreeSet<(RoomKey, OwnedUserId)>,
    /// Rooms in which a word from elsewhere came late.
    pub(super) late: BTreeSet<RoomKey>,
    /// Devices to be pulled for.
    pub(super) pull: BTreeSet<OwnedUserId>,
    /// Devices that have requests to make.
    pub(super) talk: BTreeSet<OwnedUserId>,
    /// Devices that the homeserver does not have any more.
    pub(super) lost: BTreeSet<OwnedUserId>,
    /// Puppets whose devices the homeserver says have changed.
    pub(super) look_after: BTreeSet<OwnedUserId>,
    /// Devices that had word of a room's history.
    pub(super) bundles: BTreeSet<OwnedUserId>,
}

impl Afterwards {
    pub(super) fn set_going(self, app: &App) {
        if self.bot_news {
            app.bot.news.notify_one();
        }
        self.ban_lists
            .into_iter()
            .for_each(|(list, rest_ms)| app.bans.due.changed(list, app.now() + rest_ms));
        self.powers.into_iter().for_each(|room| app.bans.to_sweep.room(room));
        self.barred.into_iter().for_each(|(room, user)| app.bans.to_sweep.came(room, user));
        self.late.into_iter().for_each(|room| app.late.came(room, app.now()));
        let Some(app) = app.me.upgrade() else { return };
        self.missing.into_iter().for_each(|room| app.pull_for_room(room));
        for room in self.encrypted_rooms.into_iter().filter_map(|room| app.rooms.get(room)) {
            app.agents_in(&room).iter().for_each(|agent| app.prepare_ahead(agent.key(), room.key));
        }
        let slots = |users: BTreeSet<OwnedUserId>| {
            let slots = users.into_iter().filter_map(|user| app.keyring.with_device(&user));
            slots.collect::<Vec<_>>()
        };
        slots(self.talk).into_iter().for_each(|slot| app.settle_later(slot));
        slots(self.pull).into_iter().for_each(|slot| app.pull_later(slot));
        slots(self.bundles).into_iter().for_each(|slot| app.import_later(slot));
        slots(self.lost).into_iter().for_each(|slot| app.renew_later(slot));
        slots(self.look_after).into_iter().for_each(|slot| app.look_after(slot));
    }
}
