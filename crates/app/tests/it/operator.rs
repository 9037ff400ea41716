//! What the operator sees and does from the command line.

use std::sync::Arc;

use parlour_app::{
    App,
    runtime::Clock,
    view::{Audited, RoomOf},
};
use parlour_domain::{
    fault::{Code, Fault},
    quota::{DAY_MS, MINUTE_MS},
};
use parlour_testkit::{Agent, Bridge, Call, Mishap, When, eventually_is, homeserver::BOT, shown_code, wait};
use rstest::rstest;

use crate::{
    bot::Kitchen,
    support::{begin, code, pass_until, refused, settled, two_lobbies},
};

fn app(bridge: &Bridge) -> Arc<App> {
    bridge.app(Arc::clone)
}

#[tokio::test]
async fn agents_are_listed_oldest_first_as_they_are_now() {
    let bridge = Bridge::start().await;
    let (first, second) = (settled(&bridge, "First").await, settled(&bridge, "Second").await);
    let waiting = begin(&bridge, &second, wait(30)).await;
    let listed = app(&bridge).all_agents();
    let told: Vec<_> = listed.iter().map(|a| (a.agent.id.to_string(), a.waiting, a.rooms.len())).collect();
    assert_eq!(told, [(first.id.clone(), false, 1), (second.id.clone(), true, 1)]);
    first.leave().await.unwrap();
    assert_eq!(app(&bridge).all_agents().len(), 1);
    waiting.go_away().await;
}

#[tokio::test]
async fn quotas_tell_what_is_taken_and_when_it_comes_back() {
    let bridge = Bridge::start().await;
    let agent = settled(&bridge, "Scout").await;
    let begun = bridge.clock.now_ms();
    agent.say("one").await.unwrap();
    agent.say("two").await.unwrap();
    agent.make_room("Den").await.unwrap();
    let quotas = async || {
        let shown = app(&bridge).agent_shown(&agent.id).await.unwrap();
        shown.quotas.into_iter().map(|q| (q.key, q.used, q.back_at_ms)).collect::<Vec<_>>()
    };
    let expected = [
        ("lobby_messages_per_agent_minute", 2, Some(begun + MINUTE_MS)),
        ("lobby_messages_per_agent_day", 2, Some(begun + DAY_MS)),
        ("new_rooms_per_agent_day", 1, Some(begun + DAY_MS)),
        ("invitations_per_agent_day", 0, None),
        ("open_rooms_per_agent", 1, None),
    ];
    assert_eq!(quotas().await, expected);
    bridge.clock.advance(MINUTE_MS);
    let after = quotas().await;
    assert_eq!((after[0].1, after[0].2, after[1].1), (0, None, 2), "the minute is over, the day is not");
}

#[rstest]
#[case::id(|agent: &Agent| agent.id.clone())]
#[case::name(|agent: &Agent| agent.display_name.to_uppercase())]
#[case::matrix_id(|agent: &Agent| agent.user_id.to_string())]
#[tokio::test]
async fn a_disabled_agent_is_out_by_whatever_it_is_named(#[case] named: fn(&Agent) -> String) {
    let bridge = Bridge::start().await;
    let (agent, other) = (bridge.join("Scout").await, bridge.join("Scout").await);
    let den = agent.make_room("Den").await.unwrap().access.room.room_id.to_string();
    let ended = app(&bridge).disable_agent(&named(&agent)).await.unwrap();
    assert_eq!((ended.agent.id.to_string(), ended.rooms.len()), (agent.id.clone(), 2));
    assert_eq!(code(agent.me().await), Code::Unauthorized);
    for room in [&bridge.lobby(), &den] {
        assert!(!bridge.hs.is_joined(room, agent.user_id.as_str()));
    }
    assert!(app(&bridge).all_rooms().iter().any(|r| r.room.room_id == den && r.closed));
    other.me().await.unwrap();
    let again = app(&bridge).disable_agent(&named(&agent)).await;
    assert_eq!(refused(again), (Code::InvalidRequest, "agent".to_owned()));
}

#[rstest]
#[case::name_alone("Scout")]
#[case::number_alone("2316")]
#[case::nothing(" ")]
#[case::stranger("@ada:example.org")]
#[tokio::test]
async fn less_than_a_name_ends_nobody(#[case] named: &str) {
    let bridge = Bridge::start().await;
    let agent = bridge.join("Scout").await;
    let refusal = app(&bridge).disable_agent(named).await;
    assert_eq!(refused(refusal), (Code::InvalidRequest, "agent".to_owned()));
    agent.me().await.unwrap();
}

