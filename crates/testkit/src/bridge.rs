use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use parlour_app::{
    App, Intake, SealingKey, Shown,
    request::Join,
    runtime::{Chance, Tasks},
    settings::{AgentSettings, LobbySettings, PeopleSettings, Settings},
    view::{Lobby, Readiness, Welcome},
};
use parlour_domain::{
    fault::Fault,
    limits::Limits,
    people::{Invitable, Invites},
    source::Source,
};
use parlour_matrix::Client;
use parlour_store::Store;
use tokio::runtime::Runtime;

use crate::{
    Agent, FakeHomeserver, ManualClock, Pending, SeededChance,
    agent::{Current, Link, call},
    eventually, eventually_is,
    figures::Figures,
    homeserver::{
        APPSERVICE_ID, AS_TOKEN, BOT, HS_TOKEN, PUPPET_PREFIX, SERVER_NAME, bind_again, unused_address,
    },
    within,
};

/// What a bridge is made of, for tests that change some of it before it runs.
pub struct Setup {
    pub settings: Settings,
    pub hs: FakeHomeserver,
    pub clock: ManualClock,
    pub chance: Arc<dyn Chance>,
}

/// A bridge in this process, with a homeserver and a folder of its own. Each start has its own runtime, which is what
/// a crash takes away.
pub struct Bridge {
    pub hs: FakeHomeserver,
    pub clock: ManualClock,
    pub settings: Settings,
    chance: Arc<dyn Chance>,
    folder: tempfile::TempDir,
    address: SocketAddr,
    link: Link,
    running: Option<Running>,
    strangers: Mutex<u8>,
    figures: Figures,
}

struct Running {
    runtime: Runtime,
    app: Arc<App>,
    store: Store,
    tasks: Tasks,
}

impl Bridge {
    /// Runs and is ready, with one lobby.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// The same after `change`.
    pub async fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let mut bridge = Self::prepare(change).await;
        bridge.boot().await;
        bridge.ready().await;
        bridge
    }

    /// Does not run yet.
    pub async fn prepare(change: impl FnOnce(&mut Setup)) -> Self {
        let address = unused_address();
        let clock = ManualClock::default();
        let hs = FakeHomeserver::start(clock.clone(), address.to_string()).await;
        let chance = Arc::new(SeededChance::new(7));
        let mut setup = Setup { settings: settings(), hs: hs.clone(), clock: clock.clone(), chance };
        change(&mut setup);
        Self {
            hs,
            clock,
            settings: setup.settings,
            chance: setup.chance,
            folder: tempfile::tempdir().expect("a folder"),
            address,
            link: Arc::default(),
            running: None,
            strangers: Mutex::new(0),
            figures: Figures::new(),
        }
    }

    /// Starts it on its folder, as it was left.
    pub async fn boot(&mut self) {
        assert!(self.running.is_none(), "it runs already");
        let store = Store::open(self.folder.path()).expect("the store opens");
        let runtime = runtime(&self.figures);
        let tasks = Tasks::default();
        let client = Client::new(&self.hs.url(), AS_TOKEN.to_owned().into()).expect("a client");
        let (settings, clock, chance) = (self.settings.clone(), self.clock.clone(), self.chance.clone());
        let (kept, of_tasks, address) = (store.clone(), tasks.clone(), self.address);
        let opened = runtime.spawn(async move {
            let clock = Arc::new(clock);
            let app = App::open(settings, kept, client, clock, chance, SealingKey::new(&[7; 32]), of_tasks)
                .await
                .expect("the app opens");
            serve(app.clone(), address).await;
            app.start();
            app
        });
        let app = within("the bridge starts", opened).await.expect("it does not panic");
        *self.link.lock() = Some(Current { app: app.clone(), handle: runtime.handle().clone() });
        self.running = Some(Running { runtime, app, store, tasks });
    }

    /// Waits until agents can join.
    pub async fn ready(&self) {
        eventually_is("the bridge is ready", || self.readiness() == Readiness::Ready).await;
    }

    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.app(|app| app.readiness())
    }

    /// Waits until it is not ready for a reason that holds `part`.
    pub async fn not_ready_for(&self, part: &str) {
        let is = || matches!(self.readiness(), Readiness::NotYet(reason) if reason.contains(part));
        eventually_is(&format!("it is not ready: {part}"), is).await;
    }

    #[must_use]
    pub fn lobbies(&self) -> Vec<Lobby> {
        self.app(|app| app.lobbies())
    }

    /// A look at the app that runs.
    pub fn app<T>(&self, look: impl FnOnce(&Arc<App>) -> T) -> T {
        look(&self.running.as_ref().expect("it runs").app)
    }

    /// A counter of the bridge, summed over its labels.
    #[must_use]
    pub fn counted(&self, name: &str) -> u64 {
        self.figures.count(name)
    }

    /// Waits until all that the homeserver has for us is taken in.
    pub async fn caught_up(&self) {
        self.hs.until_delivered().await;
        let app = self.app(Arc::clone);
        within("what came is worked off", app.caught_up()).await;
    }

    /// Stops as on SIGTERM.
    pub async fn stop(&mut self) {
        let running = self.running.as_ref().expect("it runs");
        running.tasks.stop();
        within("the tasks end", running.tasks.ended()).await;
        self.end(true).await;
    }

    /// Stops as on `kill -9`: nothing that is under way is finished, but for what the disk was already doing.
    pub async fn crash(&mut self) {
        self.end(false).await;
    }

    /// Its store, while it does not run.
    pub(crate) fn store_at_rest(&self) -> Store {
        assert!(self.running.is_none(), "it runs");
        Store::open(self.folder.path()).expect("the store opens")
    }

    /// A copy of its folder, while it does not run.
    #[must_use]
    pub fn copy(&self) -> tempfile::TempDir {
        assert!(self.running.is_none(), "it runs");
        let copy = tempfile::tempdir().expect("a folder");
        copy_files(self.folder.path(), copy.path());
        copy
    }

    /// Puts a copy in the place of its folder, while it does not run.
    pub fn put_back(&mut self, copy: &tempfile::TempDir) {
        assert!(self.running.is_none(), "it runs");
        self.folder = tempfile::tempdir().expect("a folder");
        copy_files(copy.path(), self.folder.path());
    }

    pub async fn restart(&mut self) {
        self.stop().await;
        self.boot().await;
        self.ready().await;
    }

    pub async fn crash_and_restart(&mut self) {
        self.crash().await;
        self.boot().await;
        self.ready().await;
    }

    async fn end(&mut self, close: bool) {
        let Running { runtime, app, store, tasks } = self.running.take().expect("it runs");
        *self.link.lock() = None;
        let ended = tokio::task::spawn_blocking(move || {
            if close {
                store.close();
            }
            runtime.shutdown_timeout(Duration::from_secs(5));
            drop((app, store, tasks));
        });
        ended.await.expect("it ends");
        let free = || std::future::ready(Store::open(self.folder.path()).ok());
        drop(eventually("the folder is free again", free).await);
    }

    /// A new agent in the default lobby, from an address of its own.
    pub async fn join(&self, name: &str) -> Agent {
        let welcome = self.ask_in(crate::join(name), self.stranger()).await.expect("it joins");
        Agent::new(self.link.clone(), &welcome)
    }

    /// Asks for an agent.
    #[must_use]
    pub fn ask_in(&self, ask: Join, source: Source) -> Pending<Welcome> {
        call(&self.link, move |app| async move {
            let source = app.source(source);
            app.join(ask, source).await
        })
    }

    #[must_use]
    pub fn agent(&self, welcome: &Welcome) -> Agent {
        Agent::new(self.link.clone(), welcome)
    }

    /// Whether a token opens anything.
    ///
    /// # Errors
    /// What a call with it is told.
    pub fn knows_token(&self, token: &str) -> Result<(), Fault> {
        self.app(|app| app.caller(Some(token)).map(drop))
    }

    /// An address that nothing has come from yet.
    #[must_use]
    pub fn stranger(&self) -> Source {
        let mut strangers = self.strangers.lock();
        *strangers += 1;
        Source::V4([10, 0, 0, *strangers])
    }

    /// The room id of the default lobby.
    #[must_use]
    pub fn lobby(&self) -> String {
        self.hs.room("lobby").expect("a lobby")
    }
}

