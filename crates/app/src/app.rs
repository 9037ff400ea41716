use std::sync::{Arc, Weak, atomic::AtomicI64};

use parking_lot::{Mutex, RwLock};
use parlour_domain::{fault::Fault, typing::TypingBoard};
use parlour_matrix::{Client, crypto::SealingKey};
use parlour_store::{AgentState, By, Store, StoreError, Who};
use ruma::{OwnedRoomId, OwnedUserId};
use tokio::sync::Notify;

use crate::{
    bans::Bans,
    bot::Bot,
    devices::Keyring,
    hub::Hub,
    ingest::Handover,
    lanes::Lanes,
    live::{Agents, Doors, Members, Rooms, Visitors},
    lobbies::Places,
    manners::Manners,
    rests::Rests,
    run::Run,
    runtime::{Chance, Clock, Tasks},
    sending::Flights,
    settings::Settings,
    sources::DayKeys,
    tasks::{Late, Loops, Probe},
    token::TokenDigest,
    turns::Turns,
    view::{Probed, Readiness},
    window::Window,
};

/// The bridge. Fronts hold it behind an `Arc` and call its use cases; see `cases`.
pub struct App {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) client: Client,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) tasks: Tasks,
    pub(crate) rooms: Rooms,
    pub(crate) agents: Agents,
    pub(crate) doors: Doors,
    pub(crate) visitors: Visitors,
    pub(crate) bot: Bot,
    pub(crate) bans: Bans,
    pub(crate) sealing: SealingKey,
    pub(crate) keyring: Keyring,
    pub(crate) hub: Arc<Hub>,
    pub(crate) window: Window,
    pub(crate) typing: RwLock<TypingBoard>,
    pub(crate) handover: Handover,
    pub(crate) flights: Flights,
    pub(crate) day_keys: DayKeys,
    pub(crate) readiness: Mutex<Readiness>,
    pub(crate) places: Arc<Places>,
    /// Rooms that a puppet made and nobody asked for any more, to be left.
    pub(crate) strays: Mutex<Vec<(OwnedUserId, OwnedRoomId)>>,
    /// Told when an invitation came.
    pub(crate) invited: Notify,
    /// Told when a room's tombstone came.
    pub(crate) upgraded: Notify,
    /// Joins that overlap cost the homeserver up to twice as much each (measured 2026-11-30).
    pub(crate) joining: Turns<OwnedRoomId>,
    /// Rooms that invitations are followed into.
    pub(crate) following: Lanes<OwnedRoomId>,
    /// Between tries to follow into a room.
    pub(crate) rests: Rests<OwnedRoomId>,
    /// For what the writer's thread does on our behalf.
    pub(crate) me: Weak<App>,
    /// See [`App::arrived_through`].
    pub(crate) arrived_through: AtomicI64,
    pub(crate) run: Run,
    pub(crate) probe: Probe,
    /// One probe at a time.
    pub(crate) probing: tokio::sync::Mutex<()>,
    /// Told when the homeserver could not be reached.
    pub(crate) outage: Notify,
    pub(crate) late: Late,
    pub(crate) loops: Loops,
    pub(crate) manners: Manners,
    /// Told when somebody has come who has no picture yet.
    pub(crate) undressed: Notify,
}

