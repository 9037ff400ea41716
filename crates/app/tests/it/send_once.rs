//! The same submission gives one event: at once, again and again, over restarts and crashes at each point.

use parlour_app::request::Send;
use parlour_domain::fault::Code;
use parlour_testkit::{Agent, Bridge, Call, Mishap, Person, When, named};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, id};

async fn eight_at_once(agent: &Agent, ask: &Send) -> String {
    let asked: Vec<_> = (0..8).map(|_| agent.send(ask.clone())).collect();
    let mut events = vec![];
    for ask in asked {
        events.push(ask.await.unwrap().event_id.expect("sent").to_string());
    }
    events.dedup();
    assert_eq!(events.len(), 1);
    events.remove(0)
}

#[tokio::test]
async fn eight_at_once_before_and_after_a_restart_and_a_crash() {
    let mut bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    let ask = named(&id(1), "hello");
    let event = eight_at_once(&agent, &ask).await;
    bridge.restart().await;
    bridge.hs.forget_like_a_restart();
    assert_eq!(eight_at_once(&agent, &ask).await, event);
    bridge.crash_and_restart().await;
    assert_eq!(eight_at_once(&agent, &ask).await, event);
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
    assert_eq!(code(agent.say("more").await), Code::RateLimited, "charged once");
}

#[tokio::test]
async fn eight_at_once_through_a_connection_that_is_cut() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.next(Call::Send, Mishap::Cut(When::After));
    bridge.hs.forget_like_a_restart();
    eight_at_once(&agent, &named(&id(1), "hello")).await;
    bridge.caught_up().await;
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn two_agents_with_one_id_are_two_messages() {
    let bridge = Bridge::start().await;
    let (robin, wren) = (bridge.join("Robin").await, bridge.join("Wren").await);
    let one = robin.send(named(&id(1), "from Robin")).await.unwrap();
    let two = wren.send(named(&id(1), "from Wren")).await.unwrap();
    assert_ne!(one.event_id, two.event_id);
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["from Robin", "from Wren"]);
}

#[tokio::test]
async fn another_message_under_the_same_id_is_a_conflict() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(code(agent.send(named(&id(1), "other")).await), Code::SubmissionConflict);
    let mentions = vec!["@ada:example.org".to_owned()];
    let other = Send { mentions, ..named(&id(1), "hello") };
    assert_eq!(code(agent.send(other).await), Code::SubmissionConflict);
    let empty = Send { text: String::new(), ..named(&id(1), "") };
    assert_eq!(code(agent.send(empty).await), Code::SubmissionConflict, "before the text is looked at");
}

#[tokio::test]
async fn a_conflict_is_told_before_a_message_that_is_still_on_its_way() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    assert_eq!(code(agent.send(named(&id(1), "other")).await), Code::SubmissionConflict);
    held.release();
    asked.await.unwrap();
}

#[tokio::test]
async fn a_conflict_is_told_in_another_room_too() {
    let bridge = Bridge::with(crate::support::two_lobbies).await;
    let agent = bridge.join("Robin").await;
    agent.enter("garden", bridge.stranger()).await.unwrap();
    let here = Send { room_id: Some(bridge.lobby()), ..named(&id(1), "hello") };
    agent.send(here).await.unwrap();
    let there = Send { room_id: bridge.hs.room("garden"), ..named(&id(1), "hello") };
    assert_eq!(code(agent.send(there).await), Code::SubmissionConflict);
}

/// What became of the send by the time of the crash, and of its echo.
#[rstest]
#[case::claimed_and_never_arrived(When::Before, false, false)]
#[case::taken_and_not_answered(When::After, false, false)]
#[case::taken_and_forgotten_by_the_homeserver(When::After, false, true)]
#[case::taken_and_echoed(When::After, true, true)]
#[tokio::test]
async fn a_crash_at_each_point(#[case] when: When, #[case] echoed: bool, #[case] forgotten: bool) {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let held = bridge.hs.hold(Call::Send, when);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    if echoed {
        bridge.hs.release_transactions();
        bridge.hs.until_delivered().await;
    }
    bridge.crash().await;
    let _ = asked.await;
    if forgotten {
        bridge.hs.forget_like_a_restart();
    }
    ada.say(&bridge.lobby(), "meanwhile");
    bridge.boot().await;
    bridge.ready().await;
    let sent = agent.send(named(&id(1), "hello")).await.unwrap();
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    let lobby = bridge.lobby();
    let mut texts = bridge.hs.texts(&lobby);
    texts.sort();
    assert_eq!(texts, ["hello", "meanwhile"]);
    let again = agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!((again.event_id.is_some(), &again.event_id), (true, &sent.event_id));
}

#[tokio::test]
async fn a_crash_between_refused_connection_and_retry() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.go_down().await;
    assert_eq!(code(agent.send(named(&id(1), "hello")).await), Code::DependencyUnavailable);
    bridge.crash().await;
    bridge.hs.come_up().await;
    bridge.boot().await;
    bridge.ready().await;
    assert!(
        bridge.hs.texts(&bridge.lobby()).is_empty(),
        "it was told to have failed: nobody sends it unasked"
    );
    agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

/// After every kind of unclear answer the bridge looks first.
#[rstest]
#[case(Mishap::Cut(When::Before))]
#[case(Mishap::Cut(When::After))]
#[case(Mishap::bad_gateway(When::Before))]
#[case(Mishap::bad_gateway(When::After))]
#[case(Mishap::Answer { when: When::After, status: 200, headers: vec![], body: "{\"event".to_owned() })]
#[tokio::test]
async fn an_unclear_answer_is_one_event(#[case] mishap: Mishap) {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    bridge.hs.next(Call::Send, mishap);
    let asked = agent.send(named(&id(1), "hello"));
    bridge.hs.until_called(Call::Messages, 1).await;
    bridge.hs.forget_like_a_restart();
    assert!(asked.await.unwrap().event_id.is_some());
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn a_look_goes_back_over_many_messages() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let held = bridge.hs.hold(Call::Send, When::After);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    for n in 0..350 {
        ada.say(&bridge.lobby(), &n.to_string());
    }
    bridge.hs.forget_like_a_restart();
    held.cut();
    assert!(asked.await.unwrap().event_id.is_some());
    let hello = bridge.hs.texts(&bridge.lobby()).into_iter().filter(|t| t == "hello").count();
    assert_eq!(hello, 1);
}

/// Bans the agent from a room that only its members can read.
fn close(bridge: &Bridge, ada: &Person, agent: &Agent) {
    let shared = json!({"history_visibility": "shared"});
    ada.set_state(&bridge.lobby(), "m.room.history_visibility", shared);
    ada.ban(&bridge.lobby(), agent.user_id.as_str());
}

/// Removed before the bridge could look: it must not take "you may not look" for "it is not there".
#[tokio::test]
async fn an_unclear_answer_and_a_removal() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let held = bridge.hs.hold(Call::Send, When::After);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    close(&bridge, &ada, &agent);
    bridge.hs.forget_like_a_restart();
    held.cut();
    let sent = asked.await.unwrap();
    assert!(sent.event_id.is_some(), "it was sent: that has to be said");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn after_an_unclear_answer_a_removed_agent_is_told_that_nothing_was_sent() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let asked = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    close(&bridge, &ada, &agent);
    held.cut();
    assert_eq!(code(asked.await), Code::Forbidden);
    assert!(bridge.hs.texts(&bridge.lobby()).is_empty());
}
