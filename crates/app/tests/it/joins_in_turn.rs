//! Joins of one room that overlap cost the homeserver up to twice as much each: one at a time, room by room.

use std::time::Duration;

use parlour_testkit::{
    Bridge, Call, Mishap, When,
    homeserver::{BOT, RoomSetup},
    join, shown_code,
};

use crate::support::{pass_until, two_lobbies};

/// Long enough for a second one to come in beside it, if it came.
const A_JOIN: Duration = Duration::from_millis(10);

#[tokio::test]
async fn twenty_at_once_enter_a_lobby_one_by_one() {
    let bridge = Bridge::start().await;
    let (lobby, named) = (bridge.lobby(), bridge.hs.calls(Call::DisplayName));
    bridge.hs.always(Call::Join, Mishap::Slow(A_JOIN));
    let first = bridge.hs.hold(Call::Join, When::Before);
    let asked: Vec<_> =
        (0..20).map(|n| bridge.ask_in(join(&format!("Robin{n}x")), bridge.stranger())).collect();
    first.arrived().await;
    // all of them have nothing left to do but join
    bridge.hs.until_called(Call::DisplayName, named + 20).await;
    first.release();
    for ask in asked {
        let welcome = ask.await.unwrap();
        assert!(bridge.hs.is_joined(&lobby, welcome.agent.user_id.as_str()));
    }
    assert_eq!(bridge.hs.most_at_once(Call::Join, &lobby), 1);
}

/// By a code, at a person's invitation, and the bot at another: each of them waits for its turn.
#[tokio::test]
async fn who_comes_by_another_way_waits_as_well() {
    let bridge = Bridge::start().await;
    let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
    let (invited, ada) = (bridge.join("Invited").await, bridge.hs.person("ada"));
    let den = owner.make_room("Den").await.unwrap();
    let (room, code) = (den.access.room.room_id.to_string(), shown_code(&den.access));
    bridge.caught_up().await;
    let joins = bridge.hs.calls(Call::Join);
    bridge.hs.always(Call::Join, Mishap::Slow(10 * A_JOIN));
    let entering = guest.enter_by_code(&code, bridge.stranger());
    bridge.hs.until_called(Call::Join, joins + 1).await;
    ada.invite(&room, invited.user_id.as_str());
    ada.invite(&room, BOT);
    entering.await.unwrap();
    let all = [guest.user_id.as_str(), invited.user_id.as_str(), BOT];
    bridge.hs.until("all are in", |hs| all.iter().all(|user| hs.is_joined(&room, user))).await;
    assert_eq!(bridge.hs.most_at_once(Call::Join, &room), 1);
}

#[tokio::test]
async fn a_join_that_takes_long_holds_up_its_own_room_only() {
    let bridge = Bridge::with(two_lobbies).await;
    let slow = bridge.hs.hold(Call::Join, When::Before);
    let first = bridge.ask_in(join("Robin"), bridge.stranger());
    slow.arrived().await;
    let elsewhere = parlour_app::request::Join { room: Some("garden".to_owned()), ..join("Wren") };
    let welcome = bridge.ask_in(elsewhere, bridge.stranger()).await.unwrap();
    let garden = bridge.hs.room("garden").unwrap();
    assert!(bridge.hs.is_joined(&garden, welcome.agent.user_id.as_str()));
    assert!(!first.is_answered());
    slow.release();
    first.await.unwrap();
}

/// The bot looks at the lobbies once more after a start, when agents are let in already.
#[tokio::test]
async fn the_bot_waits_its_turn_in_a_lobby() {
    let mut bridge = Bridge::start().await;
    bridge.join("Robin").await;
    bridge.restart().await;
    let (lobby, joins) = (bridge.lobby(), bridge.hs.calls(Call::Join));
    bridge.hs.always(Call::Join, Mishap::Slow(20 * A_JOIN));
    pass_until(&bridge, "the bot looks", || bridge.hs.calls(Call::Join) > joins).await;
    bridge.join("Wren").await;
    assert_eq!(bridge.hs.calls(Call::Join), joins + 2);
    assert_eq!(bridge.hs.most_at_once(Call::Join, &lobby), 1);
}

/// It joins the list each time that it reads it, which does nothing where it is in.
#[tokio::test]
async fn the_bot_waits_its_turn_in_a_ban_list() {
    let mut bridge =
        Bridge::prepare(|s| s.settings.ban_lists = vec!["#bans:example.org".try_into().unwrap()]).await;
    let ada = bridge.hs.person("ada");
    let list = ada.make_room(&RoomSetup { alias: Some("bans"), ..RoomSetup::default() });
    bridge.boot().await;
    bridge.ready().await;
    let invited = bridge.join("Invited").await;
    pass_until(&bridge, "the list is read", || bridge.app(|app| app.status().ban_lists.read) == 1).await;
    bridge.caught_up().await;
    let joins = bridge.hs.calls(Call::Join);
    bridge.hs.always(Call::Join, Mishap::Slow(20 * A_JOIN));
    ada.set_rule(&list, "user", "@eve:example.org", Some("m.ban"));
    pass_until(&bridge, "it is read again", || bridge.hs.calls(Call::Join) > joins).await;
    ada.invite(&list, invited.user_id.as_str());
    bridge.hs.until("the agent is in", |hs| hs.is_joined(&list, invited.user_id.as_str())).await;
    assert_eq!(bridge.hs.most_at_once(Call::Join, &list), 1);
}
