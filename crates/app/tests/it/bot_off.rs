//! Sending the agents out of a room, and the bridge that ends in the middle of it.

use parlour_app::runtime::Clock;
use parlour_testkit::{
    Call, When,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;

use crate::{
    bot::{Kitchen, said},
    support::pass_until,
};

/// Said in the room, or in a direct chat with the bot.
#[rstest]
#[case(false, When::Before)]
#[case(false, When::After)]
#[case(true, When::Before)]
#[tokio::test]
async fn cut_off_in_the_middle_it_is_finished_after_the_restart(#[case] in_chat: bool, #[case] when: When) {
    let mut kitchen = Kitchen::new().await;
    let agents = [kitchen.bridge.join("Scout").await, kitchen.bridge.join("Wren").await];
    for name in ["Scout", "Wren"] {
        kitchen.ask(&kitchen.ada, &format!("!agents invite {name}")).await;
    }
    let (hs, room) = (kitchen.bridge.hs.clone(), kitchen.room.clone());
    assert!(agents.iter().all(|agent| hs.is_joined(&room, agent.user_id.as_str())), "both were let in");
    let held = hs.hold(Call::Kick, when);
    send_away(&kitchen, in_chat).await;
    held.arrived().await;
    kitchen.bridge.crash().await;
    held.cut();
    kitchen.bridge.boot().await;
    kitchen.bridge.ready().await;
    let out = |user: &str| !hs.is_joined(&room, user);
    hs.until("all agents are out, and the bot after them", |_| {
        agents.iter().all(|agent| out(agent.user_id.as_str())) && out(BOT)
    })
    .await;
    kitchen.bridge.caught_up().await;
    for agent in &agents {
        assert_eq!(agent.me().await.unwrap().rooms.len(), 1, "the lobby is left to it");
    }
}

/// It has forgotten the room by then: nobody can tell it to go once more.
#[rstest]
#[case("!agents off")]
#[case("!agents leave")]
#[tokio::test]
async fn cut_off_before_it_has_left_it_leaves_after_the_restart(#[case] command: &str) {
    let mut kitchen = Kitchen::new().await;
    let held = kitchen.bridge.hs.hold(Call::Leave, When::Before);
    kitchen.ada.say(&kitchen.room, command);
    held.arrived().await;
    kitchen.bridge.crash().await;
    held.cut();
    kitchen.bridge.boot().await;
    kitchen.bridge.ready().await;
    let inside = || kitchen.bridge.hs.is_joined(&kitchen.room, BOT);
    assert!(inside());
    pass_until(&kitchen.bridge, "it is out", || !inside()).await;
    assert!(kitchen.bridge.hs.is_joined(&kitchen.bridge.lobby(), BOT), "but not of the lobby");
}

/// In its chats and in rooms that it was let into it stays.
#[tokio::test]
async fn where_it_belongs_it_stays() {
    let kitchen = Kitchen::new().await;
    let chat = kitchen.ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    kitchen.ada.invite_directly(&chat, BOT);
    said(&kitchen.bridge, &chat, 1).await;
    let (scout, leaves) = (kitchen.bridge.join("Scout").await, kitchen.bridge.hs.calls(Call::Leave));
    let den = scout.make_room("Den").await.unwrap().access.room.room_id.to_string();
    kitchen.ada.invite(&den, BOT);
    kitchen.bridge.hs.until("it is in", |hs| hs.is_joined(&den, BOT)).await;
    kitchen.bridge.caught_up().await;
    for _ in 0..3 {
        let minute = kitchen.bridge.clock.now_ms() + 60_000;
        kitchen.bridge.clock.until_sleeping_to(minute).await;
        kitchen.bridge.clock.advance(60_000);
    }
    kitchen.bridge.clock.until_sleeping_for(60_000).await;
    assert_eq!(kitchen.bridge.hs.calls(Call::Leave), leaves);
}

async fn send_away(kitchen: &Kitchen, in_chat: bool) {
    if !in_chat {
        kitchen.ada.say(&kitchen.room, "!agents off");
        return;
    }
    let chat = kitchen.ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    kitchen.ada.invite_directly(&chat, BOT);
    said(&kitchen.bridge, &chat, 1).await;
    kitchen.ada.say(&chat, "off Kitchen");
}
