//! Settling: a conversation is handed over once it is quiet.

use parlour_app::request::Wait;
use parlour_domain::wait::Reason;
use parlour_testkit::{Agent, Bridge, Texts, wait};

async fn settled(bridge: &Bridge) -> Agent {
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    agent.look().await.unwrap();
    agent
}

fn settling(seconds: u64) -> Wait {
    Wait { settle: Some(seconds), ..wait(30) }
}

#[tokio::test]
async fn quiet_for_five_seconds_by_default_and_each_message_starts_it_anew() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge).await);
    let waiting = agent.wait(Wait { settle: None, ..wait(30) });
    bridge.clock.until_sleeping_for(30_000).await;
    ada.say(&bridge.lobby(), "first");
    bridge.clock.until_sleeping_for(5_000).await;
    bridge.clock.advance(4_000);
    ada.say(&bridge.lobby(), "second");
    bridge.clock.until_sleeping_for(5_000).await;
    bridge.clock.advance(4_999);
    assert!(!waiting.is_answered());
    bridge.clock.advance(1);
    assert_eq!(waiting.await.unwrap().texts(), ["first", "second"]);
}

#[tokio::test]
async fn whoever_woke_us_and_types_on_is_waited_for() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge).await);
    let waiting = agent.wait(settling(3));
    bridge.clock.until_sleeping_for(30_000).await;
    ada.say(&bridge.lobby(), "first");
    bridge.clock.until_sleeping_for(3_000).await;
    ada.typing(&bridge.lobby(), &[&ada.user_id]);
    // believed for thirty seconds, but a wait ends at its deadline
    bridge.clock.until_sleeping_for(30_000).await;
    bridge.caught_up().await;
    bridge.clock.advance(6_000);
    assert!(!waiting.is_answered());
    ada.typing(&bridge.lobby(), &[]);
    bridge.clock.until_sleeping_for(3_000).await;
    bridge.clock.advance(3_000);
    assert_eq!(waiting.await.unwrap().texts(), ["first"]);
}

#[tokio::test]
async fn somebody_else_who_types_holds_nothing() {
    let bridge = Bridge::start().await;
    let (ada, bob) = (bridge.hs.person("ada"), bridge.hs.person("bob"));
    let agent = settled(&bridge).await;
    let waiting = agent.wait(settling(3));
    bridge.clock.until_sleeping_for(30_000).await;
    bob.typing(&bridge.lobby(), &[&bob.user_id]);
    ada.say(&bridge.lobby(), "first");
    bridge.clock.until_sleeping_for(3_000).await;
    bridge.caught_up().await;
    bridge.clock.advance(3_000);
    assert_eq!(waiting.await.unwrap().reason, Reason::Messages);
}

#[tokio::test]
async fn a_backlog_that_is_old_enough_goes_at_once() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge).await);
    ada.say(&bridge.lobby(), "old");
    bridge.caught_up().await;
    bridge.clock.advance(10_000);
    assert_eq!(agent.wait(settling(10)).await.unwrap().texts(), ["old"]);
}

#[tokio::test]
async fn as_many_as_fit_go_at_once() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge).await);
    let waiting = agent.wait(Wait { limit: Some(2), ..settling(20) });
    bridge.clock.until_sleeping_for(30_000).await;
    ada.say(&bridge.lobby(), "one");
    bridge.clock.until_sleeping_for(20_000).await;
    ada.say(&bridge.lobby(), "two");
    assert_eq!(waiting.await.unwrap().texts(), ["one", "two"]);
}

#[tokio::test]
async fn what_is_deleted_while_it_settles_wakes_nobody() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), settled(&bridge).await);
    let waiting = agent.wait(settling(3));
    bridge.clock.until_sleeping_for(30_000).await;
    let said = ada.say(&bridge.lobby(), "oops");
    bridge.clock.until_sleeping_for(3_000).await;
    ada.redact(&bridge.lobby(), &said);
    bridge.caught_up().await;
    bridge.clock.advance(3_000);
    bridge.clock.until_sleeping_for(27_000).await;
    bridge.clock.advance(27_000);
    let inbox = waiting.await.unwrap();
    assert_eq!((inbox.reason, inbox.pending), (Reason::Timeout, 0));
}
