//! Becoming an agent: names and numbers, places, what a failure leaves behind.

use std::sync::Arc;

use parlour_app::{request::Join, runtime::Chance, view::Entered};
use parlour_domain::{fault::Code, quota::MINUTE_MS, source::Source};
use parlour_testkit::{Bridge, Call, Mishap, SeededChance, When, eventually_is, join};
use rstest::rstest;
use serde_json::json;

use crate::support::{code, pass_until, refused, two_lobbies};

#[tokio::test]
async fn an_agent_is_in_the_lobby_under_its_name_and_number() {
    let bridge = Bridge::start().await;
    let agent = bridge.join("  Robin ").await;
    let (name, number) = agent.display_name.rsplit_once(" #").unwrap();
    assert_eq!((name, number.len(), number.parse::<u16>().is_ok()), ("Robin", 4, true));
    let shown = bridge.hs.name_in(&bridge.lobby(), agent.user_id.as_str());
    assert_eq!(shown.as_deref(), Some(&*agent.display_name), "people see the name from the join on");
    assert!(agent.token.starts_with("test_") && agent.token.len() == "test_".len() + 43);
    assert_eq!(bridge.lobbies()[0].online, 1);
}

/// The bridge may have died after making it.
#[tokio::test]
async fn a_puppet_that_is_there_already_is_ours() {
    let bridge = Bridge::start().await;
    let body = json!({"errcode": "M_USER_IN_USE", "error": "taken"}).to_string();
    bridge.hs.next(Call::Register, Mishap::Answer { when: When::After, status: 400, headers: vec![], body });
    let agent = bridge.join("Robin").await;
    let shown = bridge.hs.name_in(&bridge.lobby(), agent.user_id.as_str());
    assert_eq!(shown.as_deref(), Some(&*agent.display_name));
}

/// Always the same number to begin with.
struct SameNumber(SeededChance);

impl Chance for SameNumber {
    fn fill(&self, bytes: &mut [u8]) {
        match bytes.len() {
            2 => bytes.fill(0),
            _ => self.0.fill(bytes),
        }
    }
}

#[tokio::test]
async fn names_that_look_alike_never_share_a_number_while_both_live() {
    let bridge = Bridge::with(|s| s.chance = Arc::new(SameNumber(SeededChance::new(1)))).await;
    let first = bridge.join("Scout").await;
    // Cyrillic letters in the middle
    let second = bridge.join("S\u{441}\u{43e}ut").await;
    let other = bridge.join("Scribe").await;
    assert_eq!(first.display_name, "Scout #0000");
    assert_eq!(second.display_name, "S\u{441}\u{43e}ut #0001");
    assert_eq!(other.display_name, "Scribe #0000");
    first.leave().await.unwrap();
    assert_eq!(bridge.join("scout").await.display_name, "scout #0000", "free again");
}

#[tokio::test]
async fn numbers_stay_taken_over_a_crash() {
    let mut bridge = Bridge::with(|s| s.chance = Arc::new(SameNumber(SeededChance::new(1)))).await;
    bridge.join("Scout").await;
    bridge.crash_and_restart().await;
    assert_eq!(bridge.join("Scout").await.display_name, "Scout #0001");
}

#[rstest]
#[case("")]
#[case("Admin")]
#[case("parlour")]
#[case("Robin #1234")]
#[case("a\u{202e}b")]
#[tokio::test]
async fn a_bad_name_is_refused_before_anything_happens(#[case] name: &str) {
    let bridge = Bridge::start().await;
    let registered = bridge.hs.calls(Call::Register);
    let answer = bridge.ask_in(join(name), bridge.stranger()).await;
    assert_eq!(refused(answer), (Code::NameInvalid, "name".to_owned()));
    assert_eq!(bridge.hs.calls(Call::Register), registered);
}

#[tokio::test]
async fn eight_at_once_for_the_last_place() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_agents = 2).await;
    bridge.join("Early").await;
    let asked: Vec<_> = (0..8).map(|_| bridge.ask_in(join("Robin"), bridge.stranger())).collect();
    let mut inside = 0;
    for ask in asked {
        match ask.await {
            Ok(_) => inside += 1,
            Err(fault) => assert_eq!(fault.code, Code::CapacityReached),
        }
    }
    assert_eq!((inside, bridge.lobbies()[0].online), (1, 2));
}

#[tokio::test]
async fn a_place_is_free_again_once_somebody_leaves_or_fails() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_agents = 1).await;
    bridge.hs.next(Call::Register, Mishap::bad_gateway(When::Before));
    assert_eq!(code(bridge.ask_in(join("Robin"), bridge.stranger()).await), Code::DependencyUnavailable);
    let agent = bridge.join("Robin").await;
    assert_eq!(code(bridge.ask_in(join("Wren"), bridge.stranger()).await), Code::CapacityReached);
    agent.leave().await.unwrap();
    bridge.join("Wren").await;
}

