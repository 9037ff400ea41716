//! What people of another homeserver said while it did not reach ours. When it does again it brings its last words, and
//! ours asks for some before those; the rest of them it has only once somebody pages back. So where a word from elsewhere
//! comes late, the room is looked through.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use parlour_domain::ids::RoomKey;
use parlour_matrix::events::Head;
use tokio::sync::Notify;

use crate::{app::App, live::RoomLive};

/// Later than clocks differ and busy homeservers lag.
const LATE_MS: i64 = 10_000;
/// What our homeserver asks for by itself comes meanwhile.
const SETTLED_MS: i64 = 2_000;
/// Between two looks. Each is followed by one if something has come late since; a homeserver whose clock is behind is
/// always late, so the pauses grow.
const FIRST_PAUSE_MS: i64 = 10_000;
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;

/// Rooms in which something may be missing.
#[derive(Debug, Default)]
pub(crate) struct Late {
    rooms: Mutex<BTreeMap<RoomKey, Turn>>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Turn {
    due_ms: Option<i64>,
    looked_ms: Option<i64>,
    pause_ms: i64,
}

impl Turn {
    fn look(&mut self, now_ms: i64) {
        let lately = self.looked_ms.is_some_and(|looked| now_ms < looked + 2 * LONGEST_PAUSE_MS);
        let longer_ms = (self.pause_ms * 2).min(LONGEST_PAUSE_MS);
        let pause_ms = if lately { longer_ms } else { FIRST_PAUSE_MS };
        *self = Self { due_ms: None, looked_ms: Some(now_ms), pause_ms };
    }
}

impl Late {
    pub(crate) fn came(&self, room: RoomKey, now_ms: i64) {
        let mut rooms = self.rooms.lock();
        let turn = rooms.entry(room).or_default();
        if turn.due_ms.is_none() {
            let soonest_ms = turn.looked_ms.map_or(now_ms, |looked| looked + turn.pause_ms);
            turn.due_ms = Some(soonest_ms.max(now_ms + SETTLED_MS));
            self.news.notify_one();
        }
    }

    fn next_ms(&self) -> Option<i64> {
        self.rooms.lock().values().filter_map(|turn| turn.due_ms).min()
    }

    fn take_due(&self, now_ms: i64) -> Vec<RoomKey> {
        let mut rooms = self.rooms.lock();
        let due = rooms.iter_mut().filter(|(_, turn)| turn.due_ms.is_some_and(|due| due <= now_ms));
        due.map(|(room, turn)| {
            turn.look(now_ms);
            *room
        })
        .collect()
    }
}

impl App {
    /// Whether something that came now was said elsewhere a while ago.
    pub(crate) fn is_late(&self, head: &Head, received_at_ms: i64) -> bool {
        head.sender.server_name() != self.settings.server_name && head.sent_at_ms + LATE_MS < received_at_ms
    }

    pub(crate) fn start_looking_for_late_words(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                let due = app.late.take_due(app.now());
                for room in due.into_iter().filter_map(|room| app.rooms.get(room)) {
                    app.look_through(&room).await;
                }
                app.until_told(&app.late.news, app.late.next_ms()).await;
            }
        });
    }

    /// What fails is tried again in its turn.
    async fn look_through(&self, room: &Arc<RoomLive>) {
        if let Err(error) = self.fetch_left_behind(room).await {
            tracing::warn!(%error, room = %room.room_id, "cannot look for what another homeserver could not bring");
            self.late.came(room.key, self.now());
        }
    }
}
