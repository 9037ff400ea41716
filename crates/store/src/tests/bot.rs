//! What the bridge bot is told and says, and what is left of it once it is gone.

use parlour_domain::{
    ids::{AgentId, CatalogId, MessageId},
    knock::{Answer, Status},
};
use ruma::{OwnedEventId, owned_event_id, owned_user_id, user_id};

use super::fixture::{Fixture, ROOM, SCOUT_KEY, operator};
use crate::{NewCode, NewErrand, NewSaying, PersonKnock, Sealed};

fn errand(event_id: OwnedEventId) -> NewErrand {
    NewErrand { room: ROOM, event_id, sender: owned_user_id!("@ada:x"), what: "{}".to_owned() }
}

fn saying(n: u8) -> NewSaying {
    NewSaying {
        mark: MessageId::new(0, [n; 10]),
        room: ROOM,
        event_type: "m.room.message".to_owned(),
        content: vec![n],
        only_for: None,
        made_at_ms: i64::from(n),
    }
}

#[test]
fn an_event_is_an_errand_once() {
    let store = Fixture::new();
    assert!(store.write(|tx| tx.put_errand(&errand(owned_event_id!("$1")))));
    assert!(!store.write(|tx| tx.put_errand(&errand(owned_event_id!("$1")))), "while it is open");
    store.write(|tx| tx.put_errand(&errand(owned_event_id!("$2"))));
    let first = store.read(|r| r.next_errand(ROOM)).unwrap();
    assert_eq!((first.event_id.as_str(), store.read(|r| r.errand_rooms())), ("$1", vec![ROOM]));
    store.write(move |tx| tx.errand_done(first.id));
    assert!(!store.write(|tx| tx.put_errand(&errand(owned_event_id!("$1")))), "and after it is done");
    assert_eq!(store.read(|r| r.next_errand(ROOM)).unwrap().event_id, "$2");
    assert!(store.read(|r| r.had(&owned_event_id!("$1"))), "it counts as had");
    assert!(
        store.read(|r| r.knows_of_bot(user_id!("@ada:x")))
            && !store.read(|r| r.knows_of_bot(user_id!("@bob:x")))
    );
}

#[test]
fn sayings_keep_their_order_and_their_bytes() {
    let store = Fixture::new();
    store.write(|tx| [1, 2, 1].into_iter().try_for_each(|n| tx.put_saying(&saying(n))));
    let first = store.read(|r| r.next_saying(ROOM)).unwrap();
    assert_eq!((first.mark, first.tried, &first.encrypted), (saying(1).mark, false, &None));
    let sealed = Sealed { content: "{}".to_owned(), digest: [7; 32] };
    let (id, kept) = (first.id, sealed.clone());
    store.write(move |tx| tx.saying_tried(id, Some(&kept)));
    let store = store.reopened();
    let first = store.read(|r| r.next_saying(ROOM)).unwrap();
    assert_eq!((first.tried, first.encrypted.as_ref()), (true, Some(&sealed)));
    store.write(move |tx| tx.saying_sent(&first, &owned_event_id!("$said")));
    assert_eq!(store.read(|r| r.next_saying(ROOM)).unwrap().mark, saying(2).mark);
}

/// What an old database's devices encrypted is encrypted anew, and still known by its digest.
#[test]
fn spoiled_sayings_keep_their_digest_and_whom_they_are_for() {
    let store = Fixture::new();
    let letter = NewSaying { only_for: Some(owned_user_id!("@ada:x")), ..saying(1) };
    store.write(move |tx| tx.put_saying(&letter));
    let id = store.read(|r| r.next_saying(ROOM)).unwrap().id;
    let sealed = Sealed { content: "{}".to_owned(), digest: [7; 32] };
    store.write(move |tx| tx.saying_tried(id, Some(&sealed)));
    store.write(|tx| tx.doubt_sayings());
    let first = store.read(|r| r.next_saying(ROOM)).unwrap();
    assert_eq!(first.encrypted, Some(Sealed { content: String::new(), digest: [7; 32] }));
    assert_eq!(first.only_for, Some(owned_user_id!("@ada:x")));
}

