//! Chats of people with the bot alone.

use std::path::Path;

use parlour_app::{SealingKey, runtime::Clock};
use parlour_domain::ids::{MessageId, RoomKey};
use parlour_store::{NewSaying, Sealed, Store, Tx};
use parlour_testkit::{
    Bridge, eventually_is,
    homeserver::{BOT, RoomSetup},
};
use rstest::rstest;
use serde_json::json;

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

/// Where Bob is while Ada has a chat with the bot.
#[derive(Clone, Copy, Debug)]
enum Bob {
    Elsewhere,
    Invited,
    Inside,
}

/// Ada's chat with the bot. The fake has no keys: once the chat is encrypted, the bot cannot say anything new in it.
async fn encrypted_chat(kitchen: &Kitchen, bob: Bob) -> String {
    let chat = kitchen.ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    kitchen.ada.invite_directly(&chat, BOT);
    said(&kitchen.bridge, &chat, 1).await;
    kitchen.ada.set_state(&chat, "m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"}));
    match bob {
        Bob::Elsewhere => {}
        Bob::Invited => kitchen.ada.invite(&chat, &kitchen.bob.user_id),
        Bob::Inside => kitchen.bob.join(&chat),
    }
    kitchen.bridge.caught_up().await;
    chat
}

/// Encrypted chats that the bot has made.
fn made_by_bot(bridge: &Bridge) -> Vec<String> {
    let hs = &bridge.hs;
    let made = |room: &String| {
        let by_bot = hs.states(room, "m.room.create").iter().any(|e| e["sender"] == BOT);
        by_bot && hs.state(room, "m.room.encryption").is_some()
    };
    hs.rooms_of(BOT).into_iter().filter(made).collect()
}

/// How much the bot has said in a room, in clear and encrypted.
fn spoken(kitchen: &Kitchen, room: &str) -> (usize, usize) {
    let count = |kind: &str| kitchen.bridge.hs.sent_by(BOT, room, kind).len();
    (count("m.room.message"), count("m.room.encrypted"))
}

/// Before others there is no word of a code: Ada is invited to another chat.
#[rstest]
#[case(Bob::Invited, false)]
#[case(Bob::Invited, true)]
#[case(Bob::Inside, false)]
#[case(Bob::Inside, true)]
#[tokio::test]
async fn a_chat_in_which_others_are_is_none_for_codes(#[case] bob: Bob, #[case] asked_there: bool) {
    let kitchen = Kitchen::new().await;
    let chat = encrypted_chat(&kitchen, bob).await;
    if asked_there {
        kitchen.ada.say(&chat, "!agents code");
    } else {
        let answer = kitchen.ask(&kitchen.ada, "!agents code").await;
        assert!(answer.contains("I have invited you to an encrypted chat"), "{answer}");
    }
    eventually_is("there is another chat", || made_by_bot(&kitchen.bridge).len() == 1).await;
    kitchen.bridge.caught_up().await;
    assert_eq!(spoken(&kitchen, &chat), (1, 0), "the greeting");
}

/// Where Ada is alone, the bot takes the chat and makes no other. It fails for want of keys.
#[tokio::test]
async fn a_chat_of_two_is_the_one_for_codes() {
    let kitchen = Kitchen::new().await;
    encrypted_chat(&kitchen, Bob::Elsewhere).await;
    let answer = kitchen.ask(&kitchen.ada, "!agents code").await;
    assert!(answer.starts_with("I could not open a chat with you"), "{answer}");
    assert_eq!(made_by_bot(&kitchen.bridge), Vec::<String>::new());
}

/// A code was on its way when the bridge ended, encrypted already. Whether Ada is alone is asked once more.
#[rstest]
#[case(Bob::Elsewhere, 1)]
#[case(Bob::Invited, 0)]
#[case(Bob::Inside, 0)]
#[tokio::test]
async fn what_is_for_one_alone_is_not_sent_once_others_are_there(#[case] bob: Bob, #[case] sent: usize) {
    let mut kitchen = Kitchen::new().await;
    let chat = encrypted_chat(&kitchen, bob).await;
    kitchen.bridge.stop().await;
    let folder = kitchen.bridge.copy();
    put_on_its_way(folder.path(), &kitchen).await;
    kitchen.bridge.put_back(&folder);
    kitchen.bridge.boot().await;
    kitchen.bridge.ready().await;
    let signs = || kitchen.bridge.hs.sent_by(BOT, &chat, "m.reaction").len();
    eventually_is("what comes behind it is said", || signs() == 1).await;
    assert_eq!(spoken(&kitchen, &chat), (1, sent));
}

