//! People and agents: invited by each other.

use parlour_app::{request::Send, runtime::Clock};
use parlour_domain::{
    fault::Code,
    people::{Invitable, Invites},
};
use parlour_testkit::{
    Bridge, Call, Mishap, Texts, When, eventually, eventually_is,
    homeserver::{BOT, RoomSetup},
    wait,
};
use rstest::rstest;

use crate::support::{code, pass_until, text};

fn private() -> RoomSetup<'static> {
    RoomSetup { join_rule: "invite", ..RoomSetup::default() }
}

/// Waits until the agent has so many rooms; gives their Matrix ids.
async fn rooms(bridge: &Bridge, agent: &parlour_testkit::Agent, count: usize) -> Vec<String> {
    bridge.caught_up().await;
    eventually(&format!("{count} rooms"), || async {
        let rooms = agent.me().await.unwrap().rooms;
        (rooms.len() == count).then(|| rooms.iter().map(|r| r.room_id.to_string()).collect())
    })
    .await
}

#[tokio::test]
async fn a_person_is_invited_and_told_who_reads_along() {
    let bridge = Bridge::start().await;
    let (owner, ada) = (bridge.join("Owner").await, bridge.hs.person("ada"));
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    bridge.caught_up().await;
    let source = bridge.stranger();
    owner.invite(&room, &format!("https://matrix.to/#/{}", ada.user_id), source).await.unwrap();
    let member = bridge.hs.member(&room, &ada.user_id).unwrap();
    assert_eq!(member["membership"], "invite");
    assert!(member["reason"].as_str().unwrap().contains("can read what is said"), "{member}");
    bridge.caught_up().await;
    let invites = bridge.hs.calls(Call::Invite);
    owner.invite(&room, &ada.user_id, source).await.unwrap();
    assert_eq!(bridge.hs.calls(Call::Invite), invites, "invited already");
    for nobody in
        ["@eve:example.org", "eve", "@eve:elsewhere.org", owner.user_id.as_str(), "@parlour:example.org"]
    {
        assert_eq!(code(owner.invite(&room, nobody, source).await), Code::AccountNotFound, "{nobody}");
    }
}

#[rstest]
#[case(Invitable::Known, false)]
#[case(Invitable::Known, true)]
#[tokio::test]
async fn whom_the_operator_lets_agents_invite(#[case] rule: Invitable, #[case] met: bool) {
    let bridge = Bridge::with(|s| s.settings.people.invitable = rule).await;
    let (owner, ada) = (bridge.join("Owner").await, bridge.hs.person("ada"));
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    if met {
        ada.join(&bridge.lobby());
    }
    bridge.caught_up().await;
    let invited = owner.invite(&room, &ada.user_id, bridge.stranger()).await;
    assert_eq!(invited.as_ref().is_ok(), met);
    if let Err(fault) = invited {
        assert_eq!(fault.code, Code::AccountNotFound);
        assert!(fault.message.contains("lobby"), "says what they do first: {}", fault.message);
    }
}

#[tokio::test]
async fn invitations_are_counted_by_agent_and_by_source() {
    let bridge = Bridge::with(|s| s.settings.limits.invitations_per_agent_day = 1).await;
    let (one, two) = (bridge.join("One").await, bridge.join("Two").await);
    let (ada, bob) = (bridge.hs.person("ada").user_id, bridge.hs.person("bob").user_id);
    let den = one.make_room("Den").await.unwrap().access.room.room_id.to_string();
    let hut = two.make_room("Hut").await.unwrap().access.room.room_id.to_string();
    bridge.caught_up().await;
    let source = bridge.stranger();
    one.invite(&den, &ada, source).await.unwrap();
    assert_eq!(code(one.invite(&den, &bob, bridge.stranger()).await), Code::RateLimited);
    assert_eq!(code(two.invite(&hut, &bob, source).await), Code::RateLimited);
    two.invite(&hut, &bob, bridge.stranger()).await.unwrap();
}

