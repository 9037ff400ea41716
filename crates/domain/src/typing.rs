//! Who is typing. The homeserver tells the whole list of a room each time it changes (Matrix spec, `m.typing`).

use std::collections::HashMap;

use ruma::{OwnedUserId, UserId};

use crate::{ids::RoomKey, limits::TYPING_BELIEVED_MS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// Until this moment, if nothing more is heard.
    Until(i64),
    /// Stopped, or was last believed, at this moment.
    Stopped(i64),
}

/// The bridge's memory of typing; nothing of it is kept on disk.
#[derive(Debug, Default)]
pub struct TypingBoard {
    rooms: HashMap<RoomKey, HashMap<OwnedUserId, Typing>>,
}

impl TypingBoard {
    /// Takes the list of those who type in `room` now. Returns whether anybody began or stopped.
    pub fn update(&mut self, room: RoomKey, users: &[OwnedUserId], now_ms: i64) -> bool {
        let board = self.rooms.entry(room).or_default();
        let mut changed = false;
        for (user, state) in board.iter_mut() {
            if matches!(state, Typing::Until(_)) && !users.contains(user) {
                *state = Typing::Stopped(now_ms);
                changed = true;
            }
        }
        for user in users {
            let before = board.insert(user.clone(), Typing::Until(now_ms + TYPING_BELIEVED_MS));
            changed |= !matches!(before, Some(Typing::Until(_)));
        }
        // what ended long ago holds nobody up
        board.retain(|_, s| matches!(s, Typing::Until(_)) || stopped_at(*s) + TYPING_BELIEVED_MS > now_ms);
        changed
    }

    /// A client stops typing when it sends; not all of them say so.
    pub fn spoke(&mut self, room: RoomKey, user: &UserId, now_ms: i64) {
        if let Some(state) = self.rooms.get_mut(&room).and_then(|b| b.get_mut(user)) {
            *state = Typing::Stopped(now_ms);
        }
    }

    #[must_use]
    pub fn of(&self, room: RoomKey, user: &UserId, now_ms: i64) -> Option<Typing> {
        let state = *self.rooms.get(&room)?.get(user)?;
        match state {
            Typing::Until(until) if until <= now_ms => Some(Typing::Stopped(until)),
            state => Some(state),
        }
    }
}

fn stopped_at(state: Typing) -> i64 {
    match state {
        Typing::Until(ms) | Typing::Stopped(ms) => ms,
    }
}

#[cfg(test)]
mod tests {
    use ruma::{owned_user_id, user_id};

    use super::*;

    const ROOM: RoomKey = RoomKey(1);

    #[test]
    fn typing_is_believed_for_thirty_seconds() {
        let mut board = TypingBoard::default();
        assert!(board.update(ROOM, &[owned_user_id!("@ada:x")], 1_000));
        assert!(!board.update(ROOM, &[owned_user_id!("@ada:x")], 2_000), "still typing is no news");
        assert_eq!(board.of(ROOM, user_id!("@ada:x"), 31_999), Some(Typing::Until(32_000)));
        assert_eq!(board.of(ROOM, user_id!("@ada:x"), 32_000), Some(Typing::Stopped(32_000)));
        assert_eq!(board.of(RoomKey(2), user_id!("@ada:x"), 2_000), None);
    }

    #[test]
    fn leaving_the_list_or_speaking_stops_it() {
        let mut board = TypingBoard::default();
        board.update(ROOM, &[owned_user_id!("@ada:x"), owned_user_id!("@bob:x")], 0);
        assert!(board.update(ROOM, &[owned_user_id!("@bob:x")], 5));
        assert_eq!(board.of(ROOM, user_id!("@ada:x"), 6), Some(Typing::Stopped(5)));
        board.spoke(ROOM, user_id!("@bob:x"), 7);
        assert_eq!(board.of(ROOM, user_id!("@bob:x"), 8), Some(Typing::Stopped(7)));
    }
}