fn copy_files(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).expect("a folder") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), to.join(file.file_name())).expect("it can be copied");
    }
}

/// A runtime must not wait for its end inside another one.
impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.runtime.shutdown_background();
        }
    }
}

fn runtime(figures: &Figures) -> Runtime {
    let builder = &mut tokio::runtime::Builder::new_multi_thread();
    figures.of_runtime(builder);
    builder.worker_threads(1).thread_name("bridge").enable_all().build().expect("a runtime")
}

/// The side that the homeserver calls.
async fn serve(app: Arc<App>, address: SocketAddr) {
    let listener = bind_again(address).await;
    let router = parlour_matrix::router(Arc::new(Intake(app)), HS_TOKEN.to_owned().into());
    tokio::spawn(async move { axum::serve(listener, router).await });
}

fn settings() -> Settings {
    Settings {
        bridge_id: "test".to_owned(),
        appservice_id: APPSERVICE_ID.to_owned(),
        server_name: SERVER_NAME.try_into().expect("a server name"),
        bot: BOT.try_into().expect("a user id"),
        puppet_prefix: PUPPET_PREFIX.to_owned(),
        public_url: "https://agents.example.org".to_owned(),
        lobbies: vec![lobby("lobby", "Lobby", true)],
        people: PeopleSettings {
            invitable: Invitable::Local,
            invites: Invites::Local,
            // tests of other things count calls and sleepers
            shown: Shown::default(),
        },
        agents: AgentSettings {
            enabled: true,
            idle_ms: 60 * 60_000,
            disable_after_ms: 30 * 24 * 60 * 60_000,
            max_hops: 8,
        },
        limits: Limits::default(),
        trust: parlour_matrix::crypto::Trust::All,
        ban_lists: vec![],
    }
}

/// A lobby whose alias is its slug.
#[must_use]
pub fn lobby(slug: &str, name: &str, default: bool) -> LobbySettings {
    LobbySettings { slug: slug.to_owned(), name: name.to_owned(), alias: slug.to_owned(), default }
}