#[tokio::test]
async fn a_persons_invitation_is_followed_and_the_room_is_known_as_it_is() {
    let mut bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let room = ada.make_room(&private());
    ada.set_state(&room, "m.room.name", serde_json::json!({"name": "Ada's"}));
    ada.say(&room, "before");
    ada.invite(&room, agent.user_id.as_str());
    let mine = rooms(&bridge, &agent, 2).await;
    assert!(mine.contains(&room));
    ada.say(&room, "after");
    bridge.caught_up().await;
    let seen = agent.look().await.unwrap();
    assert_eq!(seen.texts(), ["before", "after"]);
    assert_eq!(seen.messages.iter().map(|m| m.before_join).collect::<Vec<_>>(), [true, false]);
    assert_eq!(seen.messages[0].room.name.as_deref(), Some("Ada's"));
    agent.send(Send { room_id: Some(room.clone()), ..text("hello") }).await.unwrap();
    bridge.crash_and_restart().await;
    agent.send(Send { room_id: Some(room.clone()), ..text("again") }).await.unwrap();
    assert_eq!(bridge.hs.texts(&room), ["before", "after", "hello", "again"]);
}

#[tokio::test]
async fn in_an_encrypted_room_of_people_nothing_is_said_in_plain_text() {
    let bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let room = ada.make_room(&RoomSetup { encrypted: true, ..private() });
    ada.invite(&room, agent.user_id.as_str());
    rooms(&bridge, &agent, 2).await;
    let say = || Send { room_id: Some(room.clone()), ..text("secret") };
    assert_eq!(code(agent.send(say()).await), Code::DependencyUnavailable);

    let open = ada.make_room(&private());
    ada.invite(&open, agent.user_id.as_str());
    rooms(&bridge, &agent, 3).await;
    agent.send(Send { room_id: Some(open.clone()), ..text("open") }).await.unwrap();
    ada.set_state(&open, "m.room.encryption", serde_json::json!({"algorithm": "m.megolm.v1.aes-sha2"}));
    bridge.caught_up().await;
    let say = Send { room_id: Some(open.clone()), ..text("secret") };
    assert_eq!(code(agent.send(say).await), Code::DependencyUnavailable, "switched on later");
    assert_eq!(bridge.hs.texts(&room), Vec::<String>::new());
    assert_eq!(bridge.hs.texts(&open), ["open"]);
}

#[tokio::test]
async fn an_invitation_outlives_a_crash() {
    let mut bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let room = ada.make_room(&private());
    let held = bridge.hs.hold(Call::Join, parlour_testkit::When::Before);
    ada.invite(&room, agent.user_id.as_str());
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    bridge.boot().await;
    bridge.ready().await;
    assert!(rooms(&bridge, &agent, 2).await.contains(&room));
}

#[tokio::test]
async fn a_room_that_cannot_be_entered_holds_up_no_other() {
    let bridge = Bridge::start().await;
    let (agent, other, ada) =
        (bridge.join("Scout").await, bridge.join("Other").await, bridge.hs.person("ada"));
    let (silent, room) = (ada.make_room(&private()), ada.make_room(&private()));
    let held = bridge.hs.hold(Call::Join, parlour_testkit::When::Before);
    ada.invite(&silent, agent.user_id.as_str());
    held.arrived().await;
    ada.invite(&room, other.user_id.as_str());
    eventually_is("the other is in", || bridge.hs.is_joined(&room, other.user_id.as_str())).await;
    held.cut();
    pass_until(&bridge, "both are in", || bridge.hs.is_joined(&silent, agent.user_id.as_str())).await;
}

#[tokio::test]
async fn an_invitation_that_is_not_wanted_is_declined_and_one_for_nobody_left_alone() {
    let bridge = Bridge::with(|s| s.settings.people.invites = Invites::Nobody).await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let room = ada.make_room(&private());
    let registered = bridge.hs.calls(Call::Register);
    ada.invite(&room, "@agent_nobody:example.org");
    ada.invite(&room, agent.user_id.as_str());
    let declined = || bridge.hs.membership(&room, agent.user_id.as_str()) == "leave";
    eventually_is("it is declined", declined).await;
    bridge.caught_up().await;
    assert_eq!(bridge.hs.membership(&room, "@agent_nobody:example.org"), "invite");
    assert_eq!(bridge.hs.calls(Call::Register), registered);
    assert_eq!(agent.me().await.unwrap().rooms.len(), 1);
}

