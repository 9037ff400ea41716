//! Waiting: what it gives, why it ends.

use std::collections::BTreeSet;

use parlour_app::{
    request::{Wait, WakeInput},
    view::Inbox,
};
use parlour_domain::{fault::Code, wait::Reason};
use parlour_testkit::{Agent, Bridge, Pending, Texts, wait};

use crate::support::{begin, refused, settled, two_lobbies};

#[tokio::test]
async fn the_first_call_gives_what_came_before_marked_by_position() {
    let bridge = Bridge::start().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    ada.say(&lobby, "one");
    ada.say(&lobby, "two");
    let agent = bridge.join("Robin").await;
    ada.say(&lobby, "three");
    bridge.caught_up().await;
    let inbox = agent.wait(wait(30)).await.unwrap();
    assert_eq!(inbox.texts(), ["one", "two", "three"]);
    assert_eq!(inbox.messages.iter().map(|m| m.before_join).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!((inbox.reason, inbox.pending), (Reason::Messages, 3));
    assert_eq!(inbox.event_ids.len(), 1, "context wakes nobody");
}

/// All in the same millisecond, and the join's own event later than the answer to it.
#[tokio::test]
async fn before_the_join_is_judged_by_the_rooms_order_not_by_arrival_of_answers() {
    let bridge = Bridge::start().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    ada.say(&lobby, "before");
    let agent = bridge.join("Robin").await;
    ada.say(&lobby, "after");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    let inbox = agent.look().await.unwrap();
    assert_eq!(inbox.texts(), ["before", "after"]);
    assert_eq!(inbox.messages.iter().map(|m| m.before_join).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn context_is_twenty_at_most_and_repeated_until_acknowledged() {
    let mut bridge = Bridge::start().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    for n in 1..=25 {
        ada.say(&lobby, &n.to_string());
    }
    bridge.caught_up().await;
    let agent = bridge.join("Robin").await;
    let first = agent.wait(wait(30)).await.unwrap();
    assert_eq!((first.messages.len(), first.reason, first.pending), (20, Reason::Timeout, 20));
    assert_eq!(first.texts()[0], "6");
    bridge.crash_and_restart().await;
    assert_eq!(agent.look().await.unwrap().texts(), first.texts());
    let fifteenth = first.messages[14].message.event_id.to_string();
    assert_eq!(agent.ack(&fifteenth).await.unwrap().pending, 5);
    assert_eq!(agent.look().await.unwrap().texts(), ["21", "22", "23", "24", "25"]);
}

#[tokio::test]
async fn a_message_wakes_whoever_waits() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let waiting = begin(&bridge, &agent, wait(30)).await;
    let event_id = ada.say(&bridge.lobby(), "hello");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.texts()), (Reason::Messages, vec!["hello".to_owned()]));
    assert_eq!(inbox.event_ids, [event_id.as_str()]);
    assert_eq!((inbox.pending, inbox.dropped, inbox.skipped, inbox.remaining), (1, 0, 0, 0));
    let message = &inbox.messages[0];
    assert!(!message.from_me && !message.mentions_me && message.message.author.is_person());
}

#[tokio::test]
async fn own_messages_neither_wake_nor_show() {
    let bridge = Bridge::start().await;
    let agent = settled(&bridge, "Robin").await;
    let waiting = begin(&bridge, &agent, wait(30)).await;
    agent.say("to the others").await.unwrap();
    bridge.caught_up().await;
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len(), inbox.pending), (Reason::Timeout, 0, 0));
}

#[tokio::test]
async fn what_woke_nobody_is_left_for_later() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let ask = Wait { wake: Some(WakeInput::Mentions), ..wait(30) };
    let waiting = begin(&bridge, &agent, ask.clone()).await;
    ada.say(&bridge.lobby(), "not for anyone");
    bridge.caught_up().await;
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len(), inbox.pending), (Reason::Timeout, 0, 1));
    let waiting = begin(&bridge, &agent, ask).await;
    ada.say_to(&bridge.lobby(), agent.user_id.as_str(), "for you");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.texts(), inbox.event_ids.len()), (vec!["not for anyone".into(), "for you".into()], 1));
}

#[tokio::test]
async fn related_is_what_people_say_unless_it_is_to_others() {
    let bridge = Bridge::start().await;
    let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("bob"));
    ada.join(&bridge.lobby());
    bob.join(&bridge.lobby());
    let (agent, other) = (settled(&bridge, "Robin").await, settled(&bridge, "Wren").await);
    let ask = Wait { wake: None, ..wait(30) };
    let waiting = begin(&bridge, &agent, ask).await;
    ada.say_to(&bridge.lobby(), &bob.user_id, "to Bob");
    other.say("an agent's word").await.unwrap();
    bridge.caught_up().await;
    assert!(!waiting.is_answered());
    ada.say(&bridge.lobby(), "to all");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.texts().len(), inbox.event_ids.len()), (3, 1));
}

