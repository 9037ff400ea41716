//! Lobbies: made, found, refused.

use parlour_app::view::Readiness;
use parlour_domain::fault::Code;
use parlour_testkit::{
    Agent, Bridge, Call, Mishap, Texts, When, browse, eventually, eventually_is, homeserver::RoomSetup, join,
    lobby,
};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, pass_until, settled, two_lobbies};

#[tokio::test]
async fn made_once_public_plain_and_readable() {
    let mut bridge = Bridge::start().await;
    let lobby = bridge.lobby();
    assert!(bridge.hs.state(&lobby, "m.room.encryption").is_none());
    assert_eq!(bridge.hs.state(&lobby, "m.room.join_rules").unwrap()["join_rule"], "public");
    let visibility = bridge.hs.state(&lobby, "m.room.history_visibility").unwrap();
    assert_eq!(visibility["history_visibility"], "world_readable");
    assert_eq!(bridge.hs.state(&lobby, "m.room.name").unwrap()["name"], "Lobby");
    bridge.restart().await;
    assert_eq!((bridge.hs.calls(Call::CreateRoom), bridge.lobby()), (1, lobby));
}

#[rstest]
#[case("10")]
#[case("12")]
#[tokio::test]
async fn one_that_a_person_made_is_used_as_it_is_with_its_history(#[case] version: &str) {
    let mut bridge = Bridge::prepare(|_| {}).await;
    let ada = bridge.hs.person("ada");
    let room = ada.make_room(&RoomSetup { version, alias: Some("lobby"), ..RoomSetup::default() });
    let said = ada.say(&room, "helo");
    ada.edit(&room, &said, "hello");
    let gone = ada.say(&room, "gone");
    ada.redact(&room, &gone);
    (1..=130).for_each(|n| drop(ada.say(&room, &n.to_string())));
    bridge.boot().await;
    bridge.ready().await;
    let agent = bridge.join("Robin").await;
    assert_eq!(bridge.hs.calls(Call::CreateRoom), 0);
    let page = agent.browse(browse(50)).await.unwrap();
    assert_eq!(page.messages.texts()[0], "130");
    let oldest = parlour_app::request::Browse { around: Some(said), ..browse(1) };
    assert_eq!(agent.browse(oldest).await.unwrap().messages.texts(), ["hello"]);
    assert_eq!(agent.look().await.unwrap().messages.len(), 20);
    // the room's maker may delete, in version 12 without being in the power levels
    let spoken = agent.say("oops").await.unwrap().event_id.unwrap();
    ada.redact(&room, spoken.as_str());
    bridge.caught_up().await;
    assert_eq!(agent.browse(browse(1)).await.unwrap().messages.texts(), ["130"]);
}

/// Somebody speaks just while the history is being read.
#[tokio::test]
async fn history_is_read_even_if_somebody_speaks_meanwhile() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    let ada = bridge.hs.person("ada");
    let room = ada.make_room(&RoomSetup { alias: Some("lobby"), ..RoomSetup::default() });
    ada.say(&room, "old");
    let held = bridge.hs.hold(Call::Messages, When::Before);
    bridge.boot().await;
    held.arrived().await;
    ada.say(&room, "new");
    bridge.caught_up().await;
    held.release();
    bridge.ready().await;
    let agent = bridge.join("Robin").await;
    assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["new", "old"]);
}

#[tokio::test]
async fn history_that_could_not_be_read_is_read_later() {
    for crash in [false, true] {
        let mut bridge = Bridge::prepare(|_| {}).await;
        let ada = bridge.hs.person("ada");
        let room = ada.make_room(&RoomSetup { alias: Some("lobby"), ..RoomSetup::default() });
        ada.say(&room, "old");
        bridge.hs.always(Call::Messages, Mishap::bad_gateway(When::Before));
        bridge.boot().await;
        bridge.not_ready_for("lobby lobby").await;
        if crash {
            bridge.crash().await;
            bridge.boot().await;
        }
        bridge.hs.recover(Call::Messages);
        pass_until(&bridge, "it is ready", || bridge.readiness() == Readiness::Ready).await;
        let agent = bridge.join("Robin").await;
        assert_eq!(agent.browse(browse(5)).await.unwrap().messages.texts(), ["old"]);
    }
}

#[tokio::test]
async fn an_encrypted_room_under_the_alias_is_no_lobby() {
    let mut bridge = Bridge::prepare(two_lobbies).await;
    let ada = bridge.hs.person("ada");
    let setup = RoomSetup { alias: Some("lobby"), encrypted: true, ..RoomSetup::default() };
    let room = ada.make_room(&setup);
    bridge.boot().await;
    bridge.not_ready_for("encrypted").await;
    assert_eq!(code(bridge.ask_in(join("Robin"), bridge.stranger()).await), Code::DependencyUnavailable);
    assert!(bridge.hs.members(&room).iter().all(|u| !u.starts_with("@agent_")));
}

