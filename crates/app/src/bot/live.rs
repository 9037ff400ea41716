use std::collections::{BTreeMap, HashMap, VecDeque};

use parking_lot::{Mutex, RwLock};
use parlour_domain::{ids::RoomKey, quota::MINUTE_MS};
use parlour_store::BotRoom;
use ruma::{OwnedUserId, UserId};
use tokio::sync::Notify;

use crate::lanes::Lanes;

/// As many answers as one person gets in a minute; a loop with another program ends here at the latest.
const ANSWERS_PER_MINUTE: usize = 30;
/// So often in a row the bot says that it did not understand.
const UNCLEAR_IN_A_ROW: usize = 5;

/// The bot's memory.
#[derive(Debug, Default)]
pub(crate) struct Bot {
    rooms: RwLock<HashMap<RoomKey, BotRoom>>,
    answered: Mutex<HashMap<OwnedUserId, Answered>>,
    pub(super) errands: Lanes<RoomKey>,
    pub(super) sayings: Lanes<RoomKey>,
    /// There is something to be said.
    pub(super) to_say: Notify,
    /// There is something to be done.
    pub(crate) to_do: Notify,
    /// A knock, or what became of one.
    pub(crate) at_door: Notify,
    /// Somebody came, or may do more than before.
    pub(crate) news: Notify,
}

#[derive(Debug, Default)]
struct Answered {
    at_ms: VecDeque<i64>,
    unclear: usize,
}

impl Bot {
    pub(crate) fn new(rooms: Vec<BotRoom>) -> Self {
        let rooms = rooms.into_iter().map(|room| (room.room, room)).collect();
        Self { rooms: RwLock::new(rooms), ..Self::default() }
    }

    pub(super) fn put_room(&self, room: RoomKey, direct: bool) {
        let new = BotRoom { room, direct, announced: None };
        self.rooms.write().entry(room).or_insert(new);
    }

    pub(crate) fn leave_room(&self, room: RoomKey) {
        self.rooms.write().remove(&room);
    }

    /// Rooms that the bot was let into.
    pub(super) fn all(&self) -> BTreeMap<RoomKey, BotRoom> {
        self.rooms.read().iter().map(|(key, room)| (*key, room.clone())).collect()
    }

    pub(super) fn room(&self, room: RoomKey) -> Option<BotRoom> {
        self.rooms.read().get(&room).cloned()
    }

    /// Whether the bot was let into a room, as far as is noted.
    pub(crate) fn knows(&self, room: RoomKey) -> bool {
        self.rooms.read().contains_key(&room)
    }

    /// Whether a room is a chat with one person.
    pub(crate) fn chats_in(&self, room: RoomKey) -> bool {
        self.rooms.read().get(&room).is_some_and(|room| room.direct)
    }

    pub(super) fn announced(&self, room: RoomKey, digest: Vec<u8>) {
        if let Some(room) = self.rooms.write().get_mut(&room) {
            room.announced = Some(digest);
        }
    }

    /// Whether somebody may be answered once more; counts it.
    pub(super) fn may_answer(&self, user: &UserId, now_ms: i64) -> bool {
        let mut answered = self.answered.lock();
        let before = answered.entry(user.to_owned()).or_default();
        before.at_ms.retain(|at| *at > now_ms - MINUTE_MS);
        let may = before.at_ms.len() < ANSWERS_PER_MINUTE;
        if may {
            before.at_ms.push_back(now_ms);
        }
        may
    }

    /// Whether to say once more that nothing was understood.
    pub(super) fn may_wonder(&self, user: &UserId) -> bool {
        let mut answered = self.answered.lock();
        let before = answered.entry(user.to_owned()).or_default();
        before.unclear += 1;
        before.unclear <= UNCLEAR_IN_A_ROW
    }

    pub(super) fn understood(&self, user: &UserId) {
        self.answered.lock().entry(user.to_owned()).or_default().unclear = 0;
    }

    /// Forgets who has not asked for anything for a while.
    pub(crate) fn forget_answered(&self, now_ms: i64) {
        let recent = |a: &Answered| a.at_ms.back().is_some_and(|at| *at > now_ms - 10 * MINUTE_MS);
        self.answered.lock().retain(|_, a| recent(a));
    }
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::*;

    #[test]
    fn a_loop_ends_by_itself() {
        let (bot, echo) = (Bot::default(), user_id!("@echo:x"));
        assert_eq!((0..100).filter(|_| bot.may_wonder(echo)).count(), UNCLEAR_IN_A_ROW);
        bot.understood(echo);
        assert!(bot.may_wonder(echo));
        assert_eq!((0..100).filter(|n| bot.may_answer(echo, *n)).count(), ANSWERS_PER_MINUTE);
        assert!(bot.may_answer(user_id!("@ada:x"), 100), "others are not concerned");
        assert!(bot.may_answer(echo, MINUTE_MS + 100), "a minute later");
    }

    #[test]
    fn memory_of_people_does_not_grow() {
        let (bot, ada) = (Bot::default(), user_id!("@ada:x"));
        bot.may_answer(ada, 0);
        bot.forget_answered(11 * MINUTE_MS);
        assert!(bot.answered.lock().is_empty());
    }
}
