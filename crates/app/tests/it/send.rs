//! Saying something, when the homeserver behaves more or less.

use parlour_app::{request::Send, runtime::Clock};
use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Call, Mishap, Texts, When, browse, eventually_is, named};

use crate::support::{code, id, pass_until};

#[tokio::test]
async fn what_is_sent_is_in_the_history_at_once() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let sent = agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!((sent.submission_id.to_string(), sent.room_id.as_str()), (id(1), &*bridge.lobby()));
    let page = agent.browse(browse(5)).await.unwrap();
    assert_eq!(page.messages.texts(), ["hello"]);
    let seen = &page.messages[0];
    assert!(seen.from_me && !seen.mentions_me && !seen.before_join);
    assert_eq!(seen.message.message_id.to_string(), id(1), "the submission id is the message id");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["hello"], "the echo adds none");
}

#[tokio::test]
async fn the_echo_settles_it_before_the_answer_does() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Send, When::After);
    let sent = agent.send(named(&id(1), "hello")).await.unwrap();
    assert!(sent.event_id.is_some());
    held.release();
    bridge.caught_up().await;
    let again = agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(again.event_id, sent.event_id);
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn an_echo_after_others_words_gives_it_its_place() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    ada.say(&bridge.lobby(), "before");
    agent.say("in between").await.unwrap();
    ada.say(&bridge.lobby(), "after");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    let page = agent.browse(browse(5)).await.unwrap();
    assert_eq!(page.messages.texts(), ["after", "in between", "before"], "as in the room");
}

#[tokio::test]
async fn other_agents_hear_it_without_waiting_for_the_echo() {
    let bridge = Bridge::start().await;
    let (robin, wren) = (bridge.join("Robin").await, bridge.join("Wren").await);
    bridge.caught_up().await;
    wren.look().await.unwrap();
    bridge.hs.hold_transactions().await;
    let waiting = wren.wait(parlour_testkit::wait(30));
    bridge.clock.until_sleeping_for(30_000).await;
    robin.say("hello").await.unwrap();
    let inbox = waiting.await.unwrap();
    assert_eq!(inbox.texts(), ["hello"]);
    wren.ack(inbox.messages[0].message.event_id.as_str()).await.unwrap();
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert!(wren.look().await.unwrap().messages.is_empty(), "the echo is not handed over again");
}

#[tokio::test]
async fn a_silent_homeserver_means_pending_and_later_sent_once() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    bridge.clock.until_sleeping_for(20_000).await;
    bridge.clock.advance(20_000);
    assert_eq!(asked.await.unwrap().event_id, None);
    held.cut();
    let lobby = bridge.lobby();
    pass_until(&bridge, "it is sent", || !bridge.hs.texts(&lobby).is_empty()).await;
    let sent = agent.send(named(&id(1), "hello")).await.unwrap();
    assert!(sent.event_id.is_some());
    assert_eq!(bridge.hs.texts(&lobby), ["hello"]);
}

#[tokio::test]
async fn a_refused_connection_is_told_at_once_and_costs_nothing() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    bridge.hs.go_down().await;
    assert_eq!(code(agent.send(named(&id(1), "hello")).await), Code::DependencyUnavailable);
    bridge.hs.come_up().await;
    let sent = agent.send(named(&id(1), "hello")).await.unwrap();
    assert!(sent.event_id.is_some());
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
    agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(code(agent.say("more").await), Code::RateLimited, "it was charged once");
}

#[tokio::test]
async fn an_effort_of_ten_minutes_and_again_when_asked() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.always(Call::Send, Mishap::Cut(When::Before));
    let end = bridge.clock.now_ms() + 10 * 60_000;
    let asked = agent.send(named(&id(1), "hello"));
    bridge.hs.until_called(Call::Send, 1).await;
    bridge.clock.until_sleeping_for(20_000).await;
    bridge.clock.advance(20_000);
    assert_eq!(asked.await.unwrap().event_id, None);
    while bridge.clock.now_ms() < end {
        // housekeeping, the look at the doors, and the next try
        eventually_is("it is tried again", || bridge.clock.sleepers().len() == 3).await;
        bridge.clock.advance(bridge.clock.sleepers()[0] - bridge.clock.now_ms());
    }
    // its last sleep, which found the time over
    bridge.clock.advance(15_000);
    eventually_is("it is given up for now", || bridge.clock.sleepers().len() == 2).await;
    bridge.hs.recover(Call::Send);
    assert!(bridge.hs.texts(&bridge.lobby()).is_empty(), "nobody tries any more");
    let again = agent.send(named(&id(1), "hello")).await.unwrap();
    assert!(again.event_id.is_some());
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn a_client_that_goes_away_and_comes_again() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    asked.go_away().await;
    let again = agent.send(named(&id(1), "hello"));
    held.release();
    assert!(again.await.unwrap().event_id.is_some());
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn a_shutdown_in_the_middle_leaves_it_for_the_next_start() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.always(Call::Send, Mishap::Cut(When::Before));
    let asked = agent.send(named(&id(1), "hello"));
    bridge.hs.until_called(Call::Send, 1).await;
    bridge.stop().await;
    assert_eq!(asked.await.unwrap().event_id, None);
    bridge.hs.recover(Call::Send);
    bridge.boot().await;
    bridge.ready().await;
    let lobby = bridge.lobby();
    bridge.hs.until("it is sent", |hs| hs.texts(&lobby) == ["hello"]).await;
    assert!(agent.send(named(&id(1), "hello")).await.unwrap().event_id.is_some());
    assert_eq!(bridge.hs.texts(&lobby), ["hello"]);
}

#[tokio::test]
async fn a_thread_is_answered_in_the_thread() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let root = ada.say(&bridge.lobby(), "root");
    let relates_to = serde_json::json!({"rel_type": "m.thread", "event_id": root, "is_falling_back": true,
        "m.in_reply_to": {"event_id": root}});
    let content = serde_json::json!({"msgtype": "m.text", "body": "in it", "m.relates_to": relates_to});
    let inside = ada.message(&bridge.lobby(), content);
    bridge.caught_up().await;
    let ask = Send { reply_to: Some(inside.clone()), ..crate::support::text("so am I") };
    agent.send(ask).await.unwrap();
    let last = bridge.hs.messages(&bridge.lobby()).pop().unwrap();
    let relates_to = &last["content"]["m.relates_to"];
    assert_eq!((&relates_to["rel_type"], &relates_to["event_id"]), (&"m.thread".into(), &root.into()));
    assert_eq!(relates_to["m.in_reply_to"]["event_id"], inside);
}