impl App {
    /// Reads what the store holds. Nothing runs before [`App::start`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn open(
        settings: Settings,
        store: Store,
        client: Client,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
        sealing: SealingKey,
        tasks: Tasks,
    ) -> Result<Arc<Self>, Fault> {
        let (rooms, agents) = (read_rooms(&store).await?, read_agents(&store).await?);
        let doors = read_doors(&store, &rooms).await?;
        let devices = store.read(|r| r.devices()).await?;
        let keyring = Keyring::new(store.clone(), sealing.clone(), devices);
        if let Some(probed) =
            store.read(|r| r.meta(Probed::META)).await?.and_then(|json| Probed::parse(&json))
        {
            keyring.found_way(probed.way);
        }
        let visitors = Visitors::new(store.read(|r| r.person_knocks()).await?);
        let bot = Bot::new(store.read(|r| r.bot_rooms()).await?);
        let listed_bans = store.read(|r| r.listed_bans()).await?;
        let bans = Bans::new(settings.server_name.clone(), store.read(|r| r.ban_lists()).await?, listed_bans);
        let day_keys = DayKeys::read(&store).await?;
        let run = Run::read(&store).await?;
        let newest = store.read(|r| r.newest_arrival()).await?;
        let shown = settings.people.shown;
        let app = Arc::new_cyclic(|me| Self {
            rooms,
            agents,
            doors,
            visitors,
            bot,
            bans,
            sealing,
            keyring,
            day_keys,
            settings,
            store,
            client,
            clock,
            chance,
            tasks,
            hub: Arc::default(),
            window: Window::default(),
            typing: RwLock::default(),
            handover: Handover::default(),
            flights: Flights::default(),
            readiness: Mutex::new(Readiness::NotYet("starting".to_owned())),
            places: Arc::default(),
            strays: Mutex::default(),
            invited: Notify::new(),
            upgraded: Notify::new(),
            joining: Turns::default(),
            following: Lanes::default(),
            rests: Rests::default(),
            me: me.clone(),
            arrived_through: AtomicI64::new(newest.0),
            run,
            probe: Probe::default(),
            probing: tokio::sync::Mutex::default(),
            outage: Notify::new(),
            late: Late::default(),
            loops: Loops::default(),
            manners: Manners::new(shown),
            undressed: Notify::new(),
        });
        Ok(app)
    }

    /// Starts the tasks in the background. They end with [`Tasks::stop`].
    pub fn start(self: &Arc<Self>) {
        self.start_ingest();
        self.start_run();
        self.pull_for_all();
        self.start_bring_up();
        self.start_carrying();
        self.start_housekeeping();
        self.start_watching_devices();
        self.start_asking_for_keys();
        self.start_looking_for_late_words();
        self.start_following();
        self.start_silencing();
        self.start_telling_of_loops();
        self.start_manners();
        self.start_bot();
        self.start_ban_lists();
        self.start_dressing();
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the homeserver knows us and the lobbies are there.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.readiness.lock().clone()
    }

    /// Whether the process and its store work.
    pub async fn healthy(&self) -> bool {
        self.store.read(|r| r.meta("health").map(drop)).await.is_ok()
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// `false`: shutting down.
    pub(crate) async fn let_pass(&self, ms: i64) -> bool {
        tokio::select! {
            () = self.clock.sleep_until(self.now() + ms) => {}
            () = self.tasks.stopped() => {}
        }
        !self.tasks.stopping()
    }

    /// Until there is news, or that time (`None`: whenever that is), or the bridge ends. `true`: there is news.
    pub(crate) async fn until_told(&self, news: &Notify, or_at_ms: Option<i64>) -> bool {
        let at = async {
            match or_at_ms {
                Some(at) => self.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = news.notified() => return true,
            () = at => {}
            () = self.tasks.stopped() => {}
        }
        false
    }

    /// Somebody does something now.
    pub(crate) fn by(&self, who: Who) -> By {
        By { who, at_ms: self.now() }
    }
}

async fn read_rooms(store: &Store) -> Result<Rooms, StoreError> {
    let rows = store
        .read(|r| {
            r.rooms()?
                .into_iter()
                .map(|row| Ok((r.members(row.room.key)?, row)))
                .collect::<Result<Vec<_>, _>>()
        })
        .await?;
    let rooms = Rooms::default();
    for (members, row) in rows {
        rooms.put(row, Members::new(members));
    }
    Ok(rooms)
}

async fn read_doors(store: &Store, rooms: &Rooms) -> Result<Doors, StoreError> {
    let doors = Doors::default();
    for row in store.read(|r| r.open_knocks()).await? {
        if let Some(room) = rooms.get(row.room) {
            doors.put(room.owner(), (row.room, row.agent), row.knock, row.told);
        }
    }
    Ok(doors)
}

async fn read_agents(store: &Store) -> Result<Agents, StoreError> {
    let (rows, seats) = store.read(|r| Ok((r.agents()?, r.seats()?))).await?;
    let agents = Agents::default();
    for row in &rows {
        let agent = agents.put(row);
        if let (AgentState::Live, Some(digest)) = (row.state, row.token_digest) {
            agents.give_token(&agent, TokenDigest::from_store(digest));
        }
    }
    for seat in seats {
        if let Some(agent) = agents.get(seat.agent) {
            agent.put_seat(seat);
        }
    }
    Ok(agents)
}
