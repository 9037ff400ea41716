//! Which lists are to be read, and when.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use ruma::{OwnedRoomId, RoomId};
use tokio::sync::Notify;

/// Anybody may redact what they said themselves, and a list is read as a whole.
const REDACTED_APART_MS: i64 = 60_000;

#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Lists that changed, and when each is to be read.
    changed: Mutex<BTreeMap<OwnedRoomId, i64>>,
    /// When each list is or was read last because of a redaction.
    redacted: Mutex<BTreeMap<OwnedRoomId, i64>>,
    /// Told when lists are to be read.
    pub(crate) news: Notify,
}

impl Due {
    /// Something was changed in a list, which is to be read at that time, unless that is earlier anyway.
    pub(crate) fn changed(&self, list: OwnedRoomId, at_ms: i64) {
        self.changed.lock().entry(list).and_modify(|at| *at = at_ms.min(*at)).or_insert(at_ms);
        self.news.notify_one();
    }

    /// How long a redaction in a list waits: the first not at all, others until a minute after that.
    pub(super) fn redaction_rests_ms(&self, list: &RoomId, now_ms: i64) -> i64 {
        let mut redacted = self.redacted.lock();
        let at_ms = redacted.entry(list.to_owned()).or_insert(now_ms - REDACTED_APART_MS);
        if *at_ms <= now_ms {
            *at_ms = now_ms.max(*at_ms + REDACTED_APART_MS);
        }
        *at_ms - now_ms
    }

    pub(super) fn next_ms(&self) -> Option<i64> {
        self.changed.lock().values().min().copied()
    }

    /// Those whose time has come.
    pub(super) fn take(&self, now_ms: i64) -> BTreeSet<OwnedRoomId> {
        self.changed.lock().extract_if(.., |_, at_ms| *at_ms <= now_ms).map(|(list, _)| list).collect()
    }
}
