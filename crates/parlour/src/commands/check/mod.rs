//! `parlour check`: one line for each thing that has to be in place. Changes nothing, neither here nor on the
//! homeserver.

mod account;
mod devices;
mod features;
mod files;
mod homeserver;
mod listen;
mod lobbies;
mod moderation;
mod ping;
mod probe;
mod proxies;
mod report;
mod rooms;
mod storage;

use std::path::Path;

use parlour_app::runtime::Tasks;
use parlour_matrix::Registration;

use self::{listen::Listening, probe::Probe, report::Report};
use crate::{config::Config, failure::Failure};

/// What the single checks look at.
struct Bench {
    config: Config,
    registration: Registration,
    probe: Probe,
}

/// # Errors
/// Something that is needed is missing; the lines on standard output say what.
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure::new(format!("cannot start: {e}; close some programs")))?;
    runtime.block_on(all(path, &mut report));
    report.verdict()
}

async fn all(path: &Path, report: &mut Report) {
    let Some(config) = files::config(path, report) else { return };
    let registration = files::registration(&config, report);
    let running = storage::check(&config, report);
    let listening = listen::check(&config, running, report);
    proxies::check(&config, report);
    let probe = Probe::new(&config, registration.as_ref(), report);
    let (Some(registration), Some(probe)) = (registration, probe) else { return };
    let bench = Bench { config, registration, probe };
    remote(&bench, listening, report).await;
}

/// Each step needs the one before.
async fn remote(bench: &Bench, listening: Listening, report: &mut Report) {
    let Some(versions) = homeserver::check(bench, report).await else { return };
    if !account::token(bench, report).await {
        return;
    }
    let bot = account::bot(bench, report).await;
    let tasks = Tasks::default();
    let pinged = ping::check(bench, listening, &tasks, report).await;
    tasks.stop();
    tasks.ended().await;
    features::check(bench, &versions, bot, pinged, report).await;
    lobbies::check(bench, bot, report).await;
    moderation::check(bench, bot, report).await;
}
