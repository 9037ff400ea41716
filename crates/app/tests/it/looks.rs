//! Pictures and profiles of puppets and the bot: once each, in the background, and not where the homeserver will not.

use parlour_app::runtime::Clock as _;
use parlour_testkit::{
    Agent, Bridge, Call, Mishap, Setup, When,
    homeserver::{BOT, FakeHomeserver},
};
use serde_json::{Value, json};

use crate::support::pass_until;

const HOUR_MS: i64 = 60 * 60_000;

fn dressed(setup: &mut Setup) {
    setup.settings.people.shown.profiles = true;
    setup.settings.limits.lobby_entries_per_source_hour = 99;
}

fn picture(hs: &FakeHomeserver, user: &str) -> Option<Value> {
    hs.profile_field(user, "avatar_url")
}

fn about(hs: &FakeHomeserver, user: &str) -> Option<String> {
    let about = hs.profile_field(user, "gay.fomx.biography")?;
    assert_eq!(hs.profile_field(user, "dev.nordgedanken.msc4015"), Some(true.into()));
    Some(about["m.text"][0]["body"].as_str().unwrap().to_owned())
}

async fn until_all<'a>(
    bridge: &Bridge,
    what: &str,
    users: impl IntoIterator<Item = &'a str>,
    has: impl Fn(&FakeHomeserver, &str) -> bool,
) {
    for user in users {
        pass_until(bridge, &format!("{user} has {what}"), || has(&bridge.hs, user)).await;
    }
}

async fn until_dressed<'a>(bridge: &Bridge, users: impl IntoIterator<Item = &'a str> + Clone) {
    until_all(bridge, "a picture", users.clone(), |hs, user| picture(hs, user).is_some()).await;
    until_all(bridge, "a profile", users, |hs, user| about(hs, user).is_some()).await;
}

async fn join(bridge: &Bridge, names: &[&str]) -> Vec<Agent> {
    let mut agents = vec![];
    for name in names {
        agents.push(bridge.join(name).await);
    }
    agents
}

#[tokio::test]
async fn each_has_a_picture_of_its_own_and_says_what_it_is() {
    let bridge = Bridge::with(dressed).await;
    let agents = join(&bridge, &["Robin", "Wren"]).await;
    let [robin, wren] = [0, 1].map(|n| agents[n].user_id.as_str());
    until_dressed(&bridge, [BOT, robin, wren]).await;
    assert_ne!(picture(&bridge.hs, robin), picture(&bridge.hs, wren));
    assert!(about(&bridge.hs, robin).unwrap().starts_with("An AI agent, not a person."));
    assert!(about(&bridge.hs, BOT).unwrap().contains(&bridge.settings.public_url));
    let member = bridge.hs.member(&bridge.lobby(), robin).unwrap();
    assert_eq!(Some(&member["avatar_url"]), picture(&bridge.hs, robin).as_ref());
    bridge.caught_up().await;
    agents[0].say("still here").await.unwrap();
}

#[tokio::test]
async fn a_join_does_not_wait_for_it() {
    let bridge = Bridge::with(dressed).await;
    let held = bridge.hs.hold(Call::Upload, When::Before);
    let robin = bridge.join("Robin").await;
    pass_until(&bridge, "the first picture is on its way", || bridge.hs.calls(Call::Upload) == 1).await;
    held.arrived().await;
    let wren = bridge.join("Wren").await;
    wren.say("hello").await.unwrap();
    held.release();
    until_dressed(&bridge, [BOT, robin.user_id.as_str(), wren.user_id.as_str()]).await;
}

/// Neither an answer that was lost nor the end of the bridge makes it put a picture there twice.
#[tokio::test]
async fn a_picture_is_put_there_once() {
    let mut bridge = Bridge::with(dressed).await;
    until_dressed(&bridge, [BOT]).await;
    bridge.hs.always(Call::Avatar, Mishap::bad_gateway(When::Before));
    let robin = bridge.join("Robin").await;
    pass_until(&bridge, "it cannot be shown", || bridge.hs.calls(Call::Avatar) == 3).await;
    bridge.crash_and_restart().await;
    bridge.hs.recover(Call::Avatar);
    bridge.hs.next(Call::Avatar, Mishap::Cut(When::After));
    until_dressed(&bridge, [robin.user_id.as_str()]).await;
    bridge.restart().await;
    let third = bridge.join("Third").await;
    until_dressed(&bridge, [third.user_id.as_str()]).await;
    assert_eq!(bridge.hs.calls(Call::Upload), 3, "the bot's, and one each");
}

