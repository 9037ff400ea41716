//! Clear refusals by the homeserver: told as such, taken back, paid back.

use parlour_app::request::{Send, Wait};
use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Call, Mishap, When, eventually, named, wait};
use rstest::rstest;

use crate::support::{code, id, refused};

#[rstest]
#[case(Mishap::limit(&[], r#"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2001}"#), 3)]
#[case(Mishap::limit(&[("retry-after", "9")], r#"{"errcode":"M_LIMIT_EXCEEDED"}"#), 9)]
#[case(Mishap::limit(&[("retry-after", "9")], r#"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2001}"#), 9)]
#[case(Mishap::limit(&[("retry-after", "0")], ""), 1)]
#[case(Mishap::limit(&[], "<html>too many</html>"), 5)]
#[tokio::test]
async fn the_homeservers_limit_is_passed_on_and_costs_nothing(#[case] limit: Mishap, #[case] seconds: u64) {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    bridge.hs.next(Call::Send, limit);
    let fault = agent.send(named(&id(1), "hello")).await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(seconds)));
    agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[tokio::test]
async fn whoever_was_removed_is_told_so_and_pays_nothing() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    ada.kick(&bridge.lobby(), agent.user_id.as_str());
    assert_eq!(code(agent.send(named(&id(1), "hello")).await), Code::Forbidden);
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(code(agent.say("hello").await), Code::RoomNotJoined);
    agent.enter("lobby", bridge.stranger()).await.unwrap();
    agent.send(named(&id(1), "hello")).await.unwrap();
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["hello"]);
}

#[rstest]
#[case(Mishap::refuse(413, "M_TOO_LARGE"))]
#[case(Mishap::Answer { when: parlour_testkit::When::Before, status: 413, headers: vec![], body: String::new() })]
#[tokio::test]
async fn too_large_names_the_text(#[case] mishap: Mishap) {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    bridge.hs.next(Call::Send, mishap);
    assert_eq!(refused(agent.say("hello").await), (Code::InvalidMessage, "text".to_owned()));
    agent.say("shorter").await.unwrap();
}

#[tokio::test]
async fn a_homeserver_that_no_longer_knows_us_is_out_of_reach() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.hs.next(Call::Send, Mishap::refuse(401, "M_UNKNOWN_TOKEN"));
    let fault = agent.say("hello").await.unwrap_err();
    assert_eq!(fault.code, Code::DependencyUnavailable);
    assert!(!fault.message.contains("token") && !fault.cause.unwrap().contains("as-token"));
}

#[tokio::test]
async fn a_refusal_after_an_unclear_answer_is_paid_back_too() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    bridge.hs.next(Call::Send, Mishap::Cut(parlour_testkit::When::Before));
    bridge.hs.next(Call::Send, Mishap::refuse(403, "M_FORBIDDEN"));
    assert_eq!(code(agent.send(named(&id(1), "hello")).await), Code::Forbidden);
    agent.send(named(&id(1), "hello")).await.unwrap();
}

/// Also where the bridge was killed before the homeserver said no.
#[tokio::test]
async fn a_refusal_after_a_restart_is_paid_back_too() {
    let mut bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_minute = 1).await;
    let agent = bridge.join("Robin").await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let lost = agent.send(named(&id(1), "hello"));
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    lost.await.unwrap_err();
    bridge.hs.next(Call::Send, Mishap::refuse(403, "M_FORBIDDEN"));
    bridge.boot().await;
    bridge.ready().await;
    let again = || async { agent.send(named(&id(2), "again")).await.ok() };
    eventually("what was refused is paid back", again).await;
    assert_eq!(bridge.hs.texts(&bridge.lobby()), ["again"]);
}

#[tokio::test]
async fn whom_a_refused_message_named_is_not_waited_for() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    agent.look().await.unwrap();
    let naming = |who: &str| Send { mentions: vec![who.to_owned()], ..crate::support::text("you?") };
    agent.send(naming("@ada:example.org")).await.unwrap();
    bridge.hs.next(Call::Send, Mishap::refuse(403, "M_FORBIDDEN"));
    assert_eq!(code(agent.send(naming("@bob:example.org")).await), Code::Forbidden);
    let ask = || Wait { wait_for: vec!["mentioned".to_owned()], ..wait(0) };
    assert_eq!(agent.wait(ask()).await.unwrap().missing, ["@ada:example.org"]);
    bridge.crash_and_restart().await;
    assert_eq!(agent.wait(ask()).await.unwrap().missing, ["@ada:example.org"]);
}
