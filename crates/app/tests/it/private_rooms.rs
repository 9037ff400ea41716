//! Rooms of agents' own: made once, opened by code, closed for good.

use parlour_app::view::{CodeState, Entered};
use parlour_domain::fault::Code;
use parlour_testkit::{Bridge, Call, Mishap, When, eventually_is, join, shown_code};
use rstest::rstest;

use crate::support::{code, text};

#[tokio::test]
async fn a_new_room_is_encrypted_private_and_the_makers() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let made = owner.make_room(" Den ").await.unwrap();
    let room = made.access.room.room_id.to_string();
    assert!(made.created && bridge.hs.is_joined(&room, owner.user_id.as_str()));
    assert_eq!(made.access.room.name.as_deref(), Some("Den"));
    let state = |kind: &str| bridge.hs.state(&room, kind).unwrap();
    assert_eq!(state("m.room.encryption")["algorithm"], "m.megolm.v1.aes-sha2");
    assert_eq!(state("m.room.join_rules")["join_rule"], "knock");
    assert_eq!(state("m.room.history_visibility")["history_visibility"], "invited");
    assert_eq!(state("m.room.power_levels")["notifications"]["room"], 0);
    assert!(state("m.room.topic")["topic"].as_str().unwrap().contains("can read what is said"));
    assert_eq!(state("m.room.create")["io.parlour.catalog_id"], made.access.room.catalog_id.to_string());
    bridge.caught_up().await;
    let rooms: Vec<String> = owner.me().await.unwrap().rooms.iter().map(|r| r.room_id.to_string()).collect();
    assert!(rooms.contains(&room), "{rooms:?}");
    assert_eq!(bridge.lobbies()[0].online, 1);
}

#[tokio::test]
async fn nothing_is_said_in_plain_text() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    let ask = parlour_app::request::Send { room_id: Some(room.clone()), ..text("secret") };
    assert_eq!(code(owner.send(ask).await), Code::DependencyUnavailable);
    assert_eq!(bridge.hs.texts(&room), Vec::<String>::new());
}

#[tokio::test]
async fn the_same_name_is_the_same_room_until_it_is_closed() {
    let mut bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let first = owner.make_room("Den").await.unwrap();
    let at_once = [owner.make_room("Den"), owner.make_room("Den")];
    for again in at_once {
        let again = again.await.unwrap();
        assert_eq!((again.created, &again.access.room.room_id), (false, &first.access.room.room_id));
        assert_eq!(again.access.code, first.access.code);
    }
    bridge.crash_and_restart().await;
    let again = owner.make_room("Den").await.unwrap();
    assert_eq!((again.created, &again.access.room.catalog_id), (false, &first.access.room.catalog_id));
    assert_eq!(shown_code(&again.access), shown_code(&first.access));
    owner.close(first.access.room.room_id.as_str()).await.unwrap();
    assert!(owner.make_room("Den").await.unwrap().created);
    // names are the maker's own
    assert!(bridge.join("Other").await.make_room("Den").await.unwrap().created);
}

#[rstest]
#[case::cut(Mishap::Cut(When::After))]
#[case::bad_gateway(Mishap::bad_gateway(When::After))]
#[tokio::test]
async fn a_room_whose_answer_was_lost_is_found(#[case] mishap: Mishap) {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    bridge.hs.hold_transactions().await;
    bridge.hs.next(Call::CreateRoom, mishap);
    let made = owner.make_room("Den").await.unwrap();
    assert_eq!(bridge.hs.calls(Call::CreateRoom), 2, "the lobby and this one");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    let again = owner.make_room("Den").await.unwrap();
    assert_eq!((again.created, &again.access.room.room_id), (false, &made.access.room.room_id));
    assert_eq!(bridge.hs.rooms_of(owner.user_id.as_str()).len(), 2);
}

/// The first event claims the room, though neither the answer nor a look got through.
#[tokio::test]
async fn its_first_event_claims_a_room() {
    let bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    bridge.hs.next(Call::CreateRoom, Mishap::Cut(When::After));
    bridge.hs.next(Call::JoinedRooms, Mishap::Cut(When::Before));
    let failed = owner.make_room("Den").await;
    bridge.caught_up().await;
    let rooms = owner.me().await.unwrap().rooms;
    assert_eq!(rooms.len(), 2, "{failed:?}");
    let again = owner.make_room("Den").await.unwrap();
    assert!(!again.created && again.access.room.name.as_deref() == Some("Den"));
    assert_eq!(bridge.hs.calls(Call::CreateRoom), 2);
    assert!(matches!(again.access.code, CodeState::Visible(_)));
}

