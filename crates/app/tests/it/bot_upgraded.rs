//! Rooms that people upgrade while the bot and agents are in them.

use parlour_testkit::{
    Agent, Call, When, eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;
use serde_json::json;

use crate::bot::Kitchen;

impl Kitchen {
    /// A new room, in which the bot has such power once it comes.
    fn upgraded(&self, power_of_bot: u64) -> String {
        let new = self.ada.upgrade(&self.room, "invite");
        let mut users = json!({BOT: power_of_bot});
        if RoomSetup::default().version != "12" {
            users[&self.ada.user_id] = 100.into();
        }
        self.ada.set_state(&new, "m.room.power_levels", json!({"users": users, "invite": 50}));
        new
    }

    async fn with_scout() -> (Self, Agent) {
        let kitchen = Self::new().await;
        let scout = kitchen.bridge.join("Scout").await;
        kitchen.ada.invite(&kitchen.room, scout.user_id.as_str());
        kitchen.comes(&scout, &kitchen.room).await;
        (kitchen, scout)
    }

    async fn comes(&self, agent: &Agent, room: &str) {
        let hs = &self.bridge.hs;
        eventually_is("it is there", || hs.is_joined(room, agent.user_id.as_str())).await;
        self.bridge.caught_up().await;
    }

    async fn leaves_the_old_room(&self, user: &str) {
        eventually_is("it does not stay behind", || !self.bridge.hs.is_joined(&self.room, user)).await;
    }
}

/// Killed while it invites, too.
#[rstest]
#[case(None)]
#[case(Some(When::Before))]
#[case(Some(When::After))]
#[tokio::test]
async fn the_bot_takes_agents_along_where_it_may_invite(#[case] killed: Option<When>) {
    let (mut kitchen, scout) = Kitchen::with_scout().await;
    let new = kitchen.upgraded(50);
    let held = killed.map(|when| kitchen.bridge.hs.hold(Call::Invite, when));
    kitchen.ada.invite(&new, BOT);
    if let Some(held) = held {
        held.arrived().await;
        kitchen.bridge.crash().await;
        held.cut();
        kitchen.bridge.boot().await;
        kitchen.bridge.ready().await;
    }
    kitchen.comes(&scout, &new).await;
    for user in [BOT, scout.user_id.as_str()] {
        kitchen.leaves_the_old_room(user).await;
    }
    let rooms = scout.me().await.unwrap().rooms;
    assert!(rooms.iter().any(|room| room.room_id == *new), "{rooms:?}");
}

#[tokio::test]
async fn without_the_power_to_invite_it_comes_alone() {
    let (kitchen, scout) = Kitchen::with_scout().await;
    let new = kitchen.upgraded(0);
    kitchen.ada.invite(&new, BOT);
    for user in [scout.user_id.as_str(), BOT] {
        kitchen.leaves_the_old_room(user).await;
    }
    kitchen.bridge.caught_up().await;
    assert!(!kitchen.bridge.hs.is_joined(&new, scout.user_id.as_str()));
    kitchen.ada.invite(&new, scout.user_id.as_str());
    kitchen.comes(&scout, &new).await;
}