#[tokio::test]
async fn a_newer_wait_ends_the_older_empty_handed() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let older = begin(&bridge, &agent, wait(30)).await;
    let newer = agent.wait(wait(20));
    let inbox = older.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len()), (Reason::Superseded, 0));
    ada.say(&bridge.lobby(), "hello");
    assert_eq!(newer.await.unwrap().reason, Reason::Messages);
}

#[tokio::test]
async fn a_room_of_ones_choice() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let garden = bridge.hs.room("garden").unwrap();
    agent.enter("garden", bridge.stranger()).await.unwrap();
    bridge.caught_up().await;
    agent.look().await.unwrap();
    let ask = Wait { room_id: Some(garden.clone()), ..wait(30) };
    let waiting = begin(&bridge, &agent, ask.clone()).await;
    ada.say(&bridge.lobby(), "elsewhere");
    bridge.caught_up().await;
    assert!(!waiting.is_answered());
    ada.say(&garden, "here");
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.texts(), inbox.pending), (vec!["here".to_owned()], 1));
    assert_eq!(agent.look().await.unwrap().texts(), ["elsewhere", "here"]);
    let unknown = Wait { room_id: Some("!nowhere".to_owned()), ..wait(0) };
    assert_eq!(refused(agent.wait(unknown).await).0, Code::RoomNotJoined);
}

#[tokio::test]
async fn the_end_of_the_time_is_no_error() {
    let bridge = Bridge::start().await;
    let agent = settled(&bridge, "Robin").await;
    let waiting = begin(&bridge, &agent, Wait { wait: Some(999), ..wait(30) }).await;
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len()), (Reason::Timeout, 0));
}

#[tokio::test]
async fn a_shutdown_answers_those_who_wait() {
    let mut bridge = Bridge::start().await;
    let agent = settled(&bridge, "Robin").await;
    let waiting = begin(&bridge, &agent, wait(30)).await;
    bridge.stop().await;
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len()), (Reason::Timeout, 0));
}

#[tokio::test]
async fn a_shutdown_gives_what_was_settling() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let waiting = begin(&bridge, &agent, Wait { settle: Some(20), ..wait(30) }).await;
    ada.say(&bridge.lobby(), "hello");
    bridge.clock.until_sleeping_for(20_000).await;
    bridge.stop().await;
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.texts()), (Reason::Messages, vec!["hello".to_owned()]));
}

#[tokio::test]
async fn out_of_all_rooms_a_wait_simply_waits() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    let waiting = begin(&bridge, &agent, wait(30)).await;
    ada.kick(&bridge.lobby(), agent.user_id.as_str());
    ada.say(&bridge.lobby(), "not for it any more");
    bridge.caught_up().await;
    assert!(!waiting.is_answered());
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.messages.len(), inbox.pending), (Reason::Timeout, 0, 0));
}

#[tokio::test]
async fn in_a_room_of_two_all_that_the_person_says_wakes() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge, "Robin").await);
    ada.join(&bridge.lobby());
    bridge.caught_up().await;
    let waiting = begin(&bridge, &agent, Wait { wake: None, ..wait(30) }).await;
    ada.say_to(&bridge.lobby(), "@carol:example.org", "to somebody who is not here");
    assert_eq!(waiting.await.unwrap().reason, Reason::Messages);
}

/// Twenty agents, and the waits that they are in.
async fn twenty_waiting(bridge: &Bridge) -> Vec<(Agent, Pending<Inbox>)> {
    let mut agents = vec![];
    for n in 0..20 {
        agents.push(settled(bridge, &format!("Robin{n}x")).await);
    }
    let mut waiting = vec![];
    for agent in agents {
        let pending = begin(bridge, &agent, wait(30)).await;
        waiting.push((agent, pending));
    }
    waiting
}

#[tokio::test]
async fn twenty_wait_and_all_are_woken_once() {
    let bridge = Bridge::start().await;
    let ada = bridge.hs.person("ada");
    let waiting = twenty_waiting(&bridge).await;
    let event_id = ada.say(&bridge.lobby(), "hello all");
    let mut given = BTreeSet::new();
    for (agent, pending) in waiting {
        let inbox = pending.await.unwrap();
        assert_eq!(inbox.event_ids, [event_id.as_str()]);
        given.insert(agent.user_id.clone());
    }
    assert_eq!(given.len(), 20);
}

#[tokio::test]
async fn from_a_transaction_to_the_answers_is_neither_homeserver_nor_disk() {
    let bridge = Bridge::start().await;
    let ada = bridge.hs.person("ada");
    let waiting = twenty_waiting(&bridge).await;
    let reads = bridge.counted("parlour_store_reads_total");
    let calls = bridge.hs.all_calls();
    assert!(reads > 0 && calls > 0, "they are counted");
    ada.say(&bridge.lobby(), "hello all");
    for (_, pending) in waiting {
        assert_eq!(pending.await.unwrap().texts(), ["hello all"]);
    }
    bridge.caught_up().await;
    assert_eq!(bridge.counted("parlour_store_reads_total"), reads);
    assert_eq!(bridge.hs.all_calls(), calls);
}
