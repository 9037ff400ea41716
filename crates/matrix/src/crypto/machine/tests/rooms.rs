//! Talking in a room.

use super::*;

const MEMBERS: [&str; 3] = ["@agent_ada:x", "@agent_bo:x", "@pat:x"];

#[tokio::test]
async fn a_puppet_and_a_person_read_each_other_without_a_shield() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.share_with(&mut pat, &ada).await;
    world.prepare(&mut ada, &MEMBERS).await;
    let hello = world.say(&mut ada, "hello").await;
    assert!(!hello.get().contains("hello"));
    assert_eq!(world.receive(&mut pat).await.room_keys.len(), 1);
    let got = pat.decrypt(&hello, room()).await.unwrap();
    assert_eq!((body(&got).as_str(), got.trust), ("hello", SenderTrust::CrossSigned));
    assert_eq!((got.sender_device.as_deref(), got.message_index), (Some(ada.device_id()), 0));

    // the other way
    let answer = world.say(&mut pat, "and hello to you").await;
    assert!(matches!(ada.decrypt(&answer, room()).await, Err(Undecryptable::MissingKey { withheld: None })));
    assert!(!ada.can_read(&answer, room()).await.unwrap());
    let keys = world.receive(&mut ada).await.room_keys;
    assert_eq!((keys.len(), &*keys[0].room_id), (1, room()));
    let got = ada.decrypt(&answer, room()).await.unwrap();
    assert_eq!((body(&got).as_str(), got.trust), ("and hello to you", SenderTrust::CrossSigned));
    assert_eq!(keys[0].session_id, got.session_id);
    assert!(ada.can_read(&answer, room()).await.unwrap());
}

#[tokio::test]
async fn keys_go_to_people_only_and_only_when_something_changed() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    world.signed("@agent_bo:x", "B").await;
    world.signed("@pat:x", "P").await;
    world.prepare(&mut ada, &MEMBERS).await;
    assert_eq!(world.server.receivers(), ["@pat:x"]);

    let calls = world.server.calls.len();
    world.prepare(&mut ada, &MEMBERS).await;
    assert_eq!(world.server.calls.len(), calls, "nothing changed");

    world.signed("@quinn:x", "Q").await;
    let calls = world.server.calls.len();
    world.prepare(&mut ada, &["@agent_ada:x", "@pat:x", "@quinn:x"]).await;
    assert_eq!(world.server.calls[calls..], ["query", "claim", "to-device"]);
    assert_eq!(world.server.receivers(), ["@pat:x", "@quinn:x"]);
}

#[tokio::test]
async fn a_new_device_gets_the_key_before_the_next_message() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut first = world.signed("@pat:x", "P1").await;
    world.prepare(&mut ada, &MEMBERS).await;
    world.say(&mut ada, "one").await;

    let mut second = world.unsigned("@pat:x", "P2").await;
    let changed = vec![user_id!("@pat:x").to_owned(), user_id!("@stranger:x").to_owned()];
    let received = ada.receive(DeviceNews { changed, ..DeviceNews::default() }).await.unwrap();
    assert!(!received.nothing_new);
    assert!(!ada.is_prepared(room()));
    let content = to_raw_value(&json!({"body": "two"})).unwrap();
    let early = ada.encrypt(room(), "m.room.message", &content).await;
    assert!(matches!(early, Err(CryptoError::NotPrepared)));
    world.prepare(&mut ada, &MEMBERS).await;
    let two = world.say(&mut ada, "two").await;
    for machine in [&mut first, &mut second] {
        world.receive(machine).await;
        assert_eq!(body(&machine.decrypt(&two, room()).await.unwrap()), "two");
    }
}

#[tokio::test]
async fn after_a_gap_everybody_is_asked_for_anew() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    world.signed("@pat:x", "P1").await;
    world.prepare(&mut ada, &MEMBERS).await;
    let mut second = world.signed("@pat:x", "P2").await;
    world.prepare(&mut ada, &MEMBERS).await;
    assert!(world.receive(&mut second).await.room_keys.is_empty(), "nobody told us of it");
    ada.recheck_people().await.unwrap();
    assert!(!ada.is_prepared(room()));
    world.prepare(&mut ada, &MEMBERS).await;
    assert_eq!(world.receive(&mut second).await.room_keys.len(), 1);
}