#[test]
fn a_notice_is_known_by_its_event_and_goes_with_what_is_not_said() {
    let store = Fixture::new();
    store.write(|tx| tx.knock(SCOUT_KEY, ROOM, 5, 10));
    store.write(|tx| {
        tx.put_door_notice(ROOM, SCOUT_KEY, saying(1).mark)?;
        tx.put_saying(&saying(1))
    });
    let first = store.read(|r| r.next_saying(ROOM)).unwrap();
    assert_eq!(store.read(|r| r.door_notices())[0].event_id, None);
    store.write(move |tx| tx.saying_sent(&first, &owned_event_id!("$notice")));
    store.write(|tx| tx.door_decided(ROOM, SCOUT_KEY, user_id!("@ada:x")));
    let notice = store.read(|r| r.door_notice(&owned_event_id!("$notice"))).unwrap();
    assert_eq!(notice.decided_by.as_deref(), Some(user_id!("@ada:x")));
    assert_eq!(notice.knock.map(|k| k.status(11)), Some(Status::Waiting));
    store.write(|tx| tx.forget_knocks(SCOUT_KEY));
    assert_eq!(store.read(|r| r.door_notices())[0].knock, None, "taken back");

    store.write(|tx| {
        tx.put_door_notice(ROOM, SCOUT_KEY, saying(2).mark)?;
        tx.put_saying(&saying(2))
    });
    let refused = store.read(|r| r.next_saying(ROOM)).unwrap();
    store.write(move |tx| tx.saying_refused(&refused));
    assert_eq!(store.read(|r| r.door_notices()), vec![]);
}

#[test]
fn when_the_bot_is_gone_nothing_opens_the_room() {
    let store = Fixture::new();
    let enters = || store.write(|tx| tx.put_bot_room(ROOM, false, &operator(1)));
    assert!(enters() && !enters());
    store.write(|tx| tx.put_code(ROOM, &NewCode { digest: [1; 32], sealed: vec![1] }, &operator(2)));
    store.write(|tx| tx.knock(SCOUT_KEY, ROOM, 5, 10));
    store.write(|tx| tx.put_letter(user_id!("@ada:x"), ROOM, 1));
    store.write(|tx| tx.put_errand(&errand(owned_event_id!("$1"))));
    store.write(|tx| tx.drop_bot_room(ROOM, &operator(3)));
    assert_eq!(store.write(|tx| tx.room_of_code(&[1; 32])), None);
    assert_eq!(
        store.read(|r| Ok((r.open_knocks()?, r.letters()?, r.bot_rooms()?))),
        (vec![], vec![], vec![])
    );
    assert_eq!(store.read(|r| r.next_errand(ROOM)), None);
}

#[test]
fn a_chat_is_claimed_once_and_found_by_its_number() {
    let store = Fixture::new();
    let (ada, number) = (user_id!("@ada:x"), |n: u8| CatalogId::new(0, [n; 10]));
    assert_eq!(store.write(move |tx| tx.claim_chat(ada, number(1))).catalog_id, number(1));
    assert_eq!(
        store.write(move |tx| tx.claim_chat(ada, number(2))).catalog_id,
        number(1),
        "the one there is"
    );
    let room = ruma::room_id!("!chat:x");
    assert_eq!(store.write(move |tx| tx.settle_chat(number(2), room)), None, "asked for by nobody");
    assert_eq!(
        store.write(move |tx| tx.settle_chat(number(1), room)).unwrap().room_id.as_deref(),
        Some(room)
    );
    store.write(move |tx| tx.drop_chat(ada));
    assert_eq!(store.read(move |r| r.chat_with(ada)), None);
}

#[test]
fn a_person_knocks_once_at_a_time() {
    let store = Fixture::new();
    let knock = |n: u8, at_ms| PersonKnock {
        room: ROOM,
        user_id: owned_user_id!("@ada:x"),
        id: AgentId::new(0, [n; 10]),
        at_ms,
        told: false,
    };
    store.write(move |tx| tx.put_person_knock(&knock(1, 5)));
    store.write(move |tx| tx.person_knocks_told(&[knock(1, 5).id]));
    assert!(store.read(|r| r.person_knocks())[0].told);
    store.write(move |tx| tx.put_person_knock(&knock(2, 9)));
    assert_eq!(store.read(|r| r.person_knocks()), vec![knock(2, 9)], "the later one is news again");
    store.write(|tx| tx.answer_person_knock(ROOM, user_id!("@ada:x"), Answer::None, &operator(10)));
    assert_eq!(store.read(|r| r.person_knocks()), vec![]);
}