#[rstest]
#[case(Call::Register)]
#[case(Call::DisplayName)]
#[case(Call::Join)]
#[tokio::test]
async fn what_the_homeserver_fails_costs_nothing_and_leaves_nobody(#[case] call: Call) {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_entries_per_source_hour = 1).await;
    let source = bridge.stranger();
    for _ in 0..3 {
        bridge.hs.next(call, Mishap::bad_gateway(When::Before));
        let answer = bridge.ask_in(join("Robin"), source).await;
        assert_eq!(code(answer), Code::DependencyUnavailable);
    }
    assert_eq!(bridge.lobbies()[0].online, 0);
    bridge.ask_in(join("Robin"), source).await.unwrap();
    assert_eq!(code(bridge.ask_in(join("Robin"), source).await), Code::RateLimited, "this one was charged");
}

/// Also before its event has come.
#[tokio::test]
async fn a_join_that_happened_unseen_is_undone() {
    let bridge = Bridge::start().await;
    bridge.hs.hold_transactions().await;
    bridge.hs.next(Call::Join, Mishap::Cut(When::After));
    let answer = bridge.ask_in(join("Robin"), bridge.stranger()).await;
    assert_eq!(code(answer), Code::DependencyUnavailable);
    let lobby = bridge.lobby();
    bridge.hs.until("the puppet is out again", |_| puppets_in(&bridge, &lobby) == 0).await;
    assert_eq!(bridge.hs.calls(Call::Leave), 1);
    bridge.hs.release_transactions();
}

/// The homeserver does it only after the bridge has given up and looked.
#[tokio::test]
async fn a_puppet_that_is_there_for_nobody_is_taken_out() {
    let bridge = Bridge::start().await;
    let lobby = bridge.lobby();
    bridge.hs.person("agent_nobody").join(&lobby);
    bridge.caught_up().await;
    assert_eq!(puppets_in(&bridge, &lobby), 1);
    bridge.clock.advance(MINUTE_MS);
    pass_until(&bridge, "the puppet is out", || puppets_in(&bridge, &lobby) == 0).await;
}

fn puppets_in(bridge: &Bridge, room: &str) -> usize {
    bridge.hs.members(room).iter().filter(|u| u.starts_with("@agent_")).count()
}

#[rstest]
#[case(Call::Register)]
#[case(Call::Join)]
#[tokio::test]
async fn a_client_that_goes_away_leaves_no_agent_behind(#[case] call: Call) {
    let bridge = Bridge::start().await;
    let held = bridge.hs.hold(call, When::After);
    let asked = bridge.ask_in(join("Robin"), bridge.stranger());
    held.arrived().await;
    asked.go_away().await;
    held.release();
    bridge.hs.until_called(Call::Leave, 1).await;
    let lobby = bridge.lobby();
    bridge.hs.until("its puppet is out", |_| puppets_in(&bridge, &lobby) == 0).await;
    eventually_is("nobody is online", || bridge.lobbies()[0].online == 0).await;
}

/// Also before the event of that join has come.
#[rstest]
#[tokio::test]
async fn a_crash_in_the_middle_of_a_join_leaves_no_agent_behind(#[values(false, true)] event_is_late: bool) {
    let mut bridge = Bridge::start().await;
    if event_is_late {
        bridge.hs.hold_transactions().await;
    }
    let held = bridge.hs.hold(Call::Join, When::After);
    let asked = bridge.ask_in(join("Robin"), bridge.stranger());
    held.arrived().await;
    bridge.crash().await;
    assert_eq!(code(asked.await), Code::DependencyUnavailable);
    bridge.boot().await;
    bridge.ready().await;
    let lobby = bridge.lobby();
    bridge.hs.until("its puppet is out", |_| puppets_in(&bridge, &lobby) == 0).await;
}

#[tokio::test]
async fn with_the_homeserver_down_nobody_joins_and_afterwards_they_do() {
    let bridge = Bridge::start().await;
    bridge.hs.go_down().await;
    let answer = bridge.ask_in(join("Robin"), bridge.stranger()).await;
    assert_eq!(code(answer), Code::DependencyUnavailable);
    bridge.hs.come_up().await;
    bridge.join("Robin").await;
}

#[tokio::test]
async fn the_homeservers_own_limit_is_passed_on() {
    let bridge = Bridge::start().await;
    bridge.hs.next(Call::Join, Mishap::limit(&[("retry-after", "7")], ""));
    let fault = bridge.ask_in(join("Robin"), bridge.stranger()).await.unwrap_err();
    assert_eq!((fault.code, fault.retry_after_s), (Code::RateLimited, Some(7)));
}

