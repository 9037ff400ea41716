//! Acknowledging.

use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Texts};

use crate::support::{code, settled, two_lobbies};

#[tokio::test]
async fn everything_up_to_it_and_never_back() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let said: Vec<String> = (1..=4).map(|n| ada.say(&bridge.lobby(), &n.to_string())).collect();
    bridge.caught_up().await;
    let acked = agent.ack(&said[1]).await.unwrap();
    assert_eq!((acked.acknowledged, acked.pending), (true, 2));
    let earlier = agent.ack(&said[0]).await.unwrap();
    assert_eq!((earlier.acknowledged, earlier.pending), (false, 2));
    let again = agent.ack(&said[1]).await.unwrap();
    assert_eq!((again.acknowledged, again.pending), (false, 2));
    assert_eq!(agent.look().await.unwrap().texts(), ["3", "4"]);
    bridge.crash_and_restart().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["3", "4"]);
    assert_eq!(agent.ack(&said[3]).await.unwrap().pending, 0);
    assert!(agent.look().await.unwrap().messages.is_empty());
}

/// Deleted, or pushed out by later ones, between the wait and the acknowledgement.
#[tokio::test]
async fn what_has_left_the_log_since_it_was_handed_over_counts() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let said: Vec<String> = (1..=3).map(|n| ada.say(&bridge.lobby(), &n.to_string())).collect();
    bridge.caught_up().await;
    assert_eq!(agent.look().await.unwrap().texts(), ["1", "2", "3"]);
    let later = ada.say(&bridge.lobby(), "4");
    ada.redact(&bridge.lobby(), &said[2]);
    bridge.caught_up().await;
    let acked = agent.ack(&said[2]).await.unwrap();
    assert_eq!((acked.acknowledged, acked.pending), (true, 1));
    let again = agent.ack(&said[2]).await.unwrap();
    assert_eq!((again.acknowledged, again.pending), (false, 1), "once");
    assert_eq!(agent.look().await.unwrap().texts(), ["4"]);
    (1..=500).for_each(|n| drop(ada.say(&bridge.lobby(), &n.to_string())));
    bridge.caught_up().await;
    let acked = agent.ack(&later).await.unwrap();
    assert_eq!((acked.acknowledged, acked.pending), (true, 500));
    assert_eq!(agent.look().await.unwrap().dropped, 0, "it was read");
}

#[tokio::test]
async fn unknown_and_foreign_ones_change_nothing() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let garden = bridge.hs.room("garden").unwrap();
    let other = bridge.join("Wren").await;
    other.enter("garden", bridge.stranger()).await.unwrap();
    let elsewhere = ada.say(&garden, "elsewhere");
    ada.say(&bridge.lobby(), "here");
    let own = agent.say("my own").await.unwrap().event_id.unwrap();
    bridge.caught_up().await;
    for id in ["$unknown", "no event id", "", &elsewhere, own.as_str()] {
        let acked = agent.ack(id).await.unwrap();
        assert_eq!((acked.acknowledged, acked.pending), (false, 1), "{id}");
    }
    assert_eq!(agent.look().await.unwrap().texts(), ["here"]);
}

#[tokio::test]
async fn in_all_rooms_or_in_one() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let (lobby, garden) = (bridge.lobby(), bridge.hs.room("garden").unwrap());
    agent.enter("garden", bridge.stranger()).await.unwrap();
    bridge.caught_up().await;
    agent.look().await.unwrap();
    let said = [
        ada.say(&lobby, "lobby 1"),
        ada.say(&garden, "garden 1"),
        ada.say(&lobby, "lobby 2"),
        ada.say(&garden, "garden 2"),
        ada.say(&lobby, "lobby 3"),
    ];
    bridge.caught_up().await;
    let wrong_room = agent.ack_in(Some(&lobby), &said[1]).await.unwrap();
    assert_eq!((wrong_room.acknowledged, wrong_room.pending), (false, 3));
    let one = agent.ack_in(Some(&garden), &said[3]).await.unwrap();
    assert_eq!((one.acknowledged, one.pending), (true, 0), "the numbers are that room's");
    assert_eq!(agent.look().await.unwrap().texts(), ["lobby 1", "lobby 2", "lobby 3"]);
    let all = agent.ack(&said[2]).await.unwrap();
    assert_eq!((all.acknowledged, all.pending), (true, 1));
    assert_eq!(code(agent.ack_in(Some("!nowhere"), &said[4]).await), Code::RoomNotJoined);
}

#[tokio::test]
async fn in_all_rooms_it_goes_by_arrival() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let (lobby, garden) = (bridge.lobby(), bridge.hs.room("garden").unwrap());
    agent.enter("garden", bridge.stranger()).await.unwrap();
    bridge.caught_up().await;
    agent.look().await.unwrap();
    ada.say(&lobby, "lobby 1");
    let second = ada.say(&garden, "garden 1");
    ada.say(&lobby, "lobby 2");
    bridge.caught_up().await;
    assert_eq!(agent.ack(&second).await.unwrap().pending, 1);
    assert_eq!(agent.look().await.unwrap().texts(), ["lobby 2"]);
}

#[tokio::test]
async fn context_of_another_room_is_not_acknowledged_unseen() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let garden = bridge.hs.room("garden").unwrap();
    ada.say(&garden, "said before");
    bridge.caught_up().await;
    agent.enter("garden", bridge.stranger()).await.unwrap();
    let here = ada.say(&bridge.lobby(), "here");
    bridge.caught_up().await;
    // acknowledged before any wait has covered the garden
    assert!(agent.ack(&here).await.unwrap().acknowledged);
    let inbox = agent.look().await.unwrap();
    assert_eq!((inbox.texts(), inbox.messages[0].before_join), (vec!["said before".to_owned()], true));
}

#[tokio::test]
async fn many_at_once_end_at_the_furthest() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let said: Vec<String> = (1..=20).map(|n| ada.say(&bridge.lobby(), &n.to_string())).collect();
    bridge.caught_up().await;
    let asked: Vec<_> = said[..15].iter().rev().map(|id| agent.ack(id)).collect();
    for ask in asked {
        ask.await.unwrap();
    }
    assert_eq!(agent.look().await.unwrap().texts(), ["16", "17", "18", "19", "20"]);
}
