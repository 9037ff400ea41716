//! What is counted over time: entering lobbies by source, speaking by agent.

use std::sync::Arc;

use parlour_app::{
    App,
    runtime::Clock,
    view::{QuotaHolder, QuotaTaken, SourceTag},
};
use parlour_domain::{
    fault::Code,
    quota::{DAY_MS, HOUR_MS, MINUTE_MS},
    source::Source,
};
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

fn app(bridge: &Bridge) -> Arc<App> {
    bridge.app(Arc::clone)
}

/// `limit, whose, used/of`, and when it comes back after that moment.
fn told(taken: &[QuotaTaken], since_ms: i64) -> Vec<(String, i64)> {
    let whose = |holder: &QuotaHolder| match holder {
        QuotaHolder::Agent(agent) => agent.display_name.clone(),
        QuotaHolder::Lobby { slug, .. } => slug.clone().unwrap_or_default(),
        QuotaHolder::Source(_) => "source".to_owned(),
    };
    let line = |t: &QuotaTaken| {
        let quota = t.quota;
        let line = format!("{} {} {}/{}", quota.key, whose(&t.holder), quota.used, quota.limit);
        (line, quota.back_at_ms.map_or(0, |at| at - since_ms))
    };
    taken.iter().map(line).collect()
}

fn tag(taken: &QuotaTaken) -> SourceTag {
    match taken.holder {
        QuotaHolder::Source(tag) => tag,
        _ => panic!("{taken:?} is not of a source"),
    }
}

#[tokio::test]
async fn what_is_taken_is_told_the_fullest_first_whoever_took_it() {
    let bridge = Bridge::with(|s| {
        s.settings.limits.lobby_entries_per_source_hour = 2;
        s.settings.limits.lobby_messages_per_lobby_minute = 4;
    })
    .await;
    let (source, began) = (bridge.stranger(), bridge.clock.now_ms());
    bridge.ask_in(join("Robin"), source).await.unwrap();
    let wren = bridge.agent(&bridge.ask_in(join("Wren"), source).await.unwrap());
    for n in 0..3 {
        wren.say(&format!("number {n}")).await.unwrap();
    }
    let name = &wren.display_name;
    let expected = [
        ("lobby_entries_per_source_hour source 2/2".to_owned(), HOUR_MS),
        ("lobby_messages_per_lobby_minute lobby 3/4".to_owned(), MINUTE_MS),
        (format!("lobby_messages_per_agent_minute {name} 3/20"), MINUTE_MS),
        // it is noon on the test's clock: a source's day ends at midnight
        ("lobby_entries_per_source_day source 2/20".to_owned(), 12 * HOUR_MS),
        (format!("lobby_messages_per_agent_day {name} 3/1000"), DAY_MS),
    ];
    let all = async |used_up, most| told(&app(&bridge).all_quotas(used_up, most).await.unwrap(), began);
    assert_eq!(all(false, 100).await, expected);
    assert_eq!(all(false, 2).await, expected[..2]);
    assert_eq!(all(true, 100).await, expected[..1], "used up");
    wren.leave().await.unwrap();
    assert_eq!(all(false, 100).await, expected, "of an agent that is gone, too");
    bridge.clock.advance(HOUR_MS);
    assert_eq!(all(false, 100).await, expected[3..], "hour and minutes are over");
    assert!(all(true, 100).await.is_empty());
}

#[tokio::test]
async fn a_source_is_found_by_its_address_until_midnight() {
    let mut bridge = Bridge::start().await;
    let of = |address: &str| Source::parse(address).unwrap();
    let source = of("2001:db8:1:2::1");
    bridge.ask_in(join("Robin"), source).await.unwrap();
    let wrong = parlour_app::request::Join { code: Some("0123-4567-89AB".to_owned()), ..join("Wren") };
    assert_eq!(bridge.ask_in(wrong, source).await.unwrap_err().code, Code::CodeInvalid);
    bridge.crash_and_restart().await;
    let used = async |bridge: &Bridge, address: &str| {
        let taken = app(bridge).source_quotas(of(address)).await.unwrap();
        taken.iter().map(|t| (t.quota.key, t.quota.used, t.quota.back_at_ms.is_some())).collect::<Vec<_>>()
    };
    let expected = [
        ("lobby_entries_per_source_hour", 1, true),
        ("lobby_entries_per_source_day", 1, true),
        ("code_guesses_per_source_hour", 1, true),
        ("knocks_per_source_hour", 0, false),
        ("invitations_per_agent_day", 0, false),
    ];
    assert_eq!(used(&bridge, "2001:db8:1:2::1").await, expected);
    assert_eq!(used(&bridge, "[2001:db8:1:2:ffff::9]:443").await, expected, "one network is one source");
    let nothing = expected.map(|(key, _, _)| (key, 0, false));
    assert_eq!(used(&bridge, "2001:db8:1:3::1").await, nothing);
    let listed = app(&bridge).all_quotas(false, 1).await.unwrap();
    let of_it = app(&bridge).source_quotas(source).await.unwrap();
    assert_eq!(tag(&listed[0]), tag(&of_it[0]), "by its tag it is found in the list");
    bridge.clock.advance(12 * HOUR_MS);
    assert_eq!(used(&bridge, "2001:db8:1:2::1").await, nothing, "the day is over");
    assert_ne!(tag(&app(&bridge).source_quotas(source).await.unwrap()[0]), tag(&of_it[0]));
}
