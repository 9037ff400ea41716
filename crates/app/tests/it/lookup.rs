//! Messages by id.

use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Texts, named};

use crate::support::{id, refused, two_lobbies};

#[tokio::test]
async fn in_the_order_asked_each_once_and_in_full() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let long = "x".repeat(3_000);
    let one = ada.say(&bridge.lobby(), &long);
    let two = ada.say(&bridge.lobby(), "two");
    agent.send(named(&id(3), "mine")).await.unwrap();
    bridge.caught_up().await;
    let message_id = agent.look().await.unwrap().messages[1].message.message_id.to_string();
    let own = id(3);
    let looked = agent.lookup(&[&own, &two, "$gone", &message_id, &one, "rubbish"]).await.unwrap();
    assert_eq!(looked.messages.texts(), ["mine", "two", &long]);
    assert_eq!(looked.missing, ["$gone", "rubbish"]);
    assert!(looked.messages[0].from_me);
}

#[tokio::test]
async fn one_to_twenty() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    for ids in [vec![], vec!["$x"; 21]] {
        assert_eq!(refused(agent.lookup(&ids).await), (Code::InvalidRequest, "ids".to_owned()));
    }
    assert_eq!(agent.lookup(&["$x"; 20]).await.unwrap().missing.len(), 20);
}

#[tokio::test]
async fn an_id_that_two_used_means_the_earliest_one_may_see() {
    let bridge = Bridge::with(two_lobbies).await;
    let (robin, wren) = (bridge.join("Robin").await, bridge.join("Wren").await);
    robin.enter("garden", bridge.stranger()).await.unwrap();
    let mut there = named(&id(1), "in the garden");
    there.room_id = bridge.hs.room("garden");
    robin.send(there).await.unwrap();
    bridge.clock.advance(1_000);
    wren.send(named(&id(1), "in the lobby")).await.unwrap();
    bridge.caught_up().await;
    assert_eq!(robin.lookup(&[&id(1)]).await.unwrap().messages.texts(), ["in the garden"]);
    assert_eq!(wren.lookup(&[&id(1)]).await.unwrap().messages.texts(), ["in the lobby"]);
}

#[tokio::test]
async fn a_room_one_is_not_in_is_not_there() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let there = ada.say(&bridge.hs.room("garden").unwrap(), "there");
    bridge.caught_up().await;
    assert_eq!(agent.lookup(&[&there]).await.unwrap().missing, [there]);
}