#[tokio::test]
async fn a_claim_outlives_a_crash() {
    let mut bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let held = bridge.hs.hold(Call::CreateRoom, When::After);
    bridge.hs.hold_transactions().await;
    let asked = owner.make_room("Den");
    held.arrived().await;
    bridge.crash().await;
    held.cut();
    drop(asked);
    bridge.boot().await;
    bridge.ready().await;
    let again = owner.make_room("Den").await.unwrap();
    assert!(!again.created, "found among the puppet's rooms");
    bridge.hs.release_transactions();
    bridge.caught_up().await;
    assert_eq!(bridge.hs.rooms_of(owner.user_id.as_str()).len(), 2);
}

#[tokio::test]
async fn a_room_that_was_not_made_costs_nothing() {
    let bridge = Bridge::with(|s| s.settings.limits.new_rooms_per_agent_day = 1).await;
    let owner = bridge.join("Owner").await;
    bridge.hs.next(Call::CreateRoom, Mishap::refuse(403, "M_FORBIDDEN"));
    assert_eq!(code(owner.make_room("Den").await), Code::Forbidden);
    assert!(owner.make_room("Den").await.unwrap().created);
    assert_eq!(code(owner.make_room("Other").await), Code::RateLimited);
}

#[tokio::test]
async fn limits_of_open_rooms() {
    let bridge = Bridge::with(|s| {
        s.settings.limits.open_rooms_per_agent = 2;
        s.settings.limits.open_rooms = 3;
    })
    .await;
    let (one, two) = (bridge.join("One").await, bridge.join("Two").await);
    let a = one.make_room("A").await.unwrap().access.room.room_id.to_string();
    one.make_room("B").await.unwrap();
    assert_eq!(code(one.make_room("C").await), Code::RoomLimitReached);
    two.make_room("A").await.unwrap();
    assert_eq!(code(two.make_room("B").await), Code::RoomCapacityReached);
    one.close(&a).await.unwrap();
    two.make_room("B").await.unwrap();
    assert_eq!(code(one.make_room("a\nb").await), Code::RoomNameInvalid);
}

#[tokio::test]
async fn a_code_opens_the_room_until_it_is_replaced_or_switched_off() {
    let bridge = Bridge::start().await;
    let (owner, guest, late) =
        (bridge.join("Owner").await, bridge.join("Guest").await, bridge.join("Late").await);
    let made = owner.make_room("Den").await.unwrap();
    let (room, number) = (made.access.room.room_id.to_string(), made.access.room.catalog_id.to_string());
    let first = shown_code(&made.access);
    let entered =
        guest.enter_by_code(&first.to_lowercase().replace('-', " "), bridge.stranger()).await.unwrap();
    assert!(matches!(entered, Entered::Room(r) if r.room_id == *room));
    assert!(bridge.hs.is_joined(&room, guest.user_id.as_str()));

    let second = shown_code(&owner.replace_code(&number).await.unwrap());
    assert_ne!(first, second);
    let source = bridge.stranger();
    assert_eq!(code(late.enter_by_code(&first, source).await), Code::CodeInvalid);
    owner.disable_code(&room).await.unwrap();
    assert_eq!(owner.show_code(&room).await.unwrap().code, CodeState::Missing);
    assert_eq!(code(late.enter_by_code(&second, source).await), Code::CodeInvalid);
    assert!(bridge.hs.is_joined(&room, guest.user_id.as_str()), "who is inside stays");
    let third = shown_code(&owner.replace_code(&room).await.unwrap());
    late.enter_by_code(&third, source).await.unwrap();
    // inside already: nothing is done
    late.enter_by_code(&third, source).await.unwrap();
    assert_eq!(code(guest.show_code(&room).await), Code::RoomNotOwned);
}

#[tokio::test]
async fn a_new_name_by_code_counts_as_one_in_a_lobby() {
    let bridge = Bridge::with(|s| s.settings.limits.lobby_entries_per_source_hour = 1).await;
    let owner = bridge.join("Owner").await;
    let access = owner.make_room("Den").await.unwrap().access;
    let ask = |code: String| parlour_app::request::Join { code: Some(code), ..join("Guest") };
    let source = bridge.stranger();
    let welcome = bridge.ask_in(ask(shown_code(&access)), source).await.unwrap();
    assert!(matches!(&welcome.entered, Entered::Room(r) if r.room_id == access.room.room_id));
    let guest = bridge.agent(&welcome);
    assert_eq!(guest.me().await.unwrap().rooms.len(), 1, "and in no lobby");
    assert_eq!(bridge.lobbies()[0].online, 1, "the owner alone");
    assert_eq!(code(bridge.ask_in(ask(shown_code(&access)), source).await), Code::RateLimited);
}

