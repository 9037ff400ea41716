//! Each deed leaves one row, and says by whom, whom and where; what changes nothing leaves none.

use parlour_domain::{
    ids::{AgentId, CatalogId},
    knock::{Answer, Way},
    quota::{DAY_MS, HOUR_MS},
};
use ruma::{RoomId, owned_user_id, user_id};

use super::fixture::{Fixture, OTHER_AGENT, ROOM, SCOUT, SCOUT_KEY, operator};
use crate::{By, NewCode, OpenRooms, PersonKnock, RoomClaim, StoreError, Tx, Who};

/// A furnished store whose past is forgotten.
fn quiet() -> Fixture {
    let store = Fixture::new();
    store.write(|tx| tx.forget_audit(i64::MAX));
    store
}

/// `deed by whom/user where` of all rows, oldest first.
fn told(store: &Fixture) -> Vec<String> {
    let mut rows = store.read(|r| r.audit(0, 100));
    rows.reverse();
    let line = |row: &crate::AuditRow| {
        let by = [
            row.by_agent.as_ref().map(|a| a.display_name.clone()),
            row.by_user.as_ref().map(ToString::to_string),
        ];
        let by = by.into_iter().flatten().next();
        let whom =
            [row.agent.as_ref().map(|a| a.display_name.clone()), row.user.as_ref().map(ToString::to_string)];
        let parts = [
            Some(row.deed.as_str().to_owned()),
            Some(row.by.clone()),
            by,
            whom.into_iter().flatten().next().map(|whom| format!("-> {whom}")),
            row.room.as_ref().map(|room| format!("in {}", room.room_id)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(line).collect()
}

fn code(n: u8) -> NewCode {
    NewCode { digest: [n; 32], sealed: vec![n] }
}

fn ada(at_ms: i64) -> By {
    By { who: Who::User(owned_user_id!("@ada:x")), at_ms }
}

#[test]
fn agents_come_and_go() {
    let store = quiet();
    store.write(|tx| tx.agent_is_live(SCOUT_KEY, 6));
    store.write(|tx| tx.agent_leaves(SCOUT_KEY, &By { who: Who::Idle, at_ms: 7 }));
    store.write(|tx| tx.agent_leaves(SCOUT_KEY, &operator(8)));
    // its join came to nothing
    store.write(|tx| tx.agent_leaves(OTHER_AGENT, &By { who: Who::Bridge, at_ms: 9 }));
    assert_eq!(
        told(&store),
        ["agent_created agent Agent #0001 -> Agent #0001", "agent_ended idle -> Agent #0001",]
    );
}

#[test]
fn rooms_are_made_renamed_and_closed() {
    let store = quiet();
    let number = CatalogId::new(0, [7; 10]);
    let claim = RoomClaim { catalog_id: number, owner: SCOUT_KEY, name: "Den".into(), claimed_at_ms: 1 };
    let open = OpenRooms { of_one_agent: 9, overall: 9 };
    store.write(move |tx| tx.claim_room(&claim, open, &[]));
    let den = RoomId::parse("!den:x").unwrap();
    let room = store.write(move |tx| tx.settle_room_claim(number, &den, &code(1), 2)).unwrap().0.room.key;
    store.write(move |tx| tx.set_room_name(room, Some("Lair"), None));
    store.write(move |tx| tx.set_room_name(room, Some("Cave"), Some(&ada(3))));
    store.write(move |tx| tx.set_room_name(room, Some("Cave"), Some(&ada(4))));
    store.write(|tx| tx.close_rooms_of(SCOUT_KEY, &operator(5)));
    store.write(move |tx| tx.close_room(room, &operator(6)));
    assert_eq!(
        told(&store),
        [
            "room_made agent Agent #0001 in !den:x",
            "room_renamed person @ada:x in !den:x",
            "room_closed operator in !den:x",
        ]
    );
}

#[test]
fn lobbies_are_made_by_the_bridge() {
    assert_eq!(told(&Fixture::new()), ["room_made bridge in !one:x", "room_made bridge in !two:x"]);
}

#[test]
fn codes_are_made_replaced_shown_and_switched_off() {
    let store = quiet();
    store.write(|tx| tx.put_code(ROOM, &code(1), &ada(1)));
    store.write(|tx| tx.put_code(ROOM, &code(2), &ada(2)));
    for at_ms in [3, 4, 3 + HOUR_MS] {
        store.write(move |tx| tx.code_shown(ROOM, &ada(at_ms)));
    }
    // by its puppet it is the agent
    let scout = By { who: Who::User(SCOUT.try_into().unwrap()), at_ms: 5 };
    store.write(move |tx| tx.code_shown(ROOM, &scout));
    store.write(|tx| tx.drop_code(ROOM, &operator(6)));
    store.write(|tx| tx.drop_code(ROOM, &operator(7)));
    assert_eq!(
        told(&store),
        [
            "code_made person @ada:x in !one:x",
            "code_replaced person @ada:x in !one:x",
            "code_shown person @ada:x in !one:x",
            "code_shown person @ada:x in !one:x",
            "code_shown agent Agent #0001 in !one:x",
            "code_switched_off operator in !one:x",
        ]
    );
}

#[test]
fn entering_and_being_put_out() {
    let store = quiet();
    let scout = By { who: Who::Agent(SCOUT_KEY), at_ms: 1 };
    store.write(move |tx| tx.let_in(SCOUT_KEY, ROOM, Way::Code, &scout));
    store.write(|tx| tx.let_in(SCOUT_KEY, ROOM, Way::Invite, &ada(2)));
    store.write(|tx| tx.put_out(SCOUT_KEY, ROOM, false, &ada(3)));
    store.write(|tx| tx.put_out(SCOUT_KEY, ROOM, true, &ada(4)));
    store.write(|tx| tx.let_in(SCOUT_KEY, ROOM, Way::Invite, &ada(5)));
    store.write(|tx| tx.put_out(SCOUT_KEY, ROOM, true, &ada(6)));
    // in a lobby there is a seat and no pass
    store.write(|tx| tx.seat_taken(OTHER_AGENT, ROOM));
    store.write(|tx| tx.put_out(OTHER_AGENT, ROOM, false, &ada(7)));
    assert_eq!(
        told(&store),
        [
            "entered_by_code agent Agent #0001 -> Agent #0001 in !one:x",
            "member_removed person @ada:x -> Agent #0001 in !one:x",
            "entered_by_invitation person @ada:x -> Agent #0001 in !one:x",
            "member_banned person @ada:x -> Agent #0001 in !one:x",
            "member_removed person @ada:x -> Agent #0002 in !one:x",
        ]
    );
}

#[test]
fn knocks_of_agents_and_of_people() {
    let store = quiet();
    store.write(|tx| tx.knock(SCOUT_KEY, ROOM, 5, 1));
    store.write(|tx| tx.decline_knock(SCOUT_KEY, ROOM, &ada(2)));
    store.write(|tx| tx.turn_away(SCOUT_KEY, ROOM, &ada(3)));
    store.write(|tx| tx.let_in(OTHER_AGENT, ROOM, Way::Knock, &ada(4)));
    let knocks = |n: u8| PersonKnock {
        room: ROOM,
        user_id: owned_user_id!("@bob:x"),
        id: AgentId::new(0, [n; 10]),
        at_ms: 5,
        told: false,
    };
    for (n, answer) in [(1, Answer::Admitted), (2, Answer::Declined), (3, Answer::None)] {
        store.write(move |tx| tx.put_person_knock(&knocks(n)));
        store.write(move |tx| tx.answer_person_knock(ROOM, user_id!("@bob:x"), answer, &ada(6)));
        store.write(move |tx| tx.answer_person_knock(ROOM, user_id!("@bob:x"), answer, &ada(7)));
    }
    assert_eq!(
        told(&store),
        [
            "knock_declined person @ada:x -> Agent #0001 in !one:x",
            "knock_admitted person @ada:x -> Agent #0002 in !one:x",
            "knock_admitted person @ada:x -> @bob:x in !one:x",
            "knock_declined person @ada:x -> @bob:x in !one:x",
        ]
    );
}

#[test]
fn the_bot_comes_and_goes_and_its_chats_are_nobodys_business() {
    let store = quiet();
    store.write(|tx| tx.put_bot_room(ROOM, false, &ada(1)));
    store.write(|tx| tx.put_code(ROOM, &code(1), &ada(1)));
    store.write(|tx| tx.drop_bot_room(ROOM, &operator(2)));
    store.write(|tx| tx.drop_bot_room(ROOM, &ada(3)));
    store.write(|tx| tx.put_bot_room(ROOM, true, &ada(4)));
    store.write(|tx| tx.drop_bot_room(ROOM, &ada(5)));
    assert_eq!(
        told(&store),
        [
            "bot_entered person @ada:x in !one:x",
            "code_made person @ada:x in !one:x",
            "bot_left operator in !one:x",
        ]
    );
}

#[test]
fn a_deed_that_is_undone_leaves_no_row() {
    let store = quiet();
    let undone = store.try_write(|tx: &Tx<'_>| {
        tx.close_room(ROOM, &operator(1))?;
        Err::<(), _>(StoreError::Corrupt("on purpose".into()))
    });
    assert!(undone.is_err());
    assert_eq!(told(&store), Vec::<String>::new());
}

#[test]
fn rows_go_after_ninety_days_and_are_read_newest_first() {
    let store = quiet();
    for day in [0, 50, 100] {
        store.write(move |tx| tx.put_code(ROOM, &code(1), &operator(1 + day * DAY_MS)));
    }
    let days = |since: i64, limit| {
        let rows = store.read(move |r| r.audit(since, limit));
        rows.into_iter().map(|row| (row.at_ms - 1) / DAY_MS).collect::<Vec<_>>()
    };
    assert_eq!(
        (days(0, 9), days(0, 2), days(2 * DAY_MS, 9)),
        (vec![100, 50, 0], vec![100, 50], vec![100, 50])
    );
    assert_eq!(store.write(|tx| tx.forget_audit(1 + 100 * DAY_MS)), 1);
    assert_eq!(days(0, 9), [100, 50]);
}

#[test]
fn there_are_never_more_than_so_many() {
    let store = quiet();
    store.write(|tx| {
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200005)
            INSERT INTO audit (at_ms, deed, by_kind) SELECT 1000 + i, 'room_closed', 'operator' FROM n";
        tx.0.execute(many, [])?;
        tx.forget_audit(2_000)
    });
    assert_eq!(store.read(|r| r.audit(0, u32::MAX)).len(), 200_000);
}