#[tokio::test]
async fn a_closed_room_under_the_alias_is_no_lobby() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    let ada = bridge.hs.person("ada");
    let room =
        ada.make_room(&RoomSetup { alias: Some("lobby"), join_rule: "invite", ..RoomSetup::default() });
    bridge.boot().await;
    bridge.not_ready_for("cannot join").await;
    assert_eq!(code(bridge.ask_in(join("Robin"), bridge.stranger()).await), Code::DependencyUnavailable);
    ada.set_state(&room, "m.room.join_rules", json!({"join_rule": "public"}));
    pass_until(&bridge, "it is ready", || bridge.readiness() == Readiness::Ready).await;
    bridge.join("Robin").await;
}

/// No plain text in an encrypted room, ever: also not where it became one under our feet.
#[tokio::test]
async fn a_lobby_that_becomes_encrypted_takes_no_more_words() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    ada.set_state(&bridge.lobby(), "m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"}));
    bridge.caught_up().await;
    assert_eq!(code(agent.say("in clear?").await), Code::DependencyUnavailable);
    assert_eq!(code(bridge.ask_in(join("Wren"), bridge.stranger()).await), Code::DependencyUnavailable);
    bridge.crash().await;
    bridge.boot().await;
    bridge.not_ready_for("encrypted").await;
    assert_eq!(code(agent.say("in clear?").await), Code::DependencyUnavailable);
    assert_eq!(bridge.hs.calls(Call::Send), 0);
}

/// Claimed before the room was encrypted, and carried on after.
#[tokio::test]
async fn what_was_still_to_be_sent_is_not_sent_in_clear() {
    let bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    bridge.caught_up().await;
    let held = bridge.hs.hold(Call::Send, When::Before);
    let asked = agent.say("in clear?");
    held.arrived().await;
    ada.set_state(&bridge.lobby(), "m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"}));
    bridge.caught_up().await;
    held.cut();
    assert_eq!(code(asked.await), Code::DependencyUnavailable);
    assert_eq!(bridge.hs.calls(Call::Send), 1);
}

#[tokio::test]
async fn an_alias_that_moved_leads_to_the_other_room() {
    let mut bridge = Bridge::start().await;
    let (ada, agent) = (bridge.hs.person("ada"), bridge.join("Robin").await);
    let old = bridge.lobby();
    bridge.caught_up().await;
    bridge.stop().await;
    let new = ada.make_room(&RoomSetup::default());
    ada.say(&new, "welcome");
    bridge.hs.point_alias("lobby", &new);
    bridge.boot().await;
    bridge.ready().await;
    let newcomer = bridge.join("Wren").await;
    assert!(bridge.hs.is_joined(&new, newcomer.user_id.as_str()));
    assert_eq!(newcomer.browse(browse(5)).await.unwrap().messages.texts(), ["welcome"]);
    assert_eq!(bridge.lobbies().len(), 1);
    let sent = agent.say("still in the old room").await.unwrap();
    assert_eq!(sent.room_id.as_str(), old, "whoever was in the old room stays there");
}

#[tokio::test]
async fn not_ready_says_why_and_becomes_ready() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    bridge.hs.go_down().await;
    bridge.boot().await;
    bridge.not_ready_for("homeserver.url").await;
    assert_eq!(code(bridge.ask_in(join("Robin"), bridge.stranger()).await), Code::DependencyUnavailable);
    bridge.hs.come_up().await;
    pass_until(&bridge, "it is ready", || bridge.readiness() == Readiness::Ready).await;
}

#[tokio::test]
async fn a_homeserver_that_does_not_know_us() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    bridge.hs.always(Call::Ping, Mishap::refuse(401, "M_UNKNOWN_TOKEN"));
    bridge.boot().await;
    bridge.not_ready_for("does not take us for its appservice").await;
}

/// With it the homeserver begins to bring what piled up.
#[tokio::test]
async fn the_ping_comes_first() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    let ping = bridge.hs.hold(Call::Ping, When::Before);
    bridge.boot().await;
    ping.arrived().await;
    let others = [Call::Register, Call::ResolveAlias, Call::CreateRoom].map(|call| bridge.hs.calls(call));
    assert_eq!(others, [0; 3]);
    ping.release();
    pass_until(&bridge, "it is ready", || bridge.readiness() == Readiness::Ready).await;
}

#[tokio::test]
async fn a_room_that_was_made_but_not_answered_is_found_by_its_alias() {
    let mut bridge = Bridge::prepare(|_| {}).await;
    bridge.hs.next(Call::CreateRoom, Mishap::Cut(When::After));
    bridge.boot().await;
    pass_until(&bridge, "it is ready", || bridge.readiness() == Readiness::Ready).await;
    assert_eq!(bridge.hs.calls(Call::CreateRoom), 1);
    bridge.join("Robin").await;
}

