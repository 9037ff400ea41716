//! State in every shape.

use parlour_domain::visibility::Visibility;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn state(event_type: &str, state_key: &str, content: Value) -> Incoming {
    let mut event = event(event_type, content);
    event["state_key"] = state_key.into();
    parse(&event)
}

fn changed(event_type: &str, state_key: &str, content: Value) -> StateChange {
    match state(event_type, state_key, content) {
        Incoming::State(event) => event.change,
        other => panic!("no state: {other:?}"),
    }
}

#[rstest]
#[case("join", Membership::Join)]
#[case("invite", Membership::Invite)]
#[case("leave", Membership::Leave)]
#[case("ban", Membership::Ban)]
#[case("knock", Membership::Knock)]
fn members(#[case] text: &str, #[case] membership: Membership) {
    let content = json!({"membership": text, "displayname": "Bob\u{0}", "avatar_url": ""});
    let StateChange::Member(got) = changed("m.room.member", "@bob:x", content) else { panic!() };
    assert_eq!((got.user.as_str(), got.membership), ("@bob:x", membership));
    assert_eq!((got.display_name.as_deref(), got.avatar_url), (Some("Bob\u{fffd}"), None));
}

#[rstest]
#[case("m.room.history_visibility", json!({"history_visibility": "joined"}),
    StateChange::HistoryVisibility(Visibility::Joined))]
#[case("m.room.history_visibility", json!({}), StateChange::HistoryVisibility(Visibility::Shared))]
#[case("m.room.name", json!({"name": "Lobby"}), StateChange::Name(Some("Lobby".into())))]
#[case("m.room.name", json!({"name": " "}), StateChange::Name(None))]
#[case("m.room.name", json!({}), StateChange::Name(None))]
#[case("m.room.encryption", json!({"algorithm": "m.megolm.v1.aes-sha2"}), StateChange::Encryption { algorithm: "m.megolm.v1.aes-sha2".into() })]
#[case("m.room.encryption", json!({}), StateChange::Encryption { algorithm: String::new() })]
#[case("m.room.join_rules", json!({"join_rule": "knock"}), StateChange::JoinRule("knock".into()))]
#[case("m.room.canonical_alias", json!({"alias": "#a:x"}), StateChange::CanonicalAlias)]
#[case("m.room.tombstone", json!({"replacement_room": "!new:x"}), StateChange::Tombstone { replacement: Some(ruma::owned_room_id!("!new:x")) })]
#[case("m.room.tombstone", json!({"replacement_room": 7}), StateChange::Tombstone { replacement: None })]
#[case("m.room.topic", json!({"topic": "x"}), StateChange::Other)]
#[case("m.room.message", json!({"body": "x"}), StateChange::Other)]
fn state_of_the_room(#[case] event_type: &str, #[case] content: Value, #[case] change: StateChange) {
    assert_eq!(changed(event_type, "", content), change);
}

#[test]
fn state_under_another_key_is_not_the_rooms() {
    let content = json!({"history_visibility": "world_readable"});
    assert_eq!(changed("m.room.history_visibility", "x", content), StateChange::Other);
}

#[rstest]
#[case::version_12(json!({"room_version": "12", "additional_creators": ["@bob:x", 7]}), "12", &["@ada:x", "@bob:x"])]
#[case::version_10(json!({"room_version": "10", "creator": "@ada:x", "additional_creators": ["@bob:x"]}), "10", &["@ada:x"])]
#[case::unsaid(json!({}), "1", &["@ada:x"])]
fn beginnings(#[case] content: Value, #[case] version: &str, #[case] creators: &[&str]) {
    let StateChange::Create(got) = changed("m.room.create", "", content) else { panic!() };
    assert_eq!((got.room_version.as_str(), got.predecessor, got.room_type), (version, None, None));
    assert_eq!(got.creators, creators);
}

#[test]
fn where_a_room_came_from_and_what_it_is() {
    let content = json!({"type": "m.space", "predecessor": {"room_id": "!old:x", "event_id": "$z"}});
    let StateChange::Create(got) = changed("m.room.create", "", content) else { panic!() };
    assert_eq!((got.room_type.as_deref(), got.predecessor.unwrap().as_str()), (Some("m.space"), "!old:x"));
}

#[rstest]
#[case("m.room.member", "bob", json!({"membership": "join"}))]
#[case("m.room.member", "@bob:x", json!({"membership": "lurk"}))]
#[case("m.room.member", "@bob:x", json!({}))]
fn no_state(#[case] event_type: &str, #[case] state_key: &str, #[case] content: Value) {
    assert!(matches!(state(event_type, state_key, content), Incoming::Poison { event_id: Some(_), .. }));
}