fn into(room: &str) -> Join {
    Join { room: Some(room.to_owned()), ..join("Robin") }
}

#[tokio::test]
async fn an_unknown_room_names_the_lobbies_and_costs_nothing() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_entries_per_source_hour = 1).await;
    let source = bridge.stranger();
    for _ in 0..2 {
        let fault = bridge.ask_in(into("cellar"), source).await.unwrap_err();
        assert_eq!(fault.code, Code::RoomNotFound);
        let rooms = fault.details["rooms"].as_array().unwrap();
        assert_eq!(rooms.len(), 1);
        assert_eq!((&rooms[0]["name"], &rooms[0]["slug"]), (&"Lobby".into(), &"lobby".into()));
        assert_eq!((&rooms[0]["onlineAgentCount"], &rooms[0]["default"]), (&0.into(), &true.into()));
    }
    bridge.ask_in(join("Robin"), source).await.unwrap();
}

#[tokio::test]
async fn a_lobby_is_found_by_slug_name_number_and_link() {
    let bridge = Bridge::with(two_lobbies).await;
    let garden = bridge.hs.room("garden").unwrap();
    let mut number = String::new();
    let ask = ["garden", "The Garden", "the garden", "GARDEN"];
    for room in ask {
        number = number_of(&bridge, room, &garden).await;
    }
    number_of(&bridge, &number, &garden).await;
    number_of(&bridge, &format!("https://agents.example.org/lobby/{number}"), &garden).await;
    number_of(&bridge, "  ", &bridge.lobby()).await;
}

async fn number_of(bridge: &Bridge, ask: &str, room_id: &str) -> String {
    let welcome = bridge.ask_in(into(ask), bridge.stranger()).await.unwrap();
    let Entered::Room(room) = welcome.entered else { panic!("a room") };
    assert_eq!(room.room_id, room_id, "{ask}");
    room.catalog_id.to_string()
}

#[tokio::test]
async fn codes_open_nothing_yet_and_stand_alone() {
    let bridge = Bridge::start().await;
    let coded = Join { code: Some("ABCD-EFGH-JKMN".to_owned()), ..join("Robin") };
    assert_eq!(code(bridge.ask_in(coded.clone(), bridge.stranger()).await), Code::CodeInvalid);
    let both = Join { room: Some("lobby".to_owned()), ..coded };
    let answer = bridge.ask_in(both, bridge.stranger()).await;
    assert_eq!(refused(answer), (Code::InvalidRequest, "code".to_owned()));
}

#[tokio::test]
async fn switched_off_means_nobody_and_no_token() {
    let bridge = Bridge::with(|s| s.settings.agents.enabled = false).await;
    assert_eq!(code(bridge.ask_in(join("Robin"), bridge.stranger()).await), Code::Disabled);
    assert_eq!(code(bridge.knows_token("test_x")), Code::Disabled, "before the token is looked at");
}

#[tokio::test]
async fn another_lobby_costs_nothing_and_keeps_the_first() {
    let bridge = Bridge::with(|s| {
        two_lobbies(s);
        s.settings.limits.lobby_entries_per_source_hour = 1;
        s.settings.limits.lobby_agents = 1;
    })
    .await;
    let source = bridge.stranger();
    let welcome = bridge.ask_in(join("Robin"), source).await.unwrap();
    let agent = bridge.agent(&welcome);
    for _ in 0..2 {
        agent.enter("garden", source).await.unwrap();
    }
    assert_eq!(agent.me().await.unwrap().rooms.len(), 2);
    assert!(bridge.hs.is_joined(&bridge.hs.room("garden").unwrap(), agent.user_id.as_str()));
    assert_eq!(bridge.lobbies().iter().map(|l| l.online).collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn who_is_banned_from_a_lobby_is_told_so() {
    let bridge = Bridge::with(two_lobbies).await;
    let (ada, garden) = (bridge.hs.person("ada"), bridge.hs.room("garden").unwrap());
    let agent = bridge.join("Robin").await;
    ada.ban(&garden, agent.user_id.as_str());
    assert_eq!(code(agent.enter("garden", Source::V4([1; 4])).await), Code::Forbidden);
    assert_eq!(agent.me().await.unwrap().rooms.len(), 1);
}

#[tokio::test]
async fn tokens_outlive_restarts_and_crashes() {
    let mut bridge = Bridge::start().await;
    let agent = bridge.join("Robin").await;
    bridge.restart().await;
    assert_eq!(agent.me().await.unwrap().agent.display_name, agent.display_name);
    bridge.crash_and_restart().await;
    let me = agent.me().await.unwrap();
    assert_eq!((me.agent.user_id, me.rooms.len()), (agent.user_id, 1));
}
