//! An hour without a call: out of the lobbies, and back in with the next one.

use parlour_domain::{
    fault::Code,
    quota::{DAY_MS, HOUR_MS, MINUTE_MS},
};
use parlour_testkit::{Agent, Bridge, Call, Mishap, Texts, When, browse, join, wait};

use crate::support::{code, pass_until};

async fn idle(bridge: &Bridge, agent: &Agent) {
    bridge.caught_up().await;
    bridge.clock.advance(HOUR_MS);
    gone(bridge, agent).await;
}

async fn gone(bridge: &Bridge, agent: &Agent) {
    let (lobby, user) = (bridge.lobby(), agent.user_id.to_string());
    pass_until(bridge, "the puppet is out", || !bridge.hs.is_joined(&lobby, &user)).await;
}

#[tokio::test]
async fn an_hour_without_a_call_and_the_next_one_puts_it_back() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_entries_per_source_hour = 1).await;
    let ada = bridge.hs.person("ada");
    let agent = bridge.join("Robin").await;
    bridge.clock.advance(HOUR_MS - MINUTE_MS);
    bridge.clock.until_sleeping_for(MINUTE_MS).await;
    assert!(bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()), "not an hour yet");
    bridge.clock.advance(MINUTE_MS);
    gone(&bridge, &agent).await;
    assert_eq!(bridge.lobbies()[0].online, 0);
    ada.say(&bridge.lobby(), "said while it was out");
    bridge.caught_up().await;

    assert_eq!(agent.me().await.unwrap().rooms.len(), 1);
    assert!(bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
    let inbox = agent.look().await.unwrap();
    assert_eq!(inbox.texts(), ["said while it was out"], "as context, to read itself in");
    assert!(inbox.messages[0].before_join);
}

#[tokio::test]
async fn what_was_unread_before_is_still_there() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    agent.look().await.unwrap();
    ada.say(&bridge.lobby(), "unread");
    bridge.caught_up().await;
    idle(&bridge, &agent).await;
    let inbox = agent.look().await.unwrap();
    assert_eq!((inbox.texts(), inbox.messages[0].before_join), (vec!["unread".to_owned()], false));
}

#[tokio::test]
async fn whoever_waits_is_not_idle() {
    let bridge = Bridge::with(|s| s.settings.agents.idle_ms = 10_000).await;
    let (waits, calls_not) = (bridge.join("Robin").await, bridge.join("Wren").await);
    waits.look().await.unwrap();
    bridge.clock.advance(40_000);
    let waiting = waits.wait(wait(30));
    bridge.clock.until_sleeping_for(30_000).await;
    bridge.clock.advance(20_000);
    gone(&bridge, &calls_not).await;
    assert!(bridge.hs.is_joined(&bridge.lobby(), waits.user_id.as_str()));
    bridge.clock.advance(10_000);
    waiting.await.unwrap();
}

#[tokio::test]
async fn back_into_a_full_lobby_everything_works_but_speaking() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_agents = 1).await;
    let ada = bridge.hs.person("ada");
    let agent = bridge.join("Robin").await;
    let said = ada.say(&bridge.lobby(), "hello");
    bridge.caught_up().await;
    idle(&bridge, &agent).await;
    let other = bridge.join("Wren").await;
    assert!(agent.me().await.unwrap().rooms.is_empty());
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["hello"]);
    assert_eq!(agent.look().await.unwrap().texts(), ["hello"]);
    assert!(agent.ack(&said).await.unwrap().acknowledged);
    assert_eq!(code(agent.say("may I?").await), Code::CapacityReached);
    other.leave().await.unwrap();
    agent.say("now").await.unwrap();
}

#[tokio::test]
async fn thirty_days_without_a_call_end_it() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.clock.advance(30 * DAY_MS - 2 * MINUTE_MS);
    bridge.clock.until_sleeping_for(MINUTE_MS).await;
    agent.me().await.unwrap();
    bridge.clock.advance(30 * DAY_MS);
    bridge.clock.until_sleeping_for(MINUTE_MS).await;
    assert_eq!(code(agent.me().await), Code::Unauthorized);
    assert!(!bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
}

