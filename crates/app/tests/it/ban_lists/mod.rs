//! Whom a ban list names.

mod banned;
mod lifted;
mod naming;
mod reading;
mod rooms;

use std::sync::Arc;

use parlour_app::{runtime::Clock, view::Readiness};
use parlour_domain::fault::Code;
use parlour_testkit::{
    Agent, Bridge, Call, Mishap, Person, Texts, When, eventually, eventually_is, homeserver::RoomSetup,
};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, pass_until};

const ALIAS: &str = "#bans:example.org";
const OTHER: &str = "#others:example.org";

/// A bridge that follows a list of Ada's. Eve is not in it yet.
struct Watch {
    bridge: Bridge,
    ada: Person,
    eve: Person,
    list: String,
    agent: Agent,
}

impl Watch {
    async fn new() -> Self {
        Self::of(RoomSetup { alias: Some("bans"), ..RoomSetup::default() }).await
    }

    async fn of(list: RoomSetup<'static>) -> Self {
        let bridge = Bridge::prepare(|s| s.settings.ban_lists = vec![ALIAS.try_into().unwrap()]).await;
        Self::beside(bridge, list).await
    }

    async fn beside(mut bridge: Bridge, list: RoomSetup<'static>) -> Self {
        let (ada, eve) = (bridge.hs.person("ada"), bridge.hs.person("eve"));
        let list = ada.make_room(&list);
        bridge.boot().await;
        bridge.ready().await;
        let agent = bridge.join("Scout").await;
        Self { bridge, ada, eve, list, agent }
    }

    /// The bridge follows another list as well.
    async fn beside_another(join_rule: &'static str) -> (Self, String) {
        let bridge = Bridge::prepare(|s| {
            s.settings.ban_lists = [ALIAS, OTHER].map(|alias| alias.try_into().unwrap()).into();
        })
        .await;
        let ada = bridge.hs.person("ada");
        let other = ada.make_room(&RoomSetup { alias: Some("others"), join_rule, ..RoomSetup::default() });
        (Self::beside(bridge, RoomSetup { alias: Some("bans"), ..RoomSetup::default() }).await, other)
    }

    /// How many lists were read, how many could not be, and how many rules there are.
    fn counts(&self) -> (usize, usize, usize) {
        let lists = self.bridge.app(|app| app.status().ban_lists);
        (lists.read, lists.failed, lists.rules)
    }

    /// Not only joined: what changes in the list from here on is read anew.
    async fn read(&self) {
        pass_until(&self.bridge, "the list is read", || self.counts().0 == 1).await;
    }

    async fn has_rules(&self, rules: usize) {
        pass_until(&self.bridge, &format!("{rules} rules"), || self.counts().2 == rules).await;
    }

    /// So much time that whatever is to be read after a change is read.
    async fn rest(&self) {
        let end_ms = self.bridge.clock.now_ms() + 10_000;
        pass_until(&self.bridge, "some seconds", || self.bridge.clock.now_ms() >= end_ms).await;
    }

    async fn list_eve(&self) -> String {
        self.read().await;
        let rule = self.ada.set_rule(&self.list, "user", &self.eve.user_id, Some("m.ban"));
        self.has_rules(1).await;
        rule
    }

    /// One more rule in the list; it is read.
    async fn news(&self, n: usize) {
        let (seen, entity) = (self.bridge.hs.calls(Call::State), format!("@eve{n}:example.org"));
        self.ada.set_rule(&self.list, "user", &entity, Some("m.ban"));
        let news = || self.bridge.hs.calls(Call::State) > seen;
        pass_until(&self.bridge, "the news is read", news).await;
    }

    fn eve_in(&self, room: &str) -> String {
        self.bridge.hs.membership(room, &self.eve.user_id)
    }

    async fn eve_is(&self, membership: &str, room: &str) {
        let what = format!("Eve's membership is {membership}");
        pass_until(&self.bridge, &what, || self.eve_in(room) == membership).await;
    }

    /// A room of Ada's in which Eve and the agent are.
    async fn room_of_people(&self) -> String {
        let room = self.ada.make_room(&RoomSetup::default());
        self.eve.join(&room);
        self.ada.invite(&room, self.agent.user_id.as_str());
        eventually("the agent has a place", || async {
            self.agent.me().await.unwrap().rooms.iter().any(|r| r.room_id == room).then_some(())
        })
        .await;
        self.bridge.caught_up().await;
        room
    }
}
