use parlour_domain::{
    ids::CatalogId,
    knock::{Outcome, Pass, Way},
    limits::{KNOCK_LIFE_MS, SUBMISSION_EFFORT_MS},
    quota::{DAY_MS, Rule},
};
use ruma::RoomId;

use super::fixture::{Fixture, OTHER_AGENT, ROOM, SCOUT_KEY, operator};
use crate::{Charge, NewCode, OpenRooms, RoomClaim, RoomClaimed, RoomRow};

const OPEN: OpenRooms = OpenRooms { of_one_agent: 2, overall: 3 };

fn claim(n: u8, at_ms: i64) -> RoomClaim {
    RoomClaim {
        catalog_id: CatalogId::new(0, [n; 10]),
        owner: SCOUT_KEY,
        name: format!("Den {n}"),
        claimed_at_ms: at_ms,
    }
}

fn charges(limit: u32) -> Vec<Charge> {
    vec![Charge { subject: "room-day:1".into(), rule: Rule::new(limit, DAY_MS) }]
}

fn new_code(n: u8) -> NewCode {
    NewCode { digest: [n; 32], sealed: vec![n; 9] }
}

fn claimed(store: &Fixture, claim: RoomClaim) -> RoomClaimed {
    store.write(move |tx| tx.claim_room(&claim, OPEN, &charges(9)))
}

fn made(store: &Fixture, n: u8) -> RoomRow {
    assert!(matches!(claimed(store, claim(n, 0)), RoomClaimed::New));
    settled(store, n, "!den:x").unwrap()
}

fn settled(store: &Fixture, n: u8, room_id: &'static str) -> Option<RoomRow> {
    let room_id = RoomId::parse(room_id).unwrap();
    let number = CatalogId::new(0, [n; 10]);
    store.write(move |tx| tx.settle_room_claim(number, &room_id, &new_code(n), 7)).map(|(row, _)| row)
}

#[test]
fn a_claim_is_one_until_it_is_settled_or_taken_back() {
    let store = Fixture::new();
    assert!(matches!(claimed(&store, claim(10, 0)), RoomClaimed::New));
    let again = RoomClaim { catalog_id: CatalogId::new(0, [11; 10]), ..claim(10, 5) };
    assert_eq!(claimed(&store, again), RoomClaimed::Before(claim(10, 0)));
    let row = settled(&store, 10, "!den:x").unwrap();
    assert_eq!((row.owner, row.encrypted, row.state_read, row.closed), (Some(SCOUT_KEY), true, true, false));
    assert_eq!(settled(&store, 10, "!den:x"), Some(row), "told twice");
    assert_eq!(settled(&store, 10, "!twin:x"), None, "made twice");
    assert_eq!(settled(&store, 12, "!other:x"), None, "asked for by nobody");
    assert_eq!(store.read(|r| r.seats()).len(), 1);
}

#[test]
fn open_rooms_are_counted_with_those_being_made() {
    let store = Fixture::new();
    made(&store, 10);
    assert!(matches!(claimed(&store, claim(11, 0)), RoomClaimed::New));
    assert_eq!(claimed(&store, claim(12, 1)), RoomClaimed::TooMany);
    let later = SUBMISSION_EFFORT_MS + 1;
    assert!(matches!(claimed(&store, claim(12, later)), RoomClaimed::New), "nobody came back for the other");
    let other = RoomClaim { owner: OTHER_AGENT, ..claim(13, later) };
    assert!(matches!(claimed(&store, other), RoomClaimed::New));
    let full = RoomClaim { owner: OTHER_AGENT, ..claim(14, later) };
    assert_eq!(claimed(&store, full), RoomClaimed::Full);
    store.write(|tx| tx.close_rooms_of(SCOUT_KEY, &operator(9)));
    assert!(matches!(claimed(&store, claim(15, later)), RoomClaimed::New));
}

#[test]
fn what_is_not_allowed_is_not_charged() {
    let store = Fixture::new();
    let try_it = |n: u8| store.write(move |tx| tx.claim_room(&claim(n, 0), OPEN, &charges(1)));
    assert!(matches!(try_it(10), RoomClaimed::New));
    assert!(matches!(try_it(11), RoomClaimed::Overdrawn(_)));
    store.write(|tx| tx.room_not_made(CatalogId::new(0, [10; 10])));
    assert_eq!(store.read(|r| r.room_claim(CatalogId::new(0, [10; 10]))), None);
}

