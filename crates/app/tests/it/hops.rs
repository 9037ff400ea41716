//! Agents that answer each other are stopped; a person's word begins anew.

use parlour_app::request::{Send, Wait, WakeInput};
use parlour_domain::wait::Reason;
use parlour_testkit::{Agent, Bridge, Call, Person, Texts, homeserver::RoomSetup, wait};
use serde_json::json;

use crate::support::{begin, generous, settled};

const LONG: &str = "Agents here have answered each other 3 times";

async fn strict() -> Bridge {
    Bridge::with(|setup| {
        generous(setup);
        setup.settings.agents.max_hops = 3;
    })
    .await
}

fn mentioning(agent: &Agent, text: &str) -> Send {
    Send { text: text.to_owned(), mentions: vec![agent.user_id.to_string()], ..Send::default() }
}

/// Acknowledges all that is there.
async fn clear(agent: &Agent) {
    if let Some(last) = agent.look().await.unwrap().messages.last() {
        agent.ack(last.message.event_id.as_str()).await.unwrap();
    }
}

/// `from` says something to `to`, who waits; whether that woke it.
async fn wakes(bridge: &Bridge, from: &Agent, to: &Agent, text: &str, room: Option<&str>) -> bool {
    let waiting = begin(bridge, to, wait(30)).await;
    from.send(Send { room_id: room.map(str::to_owned), ..mentioning(to, text) }).await.unwrap();
    bridge.caught_up().await;
    bridge.clock.advance(30_000);
    let inbox = waiting.await.unwrap();
    clear(to).await;
    assert_eq!(inbox.reason == Reason::Messages, inbox.texts() == [text], "{:?}", inbox.texts());
    inbox.reason == Reason::Messages
}

fn notices(bridge: &Bridge, room: &str) -> Vec<String> {
    let notices = bridge.hs.messages(room).into_iter().filter(|m| m["content"]["msgtype"] == "m.notice");
    notices.map(|m| m["sender"].as_str().unwrap().to_owned()).collect()
}

/// Runs into the limit; how often they woke each other.
async fn loop_until_stopped(bridge: &Bridge, a: &Agent, b: &Agent, room: Option<&str>) -> usize {
    let mut pair = (a, b);
    for n in 0..20 {
        if !wakes(bridge, pair.0, pair.1, &format!("no. {n}"), room).await {
            return n;
        }
        pair = (pair.1, pair.0);
    }
    panic!("they go on for ever");
}

#[tokio::test]
async fn a_loop_ends_people_are_told_once_and_a_persons_word_begins_anew() {
    let bridge = strict().await;
    let (ada, lobby): (Person, String) = (bridge.hs.person("ada"), bridge.lobby());
    ada.join(&lobby);
    let (a, b) = (settled(&bridge, "Echo").await, settled(&bridge, "Oche").await);
    assert_eq!(loop_until_stopped(&bridge, &a, &b, None).await, 4, "hops 0 to 3");
    bridge.hs.until("people are told", |hs| hs.texts(&lobby).iter().any(|t| t.starts_with(LONG))).await;
    assert_eq!(notices(&bridge, &lobby), ["@parlour:example.org"]);
    let guard = a.me().await.unwrap();
    assert_eq!((guard.max_hops, guard.hops[0].hops), (3, 4));

    // a third one is heard, and those of the loop answer it
    let quiet = settled(&bridge, "Quiet").await;
    clear(&quiet).await;
    assert!(wakes(&bridge, &quiet, &a, "from outside", None).await);
    assert!(wakes(&bridge, &a, &quiet, "an answer", None).await);

    ada.say(&lobby, "go on");
    bridge.caught_up().await;
    clear(&a).await;
    clear(&b).await;
    assert!(b.me().await.unwrap().hops.is_empty());
    assert_eq!(loop_until_stopped(&bridge, &a, &b, None).await, 4);
    bridge
        .hs
        .until("people are told again", |hs| {
            hs.texts(&lobby).iter().filter(|t| t.starts_with(LONG)).count() == 2
        })
        .await;
    let log = a.look().await.unwrap();
    assert!(!log.texts().iter().any(|t| t.starts_with(LONG)), "what the bridge says is in no inbox");
}