/// Their homeserver shows an invitation before it has written it down.
#[rstest]
#[case::of_an_agent(false)]
#[case::of_the_bot(true)]
#[tokio::test]
async fn an_invitation_from_elsewhere_may_be_refused_at_first(#[case] of_the_bot: bool) {
    let bridge = Bridge::with(|s| s.settings.people.invites = Invites::Anyone).await;
    let (agent, eve) = (bridge.join("Scout").await, bridge.hs.person_of("eve", "elsewhere.org"));
    let guest = if of_the_bot { BOT } else { agent.user_id.as_str() };
    let room = eve.make_room(&private());
    let joins = bridge.hs.calls(Call::Join);
    bridge.hs.next(Call::Join, Mishap::refuse(403, "M_FORBIDDEN"));
    eve.invite(&room, guest);
    bridge.caught_up().await;
    assert_eq!(bridge.hs.calls(Call::Join), joins, "at once");
    pass_until(&bridge, "it is in", || bridge.hs.is_joined(&room, guest)).await;
    assert_eq!(bridge.hs.calls(Call::Join), joins + 2);
}

#[tokio::test]
async fn an_invitation_from_elsewhere_that_stays_refused_is_given_up() {
    let bridge = Bridge::with(|s| s.settings.people.invites = Invites::Anyone).await;
    let (agent, eve) = (bridge.join("Scout").await, bridge.hs.person_of("eve", "elsewhere.org"));
    let room = eve.make_room(&private());
    bridge.hs.always(Call::Join, Mishap::refuse(403, "M_FORBIDDEN"));
    eve.invite(&room, agent.user_id.as_str());
    let declined = || bridge.hs.membership(&room, agent.user_id.as_str()) == "leave";
    pass_until(&bridge, "it is given up", declined).await;
}

#[rstest]
#[case::open_to_all("public")]
#[case::by_invitation("invite")]
#[tokio::test]
async fn a_room_that_was_upgraded_goes_on_under_its_number(#[case] join_rule: &str) {
    let mut bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let old = ada.make_room(&private());
    ada.invite(&old, agent.user_id.as_str());
    rooms(&bridge, &agent, 2).await;
    ada.say(&old, "in the old one");
    let number = |me: parlour_app::view::Me, id: &str| {
        me.rooms.iter().find(|r| r.room_id == *id).map(|r| r.catalog_id)
    };
    let before = number(agent.me().await.unwrap(), &old).unwrap();
    let new = ada.upgrade(&old, join_rule);
    if join_rule == "invite" {
        ada.invite(&new, agent.user_id.as_str());
    }
    bridge.caught_up().await;
    eventually("it is in the new room", || async { number(agent.me().await.unwrap(), &new) }).await;
    eventually_is("nobody stays behind", || !bridge.hs.is_joined(&old, agent.user_id.as_str())).await;
    bridge.crash_and_restart().await;
    assert_eq!(number(agent.me().await.unwrap(), &new), Some(before));
    assert_eq!(number(agent.me().await.unwrap(), &old), None);
    ada.say(&new, "in the new one");
    bridge.caught_up().await;
    let look =
        agent.wait(parlour_app::request::Wait { room_id: Some(new.clone()), ..wait(0) }).await.unwrap();
    assert_eq!(look.texts(), ["in the old one", "in the new one"], "the cursor goes on");
    agent.send(Send { room_id: Some(new.clone()), ..text("here") }).await.unwrap();
}

