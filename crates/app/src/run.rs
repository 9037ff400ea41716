//! Which run this is, and whether the database is an old one put back.
//!
//! Each start raises a number in the database and then in the bot's account data. A database whose number is behind the
//! homeserver's was written before things that the homeserver and people's clients have seen since: its devices have
//! ratchets that were used further, its transaction ids may have been used for something else. So it gets new devices,
//! and with them new outbound sessions, and another beginning for its ids, before anything is sent. Ids of devices are
//! chance and never come again.
//!
//! The number is also raised once an hour, since a copy that somebody made by hand has the number of the run in which
//! it was made. A copy by `parlour backup` says itself that it is one.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use parlour_matrix::HsError;
use parlour_store::{Store, StoreError, Tx};
use ruma::UserId;
use serde_json::json;
use tokio::sync::watch;

use crate::{app::App, devices::DeviceError};

/// In `meta`: the number of the newest run; decimal.
const RUN: &str = "run";
/// In `meta`: the run since which ids begin as they do; missing while the first database goes on.
const ERA: &str = "era";
/// In the bot's account data.
const ACCOUNT_DATA: &str = "parlour.run";

/// How long a request waits at a start until it is known what may be sent.
const PATIENCE_MS: i64 = 10_000;
const FIRST_PAUSE_MS: i64 = 500;
const LONGEST_PAUSE_MS: i64 = 10_000;
const EVERY_MS: i64 = 60 * 60_000;

/// What is known of the run.
#[derive(Debug)]
pub(crate) struct Run {
    era: AtomicI64,
    /// When the number was raised last.
    raised_ms: AtomicI64,
    known: watch::Sender<bool>,
}

impl Run {
    pub(crate) async fn read(store: &Store) -> Result<Self, StoreError> {
        let era = store.read(|r| r.meta(ERA)).await?;
        let era = AtomicI64::new(number(era.as_deref()));
        Ok(Self { era, raised_ms: AtomicI64::new(0), known: watch::Sender::new(false) })
    }

    /// The id under which a user of ours sends `what`. Begins with the user, since Synapse keeps answers by id and
    /// appservice, not by user: two puppets must never share one. A database put back goes on with ids that it cannot
    /// have used before.
    pub(crate) fn send_txn_id(&self, user: &UserId, what: impl Display) -> String {
        match self.era.load(Ordering::Acquire) {
            0 => format!("{}.{what}", user.localpart()),
            era => format!("{}.{era}.{what}", user.localpart()),
        }
    }

    /// The database is, or goes on from, an old one that was put back: the homeserver may have things that it does not
    /// know of.
    pub(crate) fn after_old_database(&self) -> bool {
        self.era.load(Ordering::Acquire) > 0
    }
}

/// What a start found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    number: i64,
    old: bool,
}

/// `here` by the database, `there` by the homeserver; `copy`: the database says that it is a copy.
fn find(here: i64, there: i64, copy: bool) -> Found {
    Found { number: here.max(there).saturating_add(1), old: copy || here < there }
}

impl App {
    /// Resolves once it is known whether the database is an old one put back, and all that follows from it is done.
    /// Nothing may be sent before. `false`: it is time to stop.
    pub(crate) async fn until_run_known(&self) -> bool {
        let mut known = self.run.known.subscribe();
        tokio::select! {
            biased;
            // the sender is ours: it cannot be gone
            _ = known.wait_for(|known| *known) => true,
            () = self.tasks.stopped() => false,
        }
    }

    /// The same for what somebody waits for: not for long.
    pub(crate) async fn run_known(&self) -> Result<(), DeviceError> {
        if *self.run.known.borrow() {
            return Ok(());
        }
        tokio::select! {
            known = self.until_run_known() => if known { Ok(()) } else { Err(DeviceError::RunUnknown) },
            () = self.clock.sleep_until(self.now() + PATIENCE_MS) => Err(DeviceError::RunUnknown),
        }
    }

    pub(crate) fn start_run(self: &Arc<Self>) {
        let app = self.clone();
        self.tasks.spawn(async move {
            let mut pause_ms = FIRST_PAUSE_MS;
            while let Err(error) = app.begin_run().await {
                tracing::info!(%error, "cannot tell yet whether the database is an old one put back");
                if !app.let_pass(pause_ms).await {
                    return;
                }
                pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
            }
            app.run.known.send_replace(true);
        });
    }

