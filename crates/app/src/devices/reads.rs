use std::collections::VecDeque;

use parlour_domain::ids::RoomKey;

/// A puppet listens to few people at a time.
const SESSIONS: usize = 8;

/// Sessions that a device can read, and from which message on: so not every message of a session has to ask all devices
/// in the room, one after the other (26 ms of CPU a message with 201 of them, measured 2026-12-01). A key that can read
/// one message can read all that follow (Megolm ratchets forwards only).
#[derive(Debug, Default)]
pub(super) struct Reads(VecDeque<(RoomKey, String, u32)>);

impl Reads {
    pub(super) fn has(&self, room: RoomKey, session_id: &str, message_index: u32) -> bool {
        self.0.iter().any(|(r, id, from)| *r == room && id == session_id && *from <= message_index)
    }

    pub(super) fn note(&mut self, room: RoomKey, session_id: &str, message_index: u32) {
        if self.has(room, session_id, message_index) {
            return;
        }
        self.0.retain(|(r, id, _)| *r != room || id != session_id);
        self.0.truncate(SESSIONS - 1);
        self.0.push_front((room, session_id.to_owned(), message_index));
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: RoomKey = RoomKey(1);

    #[test]
    fn what_was_read_once_is_read_from_there_on() {
        let mut reads = Reads::default();
        assert!(!reads.has(ROOM, "s", 7));
        reads.note(ROOM, "s", 7);
        let asked = [(ROOM, "s", 7), (ROOM, "s", 8), (ROOM, "s", 6), (RoomKey(2), "s", 7), (ROOM, "t", 7)];
        let told = asked.map(|(room, id, index)| reads.has(room, id, index));
        assert_eq!(told, [true, true, false, false, false]);
        reads.note(ROOM, "s", 3);
        assert!(reads.has(ROOM, "s", 6));
        reads.forget();
        assert!(!reads.has(ROOM, "s", 7));
    }

    #[test]
    fn the_newest_few_are_kept() {
        let mut reads = Reads::default();
        (0..20).for_each(|n| reads.note(ROOM, &format!("s{n}"), 0));
        let kept: Vec<_> = (0..20).filter(|n| reads.has(ROOM, &format!("s{n}"), 0)).collect();
        assert_eq!(kept, (12..20).collect::<Vec<_>>());
    }
}