#[test]
fn a_code_opens_one_room_until_replaced_dropped_or_closed() {
    let store = Fixture::new();
    let room = made(&store, 10).room.key;
    let opens = |n: u8| store.write(move |tx| tx.room_of_code(&[n; 32]));
    assert_eq!(opens(10), Some((room, 1)));
    store.write(move |tx| tx.put_code(room, &new_code(20), &operator(8)));
    assert_eq!((opens(10), opens(20)), (None, Some((room, 2))));
    assert_eq!(store.read(move |r| r.room_code(room)).unwrap().sealed, Some(vec![20; 9]));
    store.write(move |tx| tx.drop_code(room, &operator(8)));
    assert_eq!((opens(20), store.read(move |r| r.room_code(room))), (None, None));
    store.write(move |tx| tx.put_code(room, &new_code(21), &operator(8)));
    assert_eq!(opens(21), Some((room, 3)));
    store.write(move |tx| tx.close_room(room, &operator(9)));
    assert_eq!(opens(21), None);
    assert!(store.reopened().read(|r| r.rooms()).last().unwrap().closed);
}

#[test]
fn a_removal_remembers_the_code_of_its_time() {
    let store = Fixture::new();
    let room = made(&store, 10).room.key;
    let pass = || store.read(move |r| r.pass(OTHER_AGENT, room));
    assert_eq!(pass(), None);
    store.write(move |tx| tx.let_in(OTHER_AGENT, room, Way::Code, &operator(1)));
    assert_eq!(pass(), Some(Pass { way: Way::Code, removed_at_code: None }));
    store.write(move |tx| {
        tx.put_out(OTHER_AGENT, room, false, &operator(1))?;
        tx.put_code(room, &new_code(11), &operator(1))?;
        // told of once more by the event of the kick
        tx.put_out(OTHER_AGENT, room, false, &operator(1))
    });
    assert_eq!(pass(), Some(Pass { way: Way::Code, removed_at_code: Some(1) }));
    assert!(!store.write(move |tx| tx.may_sit(OTHER_AGENT, room)));
    assert!(store.write(|tx| tx.may_sit(OTHER_AGENT, ROOM)), "lobbies are open");
    store.write(move |tx| tx.let_in(OTHER_AGENT, room, Way::Knock, &operator(2)));
    assert_eq!(pass(), Some(Pass { way: Way::Knock, removed_at_code: None }));
    store.write(move |tx| tx.let_in(SCOUT_KEY, room, Way::Invite, &operator(3)));
    assert_eq!(store.read(move |r| r.pass(SCOUT_KEY, room)).unwrap().way, Way::Owner, "an owner stays one");
}

#[test]
fn knocks_are_kept_answered_and_told() {
    let store = Fixture::new();
    let room = made(&store, 10).room.key;
    let knock = |at: i64| store.write(move |tx| tx.knock(OTHER_AGENT, room, 1, at));
    assert!(matches!(knock(5), Outcome::Waits { news: true, .. }));
    store.write(move |tx| tx.knocks_told(&[(room, OTHER_AGENT)]));
    assert!(matches!(knock(6), Outcome::Waits { news: false, .. }));
    let open = store.read(|r| r.open_knocks());
    assert_eq!((open.len(), open[0].knock.at_ms, open[0].told), (1, 6, true));
    assert!(matches!(store.write(move |tx| tx.door(room, 1, 7)), Outcome::Full(_)));
    let late = 6 + KNOCK_LIFE_MS;
    assert!(!store.write(move |tx| tx.decline_knock(OTHER_AGENT, room, &operator(late))), "lapsed");
    assert!(matches!(knock(late), Outcome::Waits { news: true, .. }));
    assert!(!store.read(|r| r.open_knocks())[0].told, "news again");
    assert!(store.write(move |tx| tx.decline_knock(OTHER_AGENT, room, &operator(late))));
    assert!(matches!(knock(late + 1), Outcome::Declined(_)));
    assert_eq!(store.read(move |r| r.knocks_of(OTHER_AGENT, late - 1)).len(), 1);
    store.write(|tx| tx.forget_knocks(OTHER_AGENT));
    assert_eq!(store.read(move |r| r.knocks_of(OTHER_AGENT, 0)), []);
}

#[test]
fn a_moved_room_keeps_its_number_log_and_code_but_not_its_state() {
    let store = Fixture::new();
    let before = made(&store, 10);
    let room = before.room.key;
    let to = RoomId::parse("!new:x").unwrap();
    let moved = store.write(move |tx| tx.move_room(room, &to));
    assert_eq!((moved.room.catalog_id, moved.room.room_id.as_str()), (before.room.catalog_id, "!new:x"));
    assert_eq!((moved.encrypted, moved.state_read, moved.power), (false, false, None));
    assert_eq!(store.write(|tx| tx.room_of_code(&[10; 32])), Some((room, 1)));
    assert_eq!(store.read(|r| r.seats()).len(), 1);
}