#[tokio::test]
async fn a_name_without_its_number_is_answered_with_whom_it_may_mean() {
    let bridge = Bridge::start().await;
    let twins = [bridge.join("Scout").await, bridge.join("Scout").await];
    let other = bridge.join("Scouting").await;
    let fault = app(&bridge).agent_shown("scout").await.unwrap_err();
    assert!(twins.iter().all(|twin| fault.message.contains(&twin.display_name)), "{}", fault.message);
    assert!(!fault.message.contains(&other.display_name), "{}", fault.message);
}

#[tokio::test]
async fn rooms_tell_whose_they_are() {
    let kitchen = Kitchen::new().await;
    let bridge = &kitchen.bridge;
    let owner = bridge.join("Owner").await;
    owner.make_room("Den").await.unwrap();
    bridge.caught_up().await;
    let listed = app(bridge).all_rooms();
    let told = |name: &str| {
        let room = listed.iter().find(|r| r.room.name.as_deref() == Some(name)).unwrap();
        (room.of.clone(), room.agents, room.people, room.encrypted, room.closed)
    };
    let lobby = RoomOf::Lobby { slug: Some("lobby".to_owned()) };
    assert_eq!(told("Lobby"), (lobby, 1, 0, false, false));
    let owned = RoomOf::Agent { owner: Some(owner.display_name.clone()) };
    assert_eq!(told("Den"), (owned, 1, 0, true, false));
    assert_eq!(told("Kitchen"), (RoomOf::People, 0, 2, false, false));
}

#[tokio::test]
async fn an_agents_room_is_closed_for_good_by_number_or_id() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let made = [owner.make_room("Den").await.unwrap(), owner.make_room("Attic").await.unwrap()];
    let rooms = made.map(|m| m.access.room);
    for (room, named) in
        [(&rooms[0], rooms[0].catalog_id.to_string()), (&rooms[1], rooms[1].room_id.to_string())]
    {
        for _ in 0..2 {
            let shut = app(&bridge).shut_room(&named).await.unwrap();
            assert!(shut.closed && shut.room.room_id == room.room_id);
        }
        let levels = bridge.hs.state(room.room_id.as_str(), "m.room.power_levels").unwrap();
        assert_eq!(levels["events_default"], 100);
        assert_eq!(code(owner.show_code(&named).await), Code::RoomNotOwned);
    }
}

#[tokio::test]
async fn a_room_that_the_homeserver_does_not_silence_yet_is_closed_here_at_once() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let room = owner.make_room("Den").await.unwrap().access.room;
    bridge.hs.always(Call::SendState, Mishap::bad_gateway(When::Before));
    let refusal = app(&bridge).shut_room(room.room_id.as_str()).await;
    assert_eq!(refused(refusal).0, Code::DependencyUnavailable);
    assert!(app(&bridge).all_rooms().iter().any(|r| r.room.room_id == room.room_id && r.closed));
    bridge.hs.recover(Call::SendState);
    let silent = || {
        let levels = bridge.hs.state(room.room_id.as_str(), "m.room.power_levels").unwrap();
        levels["events_default"] == 100
    };
    pass_until(&bridge, "the room is silent", silent).await;
}

#[tokio::test]
async fn a_lobby_is_the_configs() {
    let bridge = Bridge::with(two_lobbies).await;
    for named in ["garden", &bridge.lobby()] {
        let fault: Fault = app(&bridge).shut_room(named).await.unwrap_err();
        assert_eq!((fault.code, &fault.details["field"]), (Code::InvalidRequest, &"room".into()));
        assert!(fault.message.contains("out of the config"), "{}", fault.message);
        assert_eq!(refused(app(&bridge).code_off(named).await), (Code::InvalidRequest, "room".to_owned()));
    }
    assert_eq!(refused(app(&bridge).shut_room("shed").await), (Code::InvalidRequest, "room".to_owned()));
    assert_eq!(bridge.lobbies().len(), 2);
}

