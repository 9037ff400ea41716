//! Sending the agents out of a room, and the bridge that ends in the middle of it.

use parlour_testkit::{
    Call, When,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;

use crate::bot::{Kitchen, said};

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
