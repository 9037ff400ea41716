//! `parlour serve`: the bridge, in the foreground, until it is told to stop.

mod build;
mod figures;
mod listen;
mod operator;
mod sealing;
mod signals;

use std::time::Duration;

use parlour_app::runtime::Tasks;
use parlour_matrix::Registration;
use parlour_store::Store;

use self::{figures::Figures, signals::Signals};
use crate::{cli, config::Config, failure::Failure, socket, telemetry};

/// Work in progress may take this long once we are told to stop. The promise is 10 s in all.
const PATIENCE: Duration = Duration::from_secs(9);

/// # Errors
/// Nothing was started, or a second signal cut the end short.
pub(crate) fn run(args: &cli::Serve) -> Result<(), Failure> {
    telemetry::start(args.log_format, &args.log)?;
    let config = Config::load(&args.config.config)?;
    let registration =
        Registration::read(&config.homeserver.registration.0).map_err(|e| Failure::new(e.to_string()))?;
    warn_of_mismatches(&config, &registration);
    allow_many_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime
        .map_err(|e| Failure::new(format!("cannot start threads: {e}; raise the limits of this user")))?;
    let figures = Figures::start(&config)?;
    let store =
        Store::open(&config.storage.path.0).map_err(|e| Failure::new(format!("storage.path: {e}")))?;
    let served = runtime.block_on(serve(&config, &registration, store.clone(), figures));
    // What was sent to the writer is on disk before the process ends.
    store.close();
    runtime.shutdown_background();
    served
}

/// `check` calls these problems; the bridge starts all the same, since what is missing may not matter yet.
fn warn_of_mismatches(config: &Config, registration: &Registration) {
    for line in registration.mismatches(&config.wanted()) {
        tracing::warn!("the registration no longer fits the config: {line}");
    }
}

/// Each waiting agent holds a connection, and the usual soft limit is 1024.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "cannot raise the limit of open files; many waiting agents may not find room");
    }
}

async fn serve(
    config: &Config,
    registration: &Registration,
    store: Store,
    figures: Option<Figures>,
) -> Result<(), Failure> {
    let mut signals = Signals::watch()?;
    let tasks = Tasks::default();
    let begun = begin(config, registration, store, figures, &tasks).await;
    if begun.is_ok() {
        let signal = signals.next().await;
        tracing::info!(signal, "stopping: waits are answered, sends are finished");
    }
    tasks.stop();
    let ended = begun.and(end(&tasks, &mut signals).await);
    socket::tidy_up(&config.storage.path.0);
    ended
}

async fn begin(
    config: &Config,
    registration: &Registration,
    store: Store,
    figures: Option<Figures>,
    tasks: &Tasks,
) -> Result<(), Failure> {
    let app = build::app(config, registration, store, tasks).await?;
    let listener = listen::bind("server.listen", config.server.listen)?;
    if let Some(figures) = figures {
        figures.serve(tasks)?;
    }
    operator::serve(config, &app, tasks)?;
    let router = build::router(config, registration, &app);
    tasks.spawn(parlour_api::serve(listener, router, tasks.clone()));
    app.start();
    let (listen, public_url) = (config.server.listen, config.public_url());
    tracing::info!(%listen, public_url, version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(())
}

async fn end(tasks: &Tasks, signals: &mut Signals) -> Result<(), Failure> {
    tokio::select! {
        () = tasks.ended() => tracing::info!("stopped"),
        () = tokio::time::sleep(PATIENCE) => tracing::warn!("stopped, though some work had not ended; it is taken up at the next start"),
        _ = signals.next() => {
            let line = "told twice to stop: ended at once; what was under way is taken up at the next start";
            return Err(Failure::new(line));
        }
    }
    Ok(())
}