#[tokio::test]
async fn out_of_a_room_of_people_all_agents_go_and_the_bot() {
    let kitchen = Kitchen::new().await;
    let (bridge, number) = (&kitchen.bridge, kitchen.number().await);
    let guest = bridge.join("Guest").await;
    guest.enter(&number, bridge.stranger()).await.unwrap();
    kitchen.said(2).await;
    kitchen.ask(&kitchen.ada, "!agents admit Guest").await;
    eventually_is("it is in", || bridge.hs.is_joined(&kitchen.room, guest.user_id.as_str())).await;
    let shut = app(bridge).shut_room(&number).await.unwrap();
    assert!(!shut.closed);
    for gone in [guest.user_id.as_str(), BOT] {
        assert!(!bridge.hs.is_joined(&kitchen.room, gone), "{gone}");
    }
    assert!(bridge.hs.is_joined(&kitchen.room, &kitchen.bob.user_id));
    guest.me().await.unwrap();
}

#[tokio::test]
async fn knocks_and_codes_of_all_rooms() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let made = owner.make_room("Den").await.unwrap();
    let number = made.access.room.catalog_id.to_string();
    let guest = bridge.join("Guest").await;
    guest.enter(&number, bridge.stranger()).await.unwrap();
    let knocks = app(&bridge).all_knocks();
    assert_eq!(knocks.len(), 1);
    assert_eq!(
        (knocks[0].agent_id.to_string(), knocks[0].room.name.as_deref()),
        (guest.id.clone(), Some("Den"))
    );
    let on = async || app(&bridge).all_codes().await.unwrap().iter().map(|c| c.on).collect::<Vec<_>>();
    assert_eq!(on().await, [true]);
    for _ in 0..2 {
        app(&bridge).code_off(&number).await.unwrap();
        assert_eq!(on().await, [false]);
    }
    let entered = guest.enter_by_code(&shown_code(&made.access), bridge.stranger()).await;
    assert_eq!(code(entered), Code::CodeInvalid);
    app(&bridge).shut_room(&number).await.unwrap();
    assert!(app(&bridge).all_knocks().is_empty() && on().await.is_empty());
}

#[tokio::test]
async fn what_was_done_is_told_newest_first_with_who_did_it() {
    let bridge = Bridge::start().await;
    let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
    let made = owner.make_room("Den").await.unwrap();
    let room = made.access.room.clone();
    guest.enter_by_code(&shown_code(&made.access), bridge.stranger()).await.unwrap();
    bridge.clock.advance(MINUTE_MS);
    app(&bridge).code_off(room.room_id.as_str()).await.unwrap();
    app(&bridge).shut_room(room.room_id.as_str()).await.unwrap();
    app(&bridge).disable_agent(&guest.id).await.unwrap();
    let told = async |within_ms, limit| {
        let entries = app(&bridge).audit(within_ms, limit).await.unwrap();
        entries.into_iter().map(|e| (e.deed, e.by, name(e.whom), e.room.map(|r| r.1))).collect::<Vec<_>>()
    };
    let by_operator =
        |deed, whom: Option<&str>, room| (deed, "operator".to_owned(), whom.map(str::to_owned), room);
    let den = Some(room.room_id.clone());
    let expected = [
        by_operator("agent_ended", Some(&guest.display_name), None),
        by_operator("room_closed", None, den.clone()),
        by_operator("code_switched_off", None, den.clone()),
    ];
    assert_eq!(told(MINUTE_MS - 1, 100).await, expected, "of the last minute");
    assert_eq!(told(i64::MAX, 1).await, expected[..1]);
    let all = app(&bridge).audit(i64::MAX, 100).await.unwrap();
    let entered = all.iter().find(|e| e.deed == "entered_by_code").unwrap();
    assert_eq!((name(entered.doer.clone()), name(entered.whom.clone())), {
        let guest = Some(guest.display_name.clone());
        (guest.clone(), guest)
    });
    assert_eq!(all.iter().filter(|e| e.deed == "agent_created").count(), 2);
}

#[tokio::test]
async fn a_room_of_people_tells_who_put_agents_out_of_it() {
    let kitchen = Kitchen::new().await;
    let number = kitchen.number().await;
    app(&kitchen.bridge).shut_room(&number).await.unwrap();
    let all = app(&kitchen.bridge).audit(i64::MAX, 100).await.unwrap();
    let told: Vec<_> = all.iter().map(|e| (e.deed, &*e.by, name(e.doer.clone()))).collect();
    let ada = Some(kitchen.ada.user_id.clone());
    // the room made is the lobby
    let expected =
        [("bot_left", "operator", None), ("bot_entered", "person", ada), ("room_made", "bridge", None)];
    assert_eq!(told, expected);
}

fn name(one: Option<Audited>) -> Option<String> {
    one.map(|one| match one {
        Audited::Agent { display_name, .. } => display_name,
        Audited::Person(user) => user.to_string(),
    })
}