#[tokio::test]
async fn a_homeserver_that_asks_for_patience_gets_it() {
    let bridge = Bridge::with(dressed).await;
    until_dressed(&bridge, [BOT]).await;
    bridge.hs.next(Call::Upload, Mishap::limit(&[], &json!({"retry_after_ms": 60_000}).to_string()));
    let before = bridge.clock.now_ms();
    let robin = bridge.join("Robin").await;
    until_dressed(&bridge, [robin.user_id.as_str()]).await;
    assert!(bridge.clock.now_ms() >= before + 60_000);
}

/// Uploads may be off, and profiles may know no fields of others' making: noticed, and the rest goes on.
#[tokio::test]
async fn what_the_homeserver_refuses_is_left_alone_for_an_hour() {
    for (refused, errcode) in [(Call::Upload, "M_FORBIDDEN"), (Call::ProfileField, "M_UNRECOGNIZED")] {
        let bridge = Bridge::prepare(dressed).await;
        bridge.hs.always(refused, Mishap::refuse(403, errcode));
        let bridge = ready(bridge).await;
        let agents = join(&bridge, &["Robin", "Wren", "Crow", "Jay", "Rook"]).await;
        let all = || agents.iter().map(|agent| agent.user_id.as_str()).chain([BOT]);
        pass_until(&bridge, "it is tried", || bridge.hs.calls(refused) == 3).await;
        let late = bridge.join("Late").await;
        let has_rest = |hs: &FakeHomeserver, user: &str| match refused {
            Call::Upload => about(hs, user).is_some(),
            _ => picture(hs, user).is_some(),
        };
        until_all(&bridge, "the rest", all().chain([late.user_id.as_str()]), has_rest).await;
        assert_eq!(bridge.hs.calls(refused), 3, "{refused:?}");
        bridge.hs.recover(refused);
        bridge.clock.advance(HOUR_MS);
        until_dressed(&bridge, all().collect::<Vec<_>>()).await;
    }
}

async fn ready(mut bridge: Bridge) -> Bridge {
    bridge.boot().await;
    bridge.ready().await;
    bridge
}

/// One account that the homeserver has locked is no reason to leave out the others.
#[tokio::test]
async fn one_that_is_refused_is_passed_over() {
    let bridge = Bridge::with(dressed).await;
    until_dressed(&bridge, [BOT]).await;
    bridge.hs.next(Call::Upload, Mishap::refuse(403, "M_USER_LOCKED"));
    let agents = join(&bridge, &["Robin", "Wren"]).await;
    until_dressed(&bridge, [agents[1].user_id.as_str()]).await;
    assert_eq!(picture(&bridge.hs, agents[0].user_id.as_str()), None);
    bridge.clock.advance(HOUR_MS);
    until_dressed(&bridge, [agents[0].user_id.as_str()]).await;
}

#[tokio::test]
async fn off_nobody_is_dressed_and_on_those_from_before_are() {
    let mut bridge = Bridge::with(|_| {}).await;
    let robin = bridge.join("Robin").await;
    bridge.hs.has_picture(BOT, "mxc://example.org/operators-own");
    bridge.clock.advance(HOUR_MS);
    bridge.join("Wren").await;
    bridge.restart().await;
    assert_eq!(bridge.hs.calls(Call::Upload) + bridge.hs.calls(Call::ProfileField), 0);
    bridge.settings.people.shown.profiles = true;
    bridge.restart().await;
    until_dressed(&bridge, [BOT, robin.user_id.as_str()]).await;
    assert_eq!(picture(&bridge.hs, BOT), Some("mxc://example.org/operators-own".into()));
}