#[tokio::test]
async fn thirty_lobbies_names_that_differ_in_case_and_their_order() {
    let bridge = Bridge::with(|s| {
        for n in 0..28 {
            s.settings.lobbies.push(lobby(&format!("l{n}"), &format!("Room {n}"), false));
        }
        s.settings.lobbies.push(lobby("chess", "Chess", false));
        s.settings.lobbies.push(lobby("chess2", "chess", false));
    })
    .await;
    let slugs: Vec<String> = bridge.lobbies().into_iter().map(|l| l.slug).collect();
    assert_eq!((slugs.len(), slugs[0].as_str(), slugs[30].as_str()), (31, "lobby", "chess2"));
    let into = |room: &str| parlour_app::request::Join { room: Some(room.to_owned()), ..join("Robin") };
    bridge.ask_in(into("Chess"), bridge.stranger()).await.unwrap();
    assert_eq!(code(bridge.ask_in(into("CHESS"), bridge.stranger()).await), Code::RoomNotFound);
}

/// A lobby that a person upgrades, with the agents that are in it.
async fn upgraded(bridge: &Bridge, agents: usize) -> (Vec<Agent>, String, String) {
    let mut all = vec![];
    for n in 0..agents {
        all.push(settled(bridge, &format!("Robin {n}")).await);
    }
    let (ada, old) = (bridge.hs.person("ada"), bridge.lobby());
    ada.join(&old);
    ada.say(&old, "in the old one");
    bridge.caught_up().await;
    let new = ada.upgrade(&old, "public");
    bridge.hs.point_alias("lobby", &new);
    (all, old, new)
}

async fn goes_on(bridge: &Bridge, agents: &[Agent], old: &str, new: &str) {
    for agent in agents {
        let there =
            || async { agent.me().await.unwrap().rooms.iter().any(|r| r.room_id == *new).then_some(()) };
        eventually("it is in the new room", there).await;
    }
    let ours = || agents.iter().map(|a| a.user_id.as_str()).chain([parlour_testkit::homeserver::BOT]);
    eventually_is("nobody of ours stays behind", || !ours().any(|user| bridge.hs.is_joined(old, user))).await;
    assert!(ours().all(|user| bridge.hs.is_joined(new, user)));
    bridge.hs.person("ada").say(new, "in the new one");
    bridge.caught_up().await;
    for agent in agents {
        assert_eq!(agent.look().await.unwrap().texts(), ["in the old one", "in the new one"]);
    }
    for agent in agents {
        agent.say("here").await.unwrap();
    }
}

#[tokio::test]
async fn a_lobby_that_was_upgraded_goes_on_under_its_number() {
    let mut bridge = Bridge::start().await;
    let number = bridge.join("First").await.me().await.unwrap().rooms[0].catalog_id;
    let (agents, old, new) = upgraded(&bridge, 2).await;
    goes_on(&bridge, &agents, &old, &new).await;
    assert_eq!(agents[0].me().await.unwrap().rooms[0].catalog_id, number);
    bridge.crash_and_restart().await;
    assert_eq!(bridge.join("Later").await.me().await.unwrap().rooms[0].catalog_id, number);
}

/// The bridge dies in the middle: whoever came along still leaves the old room.
#[rstest]
#[case::before_the_others_came(Call::State)]
#[case::before_they_left(Call::Leave)]
#[tokio::test]
async fn a_crash_in_the_middle_leaves_nobody_behind(#[case] at: Call) {
    let mut bridge = Bridge::start().await;
    let held = bridge.hs.hold(at, When::Before);
    let (agents, old, new) = upgraded(&bridge, 2).await;
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    bridge.boot().await;
    bridge.ready().await;
    goes_on(&bridge, &agents, &old, &new).await;
}

#[tokio::test]
async fn a_lobby_that_was_upgraded_while_the_bridge_was_down() {
    let mut bridge = Bridge::start().await;
    let agent = settled(&bridge, "Robin").await;
    let number = agent.me().await.unwrap().rooms[0].catalog_id;
    let (ada, old) = (bridge.hs.person("ada"), bridge.lobby());
    ada.join(&old);
    bridge.stop().await;
    let new = ada.upgrade(&old, "public");
    bridge.hs.point_alias("lobby", &new);
    bridge.boot().await;
    bridge.ready().await;
    let there =
        || async { agent.me().await.unwrap().rooms.iter().find(|r| r.room_id == *new).map(|r| r.catalog_id) };
    assert_eq!(eventually("it is in the new room", there).await, number);
    eventually_is("it does not stay behind", || !bridge.hs.is_joined(&old, agent.user_id.as_str())).await;
}