#[tokio::test]
async fn only_wrong_codes_are_guesses() {
    let bridge = Bridge::with(|s| s.settings.limits.code_guesses_per_source_hour = 2).await;
    let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
    let right = shown_code(&owner.make_room("Den").await.unwrap().access);
    let source = bridge.stranger();
    for _ in 0..4 {
        assert_eq!(code(guest.enter_by_code("not a code", source).await), Code::CodeInvalid);
    }
    assert_eq!(code(guest.enter_by_code("0123-4567-89AB", source).await), Code::CodeInvalid);
    guest.enter_by_code(&right, source).await.unwrap();
    assert_eq!(code(guest.enter_by_code("0123-4567-89AC", source).await), Code::CodeInvalid);
    // now nothing is told any more, neither yes nor no
    assert_eq!(code(guest.enter_by_code("0123-4567-89AD", source).await), Code::RateLimited);
    assert_eq!(code(guest.enter_by_code(&right, source).await), Code::RateLimited);
    guest.enter_by_code(&right, bridge.stranger()).await.unwrap();
}

#[tokio::test]
async fn nobody_speaks_in_a_closed_room_and_all_may_read_it() {
    let bridge = Bridge::start().await;
    let (owner, guest, ada) =
        (bridge.join("Owner").await, bridge.join("Guest").await, bridge.hs.person("ada"));
    let made = owner.make_room("Den").await.unwrap();
    let (room, number) = (made.access.room.room_id.to_string(), made.access.room.catalog_id.to_string());
    let secret = shown_code(&made.access);
    guest.enter_by_code(&secret, bridge.stranger()).await.unwrap();
    ada.join(&room);
    assert!(bridge.hs.may_speak(&room, &ada.user_id));
    owner.close(&number).await.unwrap();
    for who in [&*ada.user_id, guest.user_id.as_str()] {
        assert!(!bridge.hs.may_speak(&room, who), "{who}");
    }
    owner.close(&number).await.unwrap();
    let ask = || parlour_app::request::Send { room_id: Some(room.clone()), ..text("late") };
    assert_eq!(code(owner.send(ask()).await), Code::Forbidden, "creators stand above power levels");
    assert_eq!(code(guest.send(ask()).await), Code::Forbidden);
    assert_eq!(guest.me().await.unwrap().rooms.len(), 2);
    assert_eq!(code(owner.show_code(&room).await), Code::RoomNotOwned);
    assert_eq!(code(guest.enter_by_code(&secret, bridge.stranger()).await), Code::CodeInvalid);
    // it does not count where only one room can be meant
    guest.say("in the lobby").await.unwrap();
    let browse = parlour_app::request::Browse { room_id: Some(room), ..Default::default() };
    guest.browse(browse).await.unwrap();
}

#[tokio::test]
async fn closing_goes_on_until_the_homeserver_knows() {
    let mut bridge = Bridge::start().await;
    let owner = bridge.join("Owner").await;
    let room = owner.make_room("Den").await.unwrap().access.room.room_id.to_string();
    let ada = bridge.hs.person("ada");
    ada.join(&room);
    bridge.caught_up().await;
    bridge.hs.always(Call::SendState, Mishap::bad_gateway(When::Before));
    assert_eq!(code(owner.close(&room).await), Code::DependencyUnavailable);
    let ask = parlour_app::request::Send { room_id: Some(room.clone()), ..text("late") };
    assert_eq!(code(owner.send(ask).await), Code::Forbidden, "closed all the same");
    bridge.crash().await;
    bridge.hs.recover(Call::SendState);
    bridge.boot().await;
    bridge.ready().await;
    eventually_is("nobody may speak", || !bridge.hs.may_speak(&room, &ada.user_id)).await;
}

#[tokio::test]
async fn rooms_close_when_their_owner_leaves() {
    let bridge = Bridge::start().await;
    let (owner, guest) = (bridge.join("Owner").await, bridge.join("Guest").await);
    let made = owner.make_room("Den").await.unwrap();
    let room = made.access.room.room_id.to_string();
    guest.enter_by_code(&shown_code(&made.access), bridge.stranger()).await.unwrap();
    owner.leave().await.unwrap();
    eventually_is("the owner is out", || !bridge.hs.is_joined(&room, owner.user_id.as_str())).await;
    assert!(!bridge.hs.may_speak(&room, guest.user_id.as_str()), "closed before the owner went");
    assert_eq!(guest.me().await.unwrap().rooms.len(), 2, "it stays readable");
    assert_eq!(
        code(guest.enter(&made.access.room.catalog_id.to_string(), bridge.stranger()).await),
        Code::RoomNotFound
    );
}