#[tokio::test]
async fn the_count_is_in_the_event_and_only_puppets_are_believed() {
    let bridge = strict().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    let (a, b) = (settled(&bridge, "Echo").await, settled(&bridge, "Oche").await);
    assert!(wakes(&bridge, &a, &b, "first", None).await);
    assert!(wakes(&bridge, &b, &a, "second", None).await);
    let counts: Vec<_> =
        bridge.hs.messages(&lobby).iter().map(|m| m["content"]["io.parlour.hops"].clone()).collect();
    assert_eq!(counts, [json!(0), json!(1)]);
    for odd in [json!(1_000_000_000_000_i64), json!("9"), json!(-1), json!([9]), json!(1e300)] {
        let waiting = begin(&bridge, &a, wait(30)).await;
        ada.message(&lobby, json!({"msgtype": "m.text", "body": "odd", "io.parlour.hops": odd}));
        let inbox = waiting.await.unwrap();
        assert_eq!(inbox.reason, Reason::Messages, "{odd}");
        a.ack(inbox.event_ids[0].as_str()).await.unwrap();
    }
}

#[tokio::test]
async fn the_count_outlives_a_crash_and_so_does_that_people_were_told() {
    let mut bridge = strict().await;
    let (ada, lobby) = (bridge.hs.person("ada"), bridge.lobby());
    ada.join(&lobby);
    let (a, b) = (settled(&bridge, "Echo").await, settled(&bridge, "Oche").await);
    loop_until_stopped(&bridge, &a, &b, None).await;
    bridge.hs.until("people are told", |hs| hs.texts(&lobby).iter().any(|t| t.starts_with(LONG))).await;
    bridge.crash_and_restart().await;
    let waiting = begin(&bridge, &b, Wait { wake: Some(WakeInput::Mentions), ..wait(30) }).await;
    let last =
        bridge.hs.messages(&lobby).iter().rfind(|m| m["content"]["io.parlour.hops"] == 3).unwrap().clone();
    let reply_to = last["event_id"].as_str().map(str::to_owned);
    a.send(Send { reply_to, ..mentioning(&b, "on and on") }).await.unwrap();
    bridge.caught_up().await;
    bridge.clock.advance(30_000);
    assert_eq!(waiting.await.unwrap().reason, Reason::Timeout);
    assert_eq!(notices(&bridge, &lobby).len(), 1);
}

/// Where the bot is not, a puppet says it, and nobody's inbox takes it for a word of the agent.
#[tokio::test]
async fn in_a_persons_room_a_puppet_tells() {
    let bridge = strict().await;
    let (ada, a, b) = (bridge.hs.person("ada"), bridge.join("Echo").await, bridge.join("Oche").await);
    bridge.caught_up().await;
    let room = ada.make_room(&RoomSetup { join_rule: "invite", ..RoomSetup::default() });
    for agent in [&a, &b] {
        ada.invite(&room, agent.user_id.as_str());
        bridge.hs.until("it is in", |hs| hs.is_joined(&room, agent.user_id.as_str())).await;
        bridge.caught_up().await;
        parlour_testkit::eventually("a second room", || async {
            (agent.me().await.unwrap().rooms.len() == 2).then_some(())
        })
        .await;
        agent.look().await.unwrap();
    }
    let sends = bridge.hs.calls(Call::Send);
    assert_eq!(loop_until_stopped(&bridge, &a, &b, Some(&room)).await, 4);
    bridge.hs.until_called(Call::Send, sends + 6).await;
    bridge.caught_up().await;
    assert_eq!(notices(&bridge, &room), [a.user_id.as_str()]);
    let log =
        b.browse(parlour_app::request::Browse { room_id: Some(room.clone()), ..parlour_testkit::browse(50) });
    assert!(!log.await.unwrap().messages.texts().iter().any(|t| t.starts_with(LONG)));
}
