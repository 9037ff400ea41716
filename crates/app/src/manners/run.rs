use std::sync::Arc;

use futures_util::{StreamExt, stream};
use parlour_domain::{ids::AgentKey, manners::Presence};

use super::{
    board::{Board, Next},
    present::CALLS_AT_ONCE,
};
use crate::app::App;

/// How long a shutdown gives to taking leave.
const LEAVE_MS: i64 = 3_000;

impl App {
    /// Shows what people see of agents besides their words, until shutdown.
    pub(crate) fn start_manners(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut board = Board::new(app.manners.shown);
            while !app.tasks.stopping() {
                for news in app.manners.take() {
                    app.heed(&mut board, news);
                }
                app.show_next(&mut board).await;
            }
            app.take_leave(board.presence.clear()).await;
        });
    }

    async fn show_next(&self, board: &mut Board) {
        let until = match board.next(self.now()) {
            Next::Do(deed) => {
                tokio::select! {
                    () = self.show(board, deed) => {}
                    () = self.tasks.stopped() => {}
                }
                return;
            }
            Next::At(at) => Some(at),
            Next::Idle => None,
        };
        self.until_told(&self.manners.told, until).await;
    }

    /// Those who are shown as present are so no longer. Left undone, the homeserver comes to it by itself.
    async fn take_leave(&self, shown: Vec<AgentKey>) {
        let users = shown.into_iter().filter_map(|key| self.agents.get(key));
        let offline = Presence::Offline.as_str();
        let leave = stream::iter(users).for_each_concurrent(CALLS_AT_ONCE, |agent| async move {
            let _ = self.client.set_presence(agent.user_id(), offline, "").await;
        });
        tokio::select! {
            () = leave => {}
            () = self.clock.sleep_until(self.now() + LEAVE_MS) => {}
        }
    }
}
