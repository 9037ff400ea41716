//! What is counted over time: entering lobbies by source, speaking by agent.

use parlour_domain::{fault::Code, quota::HOUR_MS};
use parlour_testkit::{Bridge, join};

#[tokio::test]
async fn five_an_hour_from_one_address() {
    let mut bridge = Bridge::start().await;
    let source = bridge.stranger();
    for _ in 0..5 {
        bridge.ask_in(join("Robin"), source).await.unwrap();
    }
    bridge.clock.advance(1_000);
    let fault = bridge.ask_in(join("Robin"), source).await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(3_599)));
    bridge.ask_in(join("Robin"), bridge.stranger()).await.unwrap();

    bridge.crash_and_restart().await;
    let fault = bridge.ask_in(join("Robin"), source).await.unwrap_err();
    assert_eq!(fault.code, Code::RateLimited, "windows are kept over restarts");
    bridge.clock.advance(HOUR_MS - 1_000);
    bridge.ask_in(join("Robin"), source).await.unwrap();
}

#[tokio::test]
async fn so_many_a_day_from_one_address() {
    let bridge = Bridge::with(|s| {
        s.settings.limits.lobby_entries_per_source_hour = 2;
        s.settings.limits.lobby_entries_per_source_day = 3;
    })
    .await;
    let source = bridge.stranger();
    for _ in 0..2 {
        bridge.ask_in(join("Robin"), source).await.unwrap();
    }
    assert_eq!(bridge.ask_in(join("Robin"), source).await.unwrap_err().code, Code::RateLimited);
    bridge.clock.advance(HOUR_MS);
    bridge.ask_in(join("Robin"), source).await.unwrap();
    let fault = bridge.ask_in(join("Robin"), source).await.unwrap_err();
    // it is 13:00 on the test's clock: a source's day ends at midnight UTC
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(11 * 3_600)));
    bridge.clock.advance(11 * HOUR_MS);
    bridge.ask_in(join("Robin"), source).await.unwrap();
}

#[tokio::test]
async fn so_many_messages_a_day_of_one_agent() {
    let mut bridge = Bridge::with(|s| s.settings.limits.lobby_messages_per_agent_day = 3).await;
    let (agent, other) = (bridge.join("Robin").await, bridge.join("Wren").await);
    for n in 0..3 {
        agent.say(&format!("number {n}")).await.unwrap();
    }
    let fault = agent.say("one too many").await.unwrap_err();
    // a window begins with the first use in it
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(24 * 3_600)));
    bridge.crash_and_restart().await;
    assert_eq!(agent.say("after a restart").await.unwrap_err().code, Code::RateLimited);
    other.say("others may").await.unwrap();
    bridge.clock.advance(24 * HOUR_MS);
    agent.say("the next day").await.unwrap();
}