/// Something for Ada alone, and behind it a sign, which takes no keys.
async fn put_on_its_way(folder: &Path, kitchen: &Kitchen) {
    let store = Store::open(folder).unwrap();
    let rooms = store.read(|r| r.bot_rooms()).await.unwrap();
    let chat = rooms.iter().find(|room| room.direct).unwrap().room;
    let now_ms = kitchen.bridge.clock.now_ms();
    let ada = kitchen.ada.user_id.as_str().try_into().unwrap();
    let letter = NewSaying { only_for: Some(ada), ..saying(chat, "m.room.message", now_ms) };
    store.write(move |tx: &Tx<'_>| tx.put_saying(&letter)).await.unwrap();
    let letter = store.read(move |r| r.next_saying(chat)).await.unwrap().unwrap();
    let content = json!({"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x", "session_id": "x"});
    let sealed = Sealed { content: content.to_string(), digest: [0; 32] };
    let sign = saying(chat, "m.reaction", now_ms + 1);
    let write = store.write(move |tx: &Tx<'_>| {
        tx.saying_tried(letter.id, Some(&sealed))?;
        tx.put_saying(&sign)
    });
    write.await.unwrap();
    store.close();
}

fn saying(room: RoomKey, event_type: &str, made_at_ms: i64) -> NewSaying {
    let mark = MessageId::new(made_at_ms, [1; 10]);
    let place: [&[u8]; 2] = [b"bot saying", mark.0.as_bytes()];
    NewSaying {
        // with the key that the testkit's bridge has
        content: SealingKey::new(&[7; 32]).seal(&place, b"{}"),
        mark,
        room,
        event_type: event_type.to_owned(),
        only_for: None,
        made_at_ms,
    }
}

/// A code waits for whoever asked for it as long as they have the power; here for ever, as nobody has keys.
#[rstest]
#[case::kept(50, 1)]
#[case::lost(0, 0)]
#[tokio::test]
async fn whoever_loses_the_power_meanwhile_is_told_no_code(#[case] level: i64, #[case] waiting: usize) {
    let mut kitchen = Kitchen::new().await;
    set_levels(&kitchen, 50, 50);
    kitchen.bridge.caught_up().await;
    let answer = kitchen.ask(&kitchen.bob, "!agents code").await;
    assert!(answer.contains("I have invited you to an encrypted chat"), "{answer}");
    let chat = made_by_bot(&kitchen.bridge).remove(0);
    announced(&kitchen, &chat).await;
    set_levels(&kitchen, level, 50);
    kitchen.bob.join(&chat);
    kitchen.bridge.caught_up().await;
    // each round looks at letters first, and announces commands after that
    set_levels(&kitchen, level, 100);
    announced(&kitchen, &kitchen.room).await;
    assert_eq!(spoken(&kitchen, &chat), (0, 0));
    kitchen.bridge.stop().await;
    let folder = kitchen.bridge.copy();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.read(|r| r.letters()).await.unwrap().len(), waiting);
}

fn set_levels(kitchen: &Kitchen, of_bob: i64, of_bot: i64) {
    let mut users = json!({BOT: of_bot});
    users[&kitchen.bob.user_id] = of_bob.into();
    let power = json!({"users": users, "invite": 50, "state_default": 100});
    kitchen.ada.set_state(&kitchen.room, "m.room.power_levels", power);
}

async fn announced(kitchen: &Kitchen, room: &str) {
    let kind = "org.matrix.msc4391.command_description";
    let all = || kitchen.bridge.hs.states(room, kind).len() == 13;
    eventually_is("the bot's commands are announced", all).await;
}
