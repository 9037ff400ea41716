//! Sending the agents out of a room, and the bridge that ends in the middle of it.

use parlour_app::runtime::Clock;
use parlour_domain::fault::Code;
use parlour_testkit::{
    Call, Mishap, When, eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;

use crate::{
    bot::{Kitchen, notices, said},
    support::{code, pass_until},
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

#[tokio::test]
async fn sent_away_it_leaves_no_way_in() {
    let kitchen = Kitchen::new().await;
    let number = kitchen.number().await;
    let (scout, guest) = (kitchen.bridge.join("Scout").await, kitchen.bridge.join("Guest").await);
    kitchen.ask(&kitchen.ada, "!agents invite Scout").await;
    kitchen.ada.say(&kitchen.room, "!agents off");
    eventually_is("it is gone", || !kitchen.bridge.hs.is_joined(&kitchen.room, BOT)).await;
    assert!(!kitchen.bridge.hs.is_joined(&kitchen.room, scout.user_id.as_str()));
    let stranger = kitchen.bridge.stranger();
    assert_eq!(code(guest.enter(&number, stranger).await), Code::RoomNotFound);
    // and back again: the same number, and a greeting of its own
    kitchen.ada.invite(&kitchen.room, BOT);
    eventually_is("it is back", || {
        notices(&kitchen.bridge, &kitchen.room)
            .iter()
            .filter(|n| n["body"].as_str().unwrap().contains(&number))
            .count()
            == 2
    })
    .await;
}

#[tokio::test]
async fn who_is_on_the_way_in_when_it_is_sent_away_does_not_stay() {
    let kitchen = Kitchen::new().await;
    let guest = kitchen.bridge.join("Guest").await;
    let chat = kitchen.ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    kitchen.ada.invite_directly(&chat, BOT);
    said(&kitchen.bridge, &chat, 1).await;
    let held = kitchen.bridge.hs.hold(Call::Join, When::Before);
    kitchen.ada.say(&chat, "invite Guest");
    held.arrived().await;
    let number = kitchen.number().await;
    kitchen.ada.say(&kitchen.room, "!agents off");
    // the door is shut by nothing else
    let other = kitchen.bridge.join("Other").await;
    while !matches!(other.enter(&number, kitchen.bridge.stranger()).await, Err(fault) if fault.code == Code::RoomNotFound)
    {
        tokio::task::yield_now().await;
    }
    held.release();
    eventually_is("it is gone", || !kitchen.bridge.hs.is_joined(&kitchen.room, BOT)).await;
    assert!(!kitchen.bridge.hs.is_joined(&kitchen.room, guest.user_id.as_str()));
    assert_eq!(guest.me().await.unwrap().rooms.len(), 1);
}

#[tokio::test]
async fn while_somebody_cannot_be_put_out_it_stays_and_can_be_told_again() {
    let kitchen = Kitchen::new().await;
    let number = kitchen.number().await;
    let (scout, guest) = (kitchen.bridge.join("Scout").await, kitchen.bridge.join("Guest").await);
    kitchen.ask(&kitchen.ada, "!agents invite Scout").await;
    kitchen.bridge.hs.always(Call::Kick, Mishap::bad_gateway(When::Before));
    let answer = kitchen.ask(&kitchen.ada, "!agents off").await;
    assert!(answer.contains("Not everybody is out yet"), "{answer}");
    let inside = |who: &str| kitchen.bridge.hs.is_joined(&kitchen.room, who);
    assert!(inside(BOT) && inside(scout.user_id.as_str()));
    assert_eq!(scout.me().await.unwrap().rooms.len(), 1, "it reads and says nothing there any more");
    let knocks = guest.enter(&number, kitchen.bridge.stranger()).await.unwrap();
    assert!(matches!(knocks, parlour_app::view::Entered::Knock(_)), "only at somebody's word: {knocks:?}");
    kitchen.bridge.hs.recover(Call::Kick);
    kitchen.ada.say(&kitchen.room, "!agents off");
    eventually_is("it is gone", || !kitchen.bridge.hs.is_joined(&kitchen.room, BOT)).await;
    assert!(!kitchen.bridge.hs.is_joined(&kitchen.room, scout.user_id.as_str()));
    let stranger = kitchen.bridge.stranger();
    assert_eq!(code(guest.enter(&number, stranger).await), Code::RoomNotFound);
}