    /// For housekeeping: once an hour.
    pub(crate) async fn go_on_counting_runs(&self) {
        let due = self.run.raised_ms.load(Ordering::Relaxed) + EVERY_MS;
        if !*self.run.known.borrow() || self.now() < due {
            return;
        }
        if let Err(error) = self.go_on_counting().await {
            tracing::info!(%error, "cannot raise the number of the run");
        }
    }

    async fn begin_run(&self) -> Result<(), DeviceError> {
        let there = self.run_over_there().await?;
        let (here, copy) = self.store.read(|r| Ok((r.meta(RUN)?, r.meta(parlour_store::COPY)?))).await?;
        let found = find(number(here.as_deref()), there, copy.is_some());
        if found.old {
            self.start_over(found.number).await?;
        } else {
            self.store.write(move |tx| set_number(tx, RUN, found.number)).await?;
        }
        self.tell_over_there(found.number).await?;
        self.run.raised_ms.store(self.now(), Ordering::Relaxed);
        Ok(())
    }

    /// What the homeserver remembers; 0 where that is nothing.
    async fn run_over_there(&self) -> Result<i64, DeviceError> {
        let bot = &self.settings.bot;
        let told = match self.client.account_data(bot, ACCOUNT_DATA).await {
            Err(HsError::Refused { status: 401 | 403, .. }) => {
                // the first start of all
                self.client.register(bot.localpart()).await?;
                self.client.account_data(bot, ACCOUNT_DATA).await
            }
            told => told,
        };
        match told {
            Ok(content) => Ok(content.and_then(|c| c["run"].as_i64()).unwrap_or(0).max(0)),
            // anything else, from a proxy say, tells nothing of what the homeserver keeps
            Err(error) if error.is_unrecognized() => {
                tracing::warn!(%error, "the homeserver keeps no account data: an old database put back is not noticed");
                Ok(0)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// After the database: a crash in between must not make it look old.
    async fn tell_over_there(&self, run: i64) -> Result<(), DeviceError> {
        let told = self.client.set_account_data(&self.settings.bot, ACCOUNT_DATA, &json!({"run": run})).await;
        match told {
            Err(error) if error.is_unrecognized() => Ok(()),
            told => Ok(told?),
        }
    }

    async fn go_on_counting(&self) -> Result<(), DeviceError> {
        let raise = |tx: &Tx<'_>| {
            let run = number(tx.meta(RUN)?.as_deref()).saturating_add(1);
            set_number(tx, RUN, run).map(|()| run)
        };
        let run = self.store.write(raise).await?;
        self.run.raised_ms.store(self.now(), Ordering::Relaxed);
        self.tell_over_there(run).await
    }

    /// The database is an old one: nothing that it would use was left unused since.
    async fn start_over(&self, run: i64) -> Result<(), DeviceError> {
        tracing::warn!(
            run,
            "the database is an old one put back: puppets get new devices, and keep their identities"
        );
        let write = self.store.write(move |tx| {
            tx.give_up_devices()?;
            tx.spoil_sealed()?;
            tx.doubt_sayings()?;
            tx.forget_meta(parlour_store::COPY)?;
            set_number(tx, ERA, run)?;
            set_number(tx, RUN, run)
        });
        write.await?;
        self.run.era.store(run, Ordering::Release);
        self.forget_devices().await;
        Ok(())
    }
}

fn number(value: Option<&[u8]>) -> i64 {
    let text = value.and_then(|value| std::str::from_utf8(value).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn set_number(tx: &Tx<'_>, name: &str, number: i64) -> Result<(), StoreError> {
    tx.set_meta(name, number.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_first_start(0, 0, false, 1, false)]
    #[case::a_usual_start(7, 7, false, 8, false)]
    #[case::died_between_the_two(8, 7, false, 9, false)]
    #[case::an_old_database(7, 9, false, 10, true)]
    #[case::an_empty_database(0, 9, false, 10, true)]
    #[case::a_backup_of_this_run(9, 9, true, 10, true)]
    #[case::the_homeserver_is_an_old_one(9, 3, false, 10, false)]
    #[case::a_number_that_nobody_wrote(1, i64::MAX, false, i64::MAX, true)]
    fn which_run(
        #[case] here: i64,
        #[case] there: i64,
        #[case] copy: bool,
        #[case] number: i64,
        #[case] old: bool,
    ) {
        assert_eq!(find(here, there, copy), Found { number, old });
    }
}
