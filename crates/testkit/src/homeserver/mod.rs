//! A small honest Matrix homeserver on a loopback port: the calls that the bridge makes, nothing more, and switches for
//! what a real one cannot be made to do on demand. Where homeservers differ it does as Synapse 1.163 does.

mod calls;
mod inside;
mod manners;
mod mishap;
mod person;
mod profiles;
mod pump;
mod reading;
mod request;
mod rooms;
mod server;
mod world;

use std::sync::Arc;

use parking_lot::Mutex;
use parlour_app::runtime::Clock;
use serde_json::Value;
use tokio::sync::{Notify, watch};

use crate::{ManualClock, within};
pub use manners::Shown;
pub use mishap::{Held, Mishap, When};
pub use person::Person;
pub use request::Call;
pub(crate) use server::{bind_again, unused_address};
pub(crate) use world::World;

/// `example.org` in all ids.
pub const SERVER_NAME: &str = "example.org";
pub const AS_TOKEN: &str = "as-token-of-the-tests";
pub const HS_TOKEN: &str = "hs-token-of-the-tests";
pub const APPSERVICE_ID: &str = "parlour";
pub const BOT: &str = "@parlour:example.org";
pub const PUPPET_PREFIX: &str = "agent_";

/// The homeserver. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct FakeHomeserver(Arc<Inner>);

struct Inner {
    world: Mutex<World>,
    clock: ManualClock,
    /// Ticks at everything that happens here.
    changes: watch::Sender<()>,
    /// Ends the homeserver's waiting after a transaction that failed.
    again: Notify,
    server: Mutex<server::Socket>,
    http: reqwest::Client,
}

/// What a room is made like, by a person.
#[derive(Clone, Debug)]
pub struct RoomSetup<'a> {
    pub version: &'a str,
    /// Localpart.
    pub alias: Option<&'a str>,
    pub encrypted: bool,
    pub history_visibility: &'a str,
    pub join_rule: &'a str,
}

impl Default for RoomSetup<'_> {
    fn default() -> Self {
        Self {
            version: "12",
            alias: None,
            encrypted: false,
            history_visibility: "shared",
            join_rule: "public",
        }
    }
}

impl FakeHomeserver {
    /// Listens, and brings transactions to the appservice at `appservice` (host and port) from now on.
    pub async fn start(clock: ManualClock, appservice: String) -> Self {
        let hs = Self(Arc::new(Inner {
            world: Mutex::new(World::new(appservice)),
            clock,
            changes: watch::Sender::new(()),
            again: Notify::new(),
            server: Mutex::new(server::Socket::new()),
            http: pump::http(),
        }));
        hs.come_up().await;
        tokio::spawn(pump::run(hs.clone()));
        hs
    }