#[tokio::test]
async fn an_owner_that_is_ended_leaves_its_rooms_closed() {
    let bridge = Bridge::start().await;
    let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    bridge.clock.advance(29 * DAY_MS);
    bridge.clock.until_sleeping_for(MINUTE_MS).await;
    guest.me().await.unwrap();
    bridge.clock.advance(2 * DAY_MS);
    pass_until(&bridge, "the owner is out", || !bridge.hs.is_joined(&room, owner.user_id.as_str())).await;
    assert_eq!(code(owner.me().await), Code::Unauthorized);
    let levels = &bridge.hs.states(&room, "m.room.power_levels").pop().unwrap()["content"];
    assert_eq!(levels["events_default"], 100, "nobody can speak there any more: {levels}");
    guest.me().await.unwrap();
}

#[tokio::test]
async fn an_idle_hour_takes_nobody_out_of_private_rooms() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    idle(&bridge, &owner).await;
    assert!(bridge.hs.is_joined(&room, owner.user_id.as_str()));
    assert_eq!(owner.me().await.unwrap().rooms.len(), 2, "and back in the lobby with the next call");
}

#[tokio::test]
async fn idleness_is_kept_over_restarts() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.clock.advance(HOUR_MS / 2);
    bridge.crash_and_restart().await;
    bridge.clock.until_sleeping_for(MINUTE_MS).await;
    idle(&bridge, &agent).await;
    bridge.caught_up().await;
    bridge.crash_and_restart().await;
    assert!(!bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
    agent.say("back").await.unwrap();
    assert!(bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
}

#[tokio::test]
async fn an_idle_puppet_that_cannot_leave_is_taken_out_later() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.caught_up().await;
    bridge.hs.next(Call::Leave, Mishap::bad_gateway(When::Before));
    idle(&bridge, &agent).await;
    assert_eq!(bridge.lobbies()[0].online, 0);
    agent.me().await.unwrap();
    assert!(bridge.hs.is_joined(&bridge.lobby(), agent.user_id.as_str()));
}

#[tokio::test]
async fn banned_while_out_it_is_not_put_back() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    idle(&bridge, &agent).await;
    ada.ban(&bridge.lobby(), agent.user_id.as_str());
    assert!(agent.me().await.unwrap().rooms.is_empty());
    let asked = bridge.hs.calls(Call::Join);
    assert_eq!(code(agent.say("hello?").await), Code::RoomNotJoined);
    assert_eq!(bridge.hs.calls(Call::Join), asked, "there is nothing to come back to");
}

#[tokio::test]
async fn with_the_homeserver_down_the_call_goes_on_without() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    ada.say(&bridge.lobby(), "hello");
    bridge.caught_up().await;
    idle(&bridge, &agent).await;
    bridge.hs.always(Call::Join, Mishap::bad_gateway(When::Before));
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["hello"]);
    bridge.hs.recover(Call::Join);
    agent.say("back").await.unwrap();
}

#[tokio::test]
async fn a_place_of_an_idle_agent_is_anothers() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_agents = 1).await;
    let agent = bridge.join("Robin").await;
    assert_eq!(code(bridge.ask_in(join("Wren"), bridge.stranger()).await), Code::CapacityReached);
    idle(&bridge, &agent).await;
    bridge.join("Wren").await;
}

/// The homeserver's news of the join come only after the hour is over.
#[tokio::test]
async fn late_news_of_its_join_do_not_bring_it_back() {
    let bridge = Bridge::start().await;
    bridge.caught_up().await;
    bridge.hs.hold_transactions().await;
    let agent = bridge.join("Robin").await;
    bridge.clock.advance(HOUR_MS);
    gone(&bridge, &agent).await;
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(bridge.lobbies()[0].online, 0);
    agent.say("back").await.unwrap();
    bridge.caught_up().await;
    assert_eq!(bridge.lobbies()[0].online, 1);
}
