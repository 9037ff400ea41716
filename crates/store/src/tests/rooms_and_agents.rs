use parlour_domain::{ids::CatalogId, room::RoomKind, visibility::Visibility};
use ruma::{RoomId, UserId};

use super::fixture::{Fixture, OTHER_AGENT, ROOM, SCOUT, SCOUT_KEY, new_agent, operator};
use crate::{AgentState, Member, NewRoom, RoomRow};

fn put(
    store: &Fixture,
    room_id: &'static str,
    n: u8,
    slug: Option<&'static str>,
    name: Option<&'static str>,
) -> RoomRow {
    store.write(move |tx| {
        let room_id = RoomId::parse(room_id).unwrap();
        let catalog_id = CatalogId::new(0, [n; 10]);
        tx.put_room(&NewRoom {
            room_id: &room_id,
            catalog_id,
            kind: RoomKind::Lobby,
            slug,
            name,
            created_at_ms: 0,
        })
    })
}

#[test]
fn a_room_is_one_however_often_it_is_put_and_its_number_stays() {
    let store = Fixture::new();
    let first = put(&store, "!a:x", 10, Some("main"), Some("Main"));
    let again = put(&store, "!a:x", 11, Some("main"), None);
    assert_eq!(first, again);
    assert_eq!(store.read(|r| r.rooms()).len(), 3);
}

#[test]
fn a_slug_moves_to_the_room_that_the_alias_names_now() {
    let store = Fixture::new();
    put(&store, "!a:x", 10, Some("main"), None);
    let moved = put(&store, "!b:x", 11, Some("main"), None);
    assert_eq!(moved.slug.as_deref(), Some("main"));
    let slugs: Vec<_> = store.read(|r| r.rooms()).into_iter().filter_map(|r| r.slug).collect();
    assert_eq!(slugs, ["main"]);
}

#[test]
fn what_is_set_of_a_room_is_kept() {
    let store = Fixture::new();
    store.write(|tx| {
        tx.set_room_name(ROOM, None, None)?;
        tx.set_room_visibility(ROOM, Visibility::Joined)?;
        tx.set_room_power(ROOM, "{}")?;
        tx.set_room_open(ROOM, true)?;
        tx.set_room_encrypted(ROOM)
    });
    let store = store.reopened();
    let room = store.read(|r| r.rooms()).remove(0);
    assert_eq!(
        (room.room.name, room.visibility, room.power.as_deref()),
        (None, Visibility::Joined, Some("{}"))
    );
    assert!(room.encrypted && room.open);
}

#[test]
fn a_members_last_state_counts() {
    let store = Fixture::new();
    let member = |membership: &str, name: Option<&str>| Member {
        user_id: UserId::parse("@ada:x").unwrap(),
        membership: membership.into(),
        display_name: name.map(Into::into),
        avatar_url: None,
    };
    for state in [member("join", Some("Ada")), member("leave", None)] {
        store.write(move |tx| tx.put_member(ROOM, &state));
    }
    assert_eq!(store.read(|r| r.members(ROOM)), [member("leave", None)]);
}

#[test]
fn an_agent_goes_from_joining_to_gone_and_its_row_stays() {
    let store = Fixture::new();
    let state = || store.read(|r| r.agent_of(&UserId::parse(SCOUT).unwrap())).unwrap();
    assert_eq!((state().state, state().token_digest), (AgentState::Joining, Some([1; 32])));
    store.write(|tx| {
        tx.agent_is_live(SCOUT_KEY, 6)?;
        tx.seat_confirmed(SCOUT_KEY, ROOM)
    });
    assert_eq!(state().state, AgentState::Live);
    store.write(|tx| tx.agent_leaves(SCOUT_KEY, &operator(9)));
    assert_eq!((state().state, state().token_digest), (AgentState::Leaving, None));
    store.write(|tx| tx.agent_is_gone(SCOUT_KEY));
    assert_eq!(state().state, AgentState::Gone);
    assert_eq!(store.read(|r| r.agents()).iter().map(|a| a.agent.key).collect::<Vec<_>>(), [OTHER_AGENT]);
    assert!(store.read(|r| r.seats()).is_empty());
    assert!(
        store.try_write(|tx| tx.add_agent(&new_agent(9, SCOUT))).is_err(),
        "its Matrix id is never used again"
    );
}

#[test]
fn a_name_is_free_again_once_the_token_is_void() {
    let store = Fixture::new();
    let same_name = || crate::NewAgent { number: 1, ..new_agent(3, "@agent_third:x") };
    assert!(store.try_write(move |tx| tx.add_agent(&same_name())).is_err());
    store.write(|tx| tx.agent_leaves(SCOUT_KEY, &operator(9)));
    store.write(move |tx| tx.add_agent(&same_name()));
}

#[test]
fn the_last_call_never_goes_back_and_mentions_are_replaced() {
    let store = Fixture::new();
    let ada = vec![UserId::parse("@ada:x").unwrap()];
    let mentions = ada.clone();
    store.write(move |tx| {
        tx.set_last_call(SCOUT_KEY, 50)?;
        tx.set_last_call(SCOUT_KEY, 40)?;
        tx.set_last_mentions(SCOUT_KEY, &mentions)
    });
    let agent = store.read(|r| r.agents()).remove(0);
    assert_eq!((agent.last_call_ms, agent.last_mentions), (50, ada));
}

#[test]
fn small_facts_are_kept_and_replaced() {
    let store = Fixture::new();
    store.write(|tx| {
        tx.set_meta("run", b"1")?;
        tx.set_meta("run", b"2")
    });
    let store = store.reopened();
    assert_eq!(store.read(|r| r.meta("run")).as_deref(), Some(&b"2"[..]));
    assert_eq!(store.read(|r| r.meta("none")), None);
}