#[tokio::test]
async fn who_left_reads_no_more() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    let mut quinn = world.signed("@quinn:x", "Q").await;
    world.prepare(&mut ada, &["@pat:x", "@quinn:x"]).await;
    let one = world.say(&mut ada, "one").await;
    world.prepare(&mut ada, &["@pat:x"]).await;
    let two = world.say(&mut ada, "two").await;
    world.receive(&mut pat).await;
    world.receive(&mut quinn).await;
    assert_eq!(body(&quinn.decrypt(&one, room()).await.unwrap()), "one");
    assert!(matches!(quinn.decrypt(&two, room()).await, Err(Undecryptable::MissingKey { .. })));
    assert_eq!(body(&pat.decrypt(&two, room()).await.unwrap()), "two");
}

#[tokio::test]
async fn with_trust_in_signed_devices_only_the_others_get_word_but_no_key() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    let mut odd = world.unsigned("@odd:x", "O").await;
    let strict = Sharing { trust: Trust::CrossSigned, ..sharing() };
    world.prepare_as(&mut ada, &["@pat:x", "@odd:x"], strict).await;
    let words = world.say(&mut ada, "words").await;
    world.receive(&mut pat).await;
    world.receive(&mut odd).await;
    assert_eq!(body(&pat.decrypt(&words, room()).await.unwrap()), "words");
    let refused = odd.decrypt(&words, room()).await.unwrap_err();
    assert!(
        matches!(&refused, Undecryptable::MissingKey { withheld: Some(code) } if code.contains("unverified")
        || code.contains("signed")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn senders_are_told_apart_once_their_devices_were_asked_for() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    let mut odd = world.unsigned("@odd:x", "O").await;
    let mut said = vec![];
    for person in [&mut pat, &mut odd] {
        world.share_with(person, &ada).await;
        said.push(world.say(person, "words").await);
    }
    world.receive(&mut ada).await;
    let trust = async |ada: &Machine, event: &RawValue| ada.decrypt(event, room()).await.unwrap().trust;
    assert_eq!(trust(&ada, &said[0]).await, SenderTrust::UnsignedDevice, "not known any better");
    ada.track([user_id!("@pat:x"), user_id!("@odd:x")]).await.unwrap();
    world.settle(&mut ada).await;
    assert_eq!(trust(&ada, &said[0]).await, SenderTrust::CrossSigned);
    assert_eq!(trust(&ada, &said[1]).await, SenderTrust::UnsignedDevice);
    let ada = world.reopen(ada).await;
    assert_eq!(trust(&ada, &said[0]).await, SenderTrust::CrossSigned, "and that is kept");
}

#[tokio::test]
async fn a_key_lasts_as_many_messages_as_the_room_says() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    let state =
        to_raw_value(&json!({"algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 2})).unwrap();
    let two = Sharing::of_room(&state, Visibility::Joined, Trust::All).unwrap();
    let mut said = vec![];
    for text in ["1", "2", "3"] {
        world.prepare_as(&mut ada, &["@pat:x"], two.clone()).await;
        said.push(world.say(&mut ada, text).await);
    }
    world.prepare_as(&mut ada, &["@pat:x"], two.clone()).await;
    said.push(world.say(&mut ada, "4").await);
    assert!(!ada.is_prepared(room()), "two messages are over");
    let content = to_raw_value(&json!({"body": "5"})).unwrap();
    assert!(matches!(ada.encrypt(room(), "m.room.message", &content).await, Err(CryptoError::NotPrepared)));
    assert_eq!(world.receive(&mut pat).await.room_keys.len(), 2);
    for (event, text) in said.iter().zip(["1", "2", "3", "4"]) {
        assert_eq!(body(&pat.decrypt(event, room()).await.unwrap()), text);
    }
    let other = to_raw_value(&json!({"algorithm": "org.example.rot13"})).unwrap();
    let refused = Sharing::of_room(&other, Visibility::Shared, Trust::All);
    assert!(matches!(refused, Err(CryptoError::Algorithm)));
}

#[tokio::test]
async fn a_room_of_puppets_alone_needs_no_sharing() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let calls = world.server.calls.len();
    world.prepare(&mut ada, &["@agent_ada:x", "@agent_bo:x"]).await;
    assert_eq!(world.server.calls.len(), calls);
    let own = world.say(&mut ada, "to whom").await;
    assert_eq!(body(&ada.decrypt(&own, room()).await.unwrap()), "to whom");
}