    /// `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.0.server.lock().address)
    }

    /// Looks into the world, or changes it; whoever waits for changes looks again afterwards.
    pub(crate) fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        let found = look(&mut self.0.world.lock());
        self.0.changes.send_replace(());
        found
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.0.world.lock())
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, mut is: impl FnMut(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        let found = async {
            while !is(self) {
                changes.changed().await.expect("the homeserver is here");
            }
        };
        within(what, found).await;
    }

    /// Refuses connections, and cuts those there are.
    pub async fn go_down(&self) {
        let listening = self.0.server.lock().close();
        if let Some(listening) = listening {
            let _ = within("the listener is closed", listening).await;
        }
    }

    /// Takes connections again, under the same address.
    pub async fn come_up(&self) {
        let (address, stop) = {
            let socket = self.0.server.lock();
            (socket.address, socket.stop.clone())
        };
        let listening = tokio::spawn(server::serve(self.clone(), bind_again(address).await, stop));
        self.0.server.lock().listening = Some(listening);
    }

    /// A restart of Synapse on SQLite: transaction ids begin at 1 again, and answers to sends without a device are
    /// forgotten.
    pub fn forget_like_a_restart(&self) {
        self.world(|w| {
            w.next_txn = 1;
            w.answered.clear();
        });
    }

    /// Gives the contents of pieces of state only, also where events are asked for.
    pub fn gives_contents_only(&self) {
        self.world(|w| w.contents_only = true);
    }

    /// How often a call was made, refused or not.
    #[must_use]
    pub fn calls(&self, call: Call) -> usize {
        self.look(|w| w.calls.get(&call).copied().unwrap_or(0))
    }

    /// How many calls there were in all.
    #[must_use]
    pub fn all_calls(&self) -> usize {
        self.look(|w| w.calls.values().sum())
    }

    /// Waits until a call has been made so often in all.
    pub async fn until_called(&self, call: Call, times: usize) {
        self.until(&format!("{times} calls of {call:?}"), |hs| hs.calls(call) >= times).await;
    }

    /// What the bot keeps here under a type.
    #[must_use]
    pub fn account_data(&self, kind: &str) -> Option<Value> {
        self.look(|w| w.account_data.get(&(BOT.to_owned(), kind.to_owned())).cloned())
    }

    /// Room behind an alias of this server.
    #[must_use]
    pub fn room(&self, alias: &str) -> Option<String> {
        self.look(|w| w.aliases.get(&format!("#{alias}:{SERVER_NAME}")).cloned())
    }

    /// Lets an alias lead to another room.
    pub fn point_alias(&self, alias: &str, room: &str) {
        self.world(|w| w.aliases.insert(format!("#{alias}:{SERVER_NAME}"), room.to_owned()));
    }

    /// Messages (`m.room.message`) of a room as they stand, oldest first.
    #[must_use]
    pub fn messages(&self, room: &str) -> Vec<Value> {
        self.look(|w| w.rooms[room].events().filter(|e| e["type"] == "m.room.message").collect())
    }

    /// Events of a type that somebody sent into a room, oldest first.
    #[must_use]
    pub fn sent_by(&self, user: &str, room: &str, kind: &str) -> Vec<Value> {
        let wanted = |e: &Value| e["type"] == kind && e["sender"] == user;
        self.look(|w| w.rooms[room].events().filter(wanted).collect())
    }

    /// All state of a type, by key.
    #[must_use]
    pub fn states(&self, room: &str, kind: &str) -> Vec<Value> {
        self.look(|w| w.rooms[room].whole_state().into_iter().filter(|e| e["type"] == kind).collect())
    }

    /// Their texts.
    #[must_use]
    pub fn texts(&self, room: &str) -> Vec<String> {
        let text = |e: Value| e["content"]["body"].as_str().unwrap_or_default().to_owned();
        self.messages(room).into_iter().map(text).collect()
    }

    #[must_use]
    pub fn is_joined(&self, room: &str, user: &str) -> bool {
        self.look(|w| w.rooms[room].membership(user) == "join")
    }

    /// `invite`, `join`, `leave` or `ban`.
    #[must_use]
    pub fn membership(&self, room: &str, user: &str) -> String {
        self.look(|w| w.rooms[room].membership(user))
    }

    /// The content of somebody's membership.
    #[must_use]
    pub fn member(&self, room: &str, user: &str) -> Option<Value> {
        self.look(|w| w.rooms[room].state("m.room.member", user)).map(|e| e["content"].clone())
    }

    /// Rooms that somebody is in.
    #[must_use]
    pub fn rooms_of(&self, user: &str) -> Vec<String> {
        self.look(|w| {
            w.rooms.iter().filter(|(_, r)| r.membership(user) == "join").map(|(id, _)| id.clone()).collect()
        })
    }

    /// Whether somebody has the power to speak in a room.
    #[must_use]
    pub fn may_speak(&self, room: &str, user: &str) -> bool {
        self.look(|w| w.rooms[room].level(user) >= w.rooms[room].takes("events_default"))
    }

    /// Who is in a room.
    #[must_use]
    pub fn members(&self, room: &str) -> Vec<String> {
        self.look(|w| w.rooms[room].joined())
    }

    /// The display name that a member has in a room.
    #[must_use]
    pub fn name_in(&self, room: &str, user: &str) -> Option<String> {
        let content = self.look(|w| w.rooms[room].state("m.room.member", user))?["content"].clone();
        content["displayname"].as_str().map(str::to_owned)
    }

    /// A piece of state's content.
    #[must_use]
    pub fn state(&self, room: &str, kind: &str) -> Option<Value> {
        self.look(|w| w.rooms[room].state(kind, "")).map(|e| e["content"].clone())
    }
}
