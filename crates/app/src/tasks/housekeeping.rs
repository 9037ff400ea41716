use std::sync::Arc;

use parlour_store::StoreError;

use crate::app::App;

const EVERY_MS: i64 = 60_000;
/// A key that has not come for so long is not to be hoped for.
const WAITING_KEPT_MS: i64 = 14 * 24 * 60 * 60_000;

impl App {
    /// Once a minute: idle agents, calls noted down, windows that are over, logs that nobody looks at.
    pub(crate) fn start_housekeeping(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            while !app.tasks.stopping() {
                tokio::select! {
                    () = app.clock.sleep_until(app.now() + EVERY_MS) => app.keep_house().await,
                    () = app.tasks.stopped() => {}
                }
            }
            app.note_calls().await.unwrap_or_else(|error| tracing::warn!(%error, "cannot note calls down"));
        });
    }

    async fn keep_house(self: &Arc<Self>) {
        self.sweep_idle().await;
        self.take_out_strays().await;
        let now = self.now();
        if let Err(error) = self.note_calls().await {
            tracing::warn!(%error, "cannot note calls down");
        }
        if let Err(error) = self.store.write(move |tx| tx.forget_quotas(now)).await {
            tracing::warn!(%error, "cannot forget old quotas");
        }
        if let Err(error) = self.store.write(move |tx| tx.forget_audit(now)).await {
            tracing::warn!(%error, "cannot forget old rows of the audit log");
        }
        if let Err(error) = self.clear_journal().await {
            tracing::warn!(%error, "cannot clear the journal");
        }
        self.keyring.let_go(now);
        self.bot.forget_answered(now);
        self.look_after_all_in_time();
        self.go_on_counting_runs().await;
        if let Err(error) = self.store.write(move |tx| tx.forget_waiting(now - WAITING_KEPT_MS)).await {
            tracing::warn!(%error, "cannot forget what nobody can read");
        }
        self.window.forget_unused();
        self.rooms.all().iter().for_each(|room| room.unload_unused(now));
    }

    /// When each agent called last, so that a restart does not make it idle or busy. Only of those that have called since
    /// this was last written.
    async fn note_calls(&self) -> Result<(), StoreError> {
        let called: Vec<_> =
            self.agents.all().into_iter().filter_map(|a| Some((a.call_to_note()?, a))).collect();
        if called.is_empty() {
            return Ok(());
        }
        let calls: Vec<_> = called.iter().map(|(at, agent)| (agent.key(), *at)).collect();
        let write = self
            .store
            .write(move |tx| calls.iter().try_for_each(|(agent, at)| tx.set_last_call(*agent, *at)));
        write.await?;
        called.iter().for_each(|(at, agent)| agent.call_noted(*at));
        Ok(())
    }
}
