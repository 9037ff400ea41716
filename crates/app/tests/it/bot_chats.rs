//! Chats of people with the bot alone.

use parlour_testkit::homeserver::{BOT, RoomSetup};

use crate::bot::{Kitchen, said};

/// In a chat of two no prefix is needed, and the room is chosen by name, number or place.
#[tokio::test]
async fn in_a_direct_chat() {
    let kitchen = Kitchen::new().await;
    let (bridge, ada) = (&kitchen.bridge, &kitchen.ada);
    let scout = bridge.join("Scout").await;
    let chat = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    ada.invite_directly(&chat, BOT);
    let mut count = said(bridge, &chat, 1).await.len();
    let mut ask = async |text: &str| {
        count += 1;
        ada.say(&chat, text);
        said(bridge, &chat, count).await.pop().unwrap()
    };
    assert_eq!(ask("knocks").await, "Nobody knocks in Kitchen right now.");
    assert!(ask("invite Scout").await.contains("is in in Kitchen now"));
    assert!(bridge.hs.is_joined(&kitchen.room, scout.user_id.as_str()));
    let number = kitchen.number().await;
    for named in ["kitchen", "1", number.as_str(), kitchen.room.as_str()] {
        assert!(ask(&format!("agents {named}")).await.contains(&scout.display_name), "{named}");
    }
    assert!(ask("agents Cellar").await.contains("I know no room of yours"));
    assert!(ask("remove scout in Kitchen").await.contains("is out in Kitchen"));
    assert!(ask("mumble").await.contains("I do not know that command"));
}

/// What is said in clear is on the homeserver for good.
#[tokio::test]
async fn a_code_is_not_said_in_a_direct_chat_in_clear() {
    let kitchen = Kitchen::new().await;
    let chat = kitchen.ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    kitchen.ada.invite_directly(&chat, BOT);
    said(&kitchen.bridge, &chat, 1).await;
    for (asked, command) in (2..).zip(["code", "code new"]) {
        kitchen.ada.say(&chat, command);
        let answer = said(&kitchen.bridge, &chat, asked).await.pop().unwrap();
        assert!(answer.contains("encrypted chat"), "{answer}");
    }
    let looks_like_one = |word: &str| word.len() >= 14 && word.matches('-').count() == 2;
    for room in [&chat, &kitchen.room] {
        for words in said(&kitchen.bridge, room, 1).await {
            assert!(!words.split_whitespace().any(looks_like_one), "{words}");
        }
    }
}