/// In between it is in neither.
#[tokio::test]
async fn who_is_invited_later_than_the_first_goes_on_where_it_was() {
    let bridge = Bridge::start().await;
    let (first, second) = (bridge.join("First").await, bridge.join("Second").await);
    let ada = bridge.hs.person("ada");
    let old = ada.make_room(&private());
    for agent in [&first, &second] {
        ada.invite(&old, agent.user_id.as_str());
        rooms(&bridge, agent, 2).await;
    }
    ada.say(&old, "in the old one");
    let new = ada.upgrade(&old, "invite");
    ada.invite(&new, first.user_id.as_str());
    let stays_behind = || bridge.hs.is_joined(&old, second.user_id.as_str());
    eventually_is("nobody stays behind", || !stays_behind()).await;
    assert!(!rooms(&bridge, &second, 1).await.contains(&old));
    ada.invite(&new, second.user_id.as_str());
    assert!(rooms(&bridge, &second, 2).await.contains(&new));
    ada.say(&new, "in the new one");
    bridge.caught_up().await;
    let look = second.wait(parlour_app::request::Wait { room_id: Some(new), ..wait(0) }).await.unwrap();
    assert_eq!(look.texts(), ["in the old one", "in the new one"], "the cursor goes on");
}

/// The bridge dies in the middle, whatever it was doing.
#[tokio::test]
async fn following_outlives_a_crash() {
    let mut bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let old = ada.make_room(&private());
    ada.invite(&old, agent.user_id.as_str());
    rooms(&bridge, &agent, 2).await;
    let held = bridge.hs.hold(Call::State, parlour_testkit::When::Before);
    let new = ada.upgrade(&old, "public");
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    bridge.boot().await;
    bridge.ready().await;
    let say = || Send { room_id: Some(new.clone()), ..text("here") };
    eventually("it can speak", || async { agent.send(say()).await.ok() }).await;
    assert_eq!(bridge.hs.texts(&new).last().map(String::as_str), Some("here"));
}

#[tokio::test]
async fn a_tombstone_that_leads_elsewhere_is_not_followed() {
    let bridge = Bridge::start().await;
    let (agent, ada) = (bridge.join("Scout").await, bridge.hs.person("ada"));
    let old = ada.make_room(&private());
    ada.invite(&old, agent.user_id.as_str());
    rooms(&bridge, &agent, 2).await;
    let lure = ada.make_room(&RoomSetup::default());
    ada.set_state(&old, "m.room.tombstone", serde_json::json!({"replacement_room": lure}));
    bridge.caught_up().await;
    eventually_is("it has looked and gone again", || bridge.hs.calls(Call::StateContent) > 0).await;
    assert!(rooms(&bridge, &agent, 2).await.contains(&old));
    eventually_is("it is not in the other room", || !bridge.hs.is_joined(&lure, agent.user_id.as_str()))
        .await;
}

/// A room far away whose homeserver is gone.
#[tokio::test]
async fn what_cannot_be_followed_is_tried_less_and_less_often_until_there_is_news() {
    let bridge = Bridge::start().await;
    let (agent, other) = (bridge.join("Scout").await, bridge.join("Wren").await);
    let ada = bridge.hs.person("ada");
    let room = ada.make_room(&private());
    let mut joins = bridge.hs.calls(Call::Join);
    bridge.hs.always(Call::Join, Mishap::bad_gateway(When::Before));
    ada.invite(&room, agent.user_id.as_str());
    bridge.hs.until_called(Call::Join, joins + 1).await;
    for seconds in [5, 10, 20, 40] {
        joins += 1;
        let tried_ms = bridge.clock.now_ms();
        pass_until(&bridge, "it is tried again", || bridge.hs.calls(Call::Join) > joins).await;
        let rested = bridge.clock.now_ms() - tried_ms;
        assert!(rested >= seconds * 1_000, "again after {rested} ms instead of {seconds} s");
    }
    // the clock stands still from here on
    bridge.hs.recover(Call::Join);
    ada.invite(&room, other.user_id.as_str());
    let inside = |agent: &parlour_testkit::Agent| bridge.hs.is_joined(&room, agent.user_id.as_str());
    bridge
        .hs
        .until("news of the room is followed at once, by both", |_| inside(&agent) && inside(&other))
        .await;
}
