use std::{
    collections::{BTreeMap, VecDeque},
    sync::atomic::Ordering,
};

use parking_lot::Mutex;
use parlour_domain::quota::DAY_MS;
use ruma::{OwnedUserId, UserId};
use tokio::sync::Notify;

use super::Keyring;

const FIRST_PAUSE_MS: i64 = 2_000;
/// Somebody who withholds keys must not make us fetch for each message.
const PAUSE_OF_MORE_MS: i64 = 30_000;
const LONGEST_PAUSE_MS: i64 = 60 * 60_000;
/// Of one puppet. Older ones come along with these, whoever makes up new ones.
const MOST: usize = 100;

/// Room keys that have not come to a puppet that saw something they would open. Where the homeserver does not push keys,
/// they are asked for again, at first soon and then ever less often, for a day.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    turns: Mutex<BTreeMap<OwnedUserId, Turn>>,
    /// Somebody's turn may come earlier than the one that is waited for.
    pub(crate) news: Notify,
}

/// When a puppet's device is asked for next.
#[derive(Debug)]
struct Turn {
    at_ms: i64,
    pause_ms: i64,
    since_ms: i64,
    /// The newest.
    sessions: VecDeque<String>,
}

impl Awaited {
    /// A puppet has no key for something that it saw.
    pub(crate) fn lack(&self, user: &UserId, session: &str, now_ms: i64) {
        let mut turns = self.turns.lock();
        let turn = turns.entry(user.to_owned()).or_insert_with(|| Turn {
            at_ms: now_ms + FIRST_PAUSE_MS,
            pause_ms: FIRST_PAUSE_MS,
            since_ms: now_ms,
            sessions: VecDeque::new(),
        });
        if !turn.sessions.iter().any(|known| known == session) {
            turn.sessions.truncate(MOST - 1);
            turn.sessions.push_front(session.to_owned());
            turn.since_ms = now_ms;
            turn.pause_ms = turn.pause_ms.min(PAUSE_OF_MORE_MS);
            turn.at_ms = turn.at_ms.min(now_ms + turn.pause_ms);
            self.news.notify_one();
        }
    }

    /// A puppet has this key now.
    pub(crate) fn came(&self, user: &UserId, session: &str) {
        let mut turns = self.turns.lock();
        let Some(turn) = turns.get_mut(user) else { return };
        turn.sessions.retain(|known| known != session);
        if turn.sessions.is_empty() {
            turns.remove(user);
        }
    }

    /// They are pushed after all.
    pub(crate) fn forget(&self) {
        self.turns.lock().clear();
    }

    /// Those whose turn it is. Each has its next one later, or none where a day has brought nothing.
    pub(crate) fn due(&self, now_ms: i64) -> Vec<OwnedUserId> {
        let mut turns = self.turns.lock();
        turns.retain(|_, turn| now_ms < turn.since_ms + DAY_MS);
        let due = turns.iter_mut().filter(|(_, turn)| turn.at_ms <= now_ms);
        due.map(|(user, turn)| {
            turn.pause_ms = (turn.pause_ms * 2).min(LONGEST_PAUSE_MS);
            turn.at_ms = now_ms + turn.pause_ms;
            user.clone()
        })
        .collect()
    }

    /// When somebody's turn comes next.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.turns.lock().values().map(|turn| turn.at_ms).min()
    }
}

impl Keyring {
    pub(crate) fn pushes_keys(&self) -> bool {
        self.pushes[0].load(Ordering::Relaxed)
    }

    /// A puppet has no key for something that it saw. Pushed, it comes by itself.
    pub(crate) fn lacks(&self, user: &UserId, session: &str, now_ms: i64) {
        if !self.pushes_keys() {
            self.awaited.lack(user, session, now_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use ruma::user_id;

    use super::*;

    /// When a puppet is asked for, up to a time.
    fn asked(awaited: &Awaited, until_ms: i64) -> Vec<i64> {
        let mut asked = vec![];
        while let Some(at) = awaited.next_ms().filter(|at| *at <= until_ms) {
            asked.extend(awaited.due(at).into_iter().map(|_| at));
        }
        asked
    }

    #[test]
    fn asked_for_ever_less_often_and_not_for_ever() {
        let (awaited, user) = (Awaited::default(), user_id!("@agent_a:x"));
        awaited.lack(user, "one", 0);
        assert_eq!(asked(&awaited, 20_000), [2_000, 6_000, 14_000]);
        awaited.lack(user, "one", 20_000);
        assert_eq!(asked(&awaited, 60_000), [30_000], "known already");
        let later = asked(&awaited, 3 * DAY_MS);
        assert!(later.last().is_some_and(|at| *at < DAY_MS) && later.len() < 40, "{later:?}");
        assert_eq!(awaited.next_ms(), None);
    }

    #[test]
    fn another_key_that_is_missing_is_asked_for_soon() {
        let (awaited, user) = (Awaited::default(), user_id!("@agent_a:x"));
        awaited.lack(user, "one", 0);
        let last = asked(&awaited, DAY_MS / 2).pop().unwrap();
        awaited.lack(user, "two", last + 1);
        assert_eq!(awaited.next_ms(), Some(last + 1 + PAUSE_OF_MORE_MS));
    }

    #[test]
    fn many_keys_that_are_missing_do_not_ask_often() {
        let (awaited, user) = (Awaited::default(), user_id!("@agent_a:x"));
        let mut times = 0;
        for second in 0..600 {
            awaited.lack(user, &second.to_string(), second * 1_000);
            times += awaited.due(second * 1_000).len();
        }
        assert!(times <= 600 / 30 + 4, "asked {times} times in ten minutes");
    }

    #[test]
    fn made_up_sessions_keep_no_real_one_out() {
        let (awaited, user) = (Awaited::default(), user_id!("@agent_a:x"));
        (0..2 * MOST).for_each(|n| awaited.lack(user, &n.to_string(), 0));
        let last = asked(&awaited, DAY_MS / 2).pop().unwrap();
        awaited.lack(user, "real", last + 1);
        assert_eq!(awaited.next_ms(), Some(last + 1 + PAUSE_OF_MORE_MS));
        (0..2 * MOST).for_each(|n| awaited.came(user, &n.to_string()));
        assert!(awaited.next_ms().is_some());
        awaited.came(user, "real");
        assert_eq!(awaited.next_ms(), None, "no more are kept than a hundred");
    }

    #[test]
    fn nobody_asks_for_what_has_come() {
        let (awaited, user) = (Awaited::default(), user_id!("@agent_a:x"));
        awaited.lack(user, "one", 0);
        awaited.lack(user, "two", 0);
        awaited.came(user, "one");
        assert_eq!(awaited.next_ms(), Some(2_000));
        awaited.came(user, "two");
        assert_eq!(awaited.next_ms(), None);
        awaited.came(user, "three");
    }
}
