//! Drained keys, failed commits, odd input.

use super::*;
use crate::crypto::{Call, KeyCounts};

fn counts(one_time_keys: u64) -> DeviceNews {
    let counts = Some(KeyCounts { one_time_keys, fallback_unused: Some(true) });
    DeviceNews { counts, ..DeviceNews::default() }
}

#[tokio::test]
async fn new_keys_come_when_few_are_left_and_the_same_count_costs_nothing() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    for left in [5, 4, 3] {
        ada.receive(counts(left)).await.unwrap();
        assert!(ada.outgoing().await.unwrap().is_empty(), "{left} are enough");
    }
    assert!(ada.receive(counts(3)).await.unwrap().nothing_new);
    assert_eq!(ada.counts().map(|c| c.one_time_keys), Some(3));
    world.commit(&mut ada);
    ada.receive(counts(0)).await.unwrap();
    let upload = ada.outgoing().await.unwrap();
    let Call::KeysUpload(keys) = &upload[0].call else { panic!("{upload:?}") };
    let keys: Value = serde_json::from_str(keys.get()).unwrap();
    assert_eq!(keys["one_time_keys"].as_object().unwrap().len(), 5);
    assert!(keys.get("device_keys").is_none());
}

#[tokio::test]
async fn with_all_one_time_keys_gone_the_fallback_key_still_lets_people_in() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut said = vec![];
    for n in 0..8 {
        let mut person = world.signed(&format!("@p{n}:x"), "P").await;
        world.share_with(&mut person, &ada).await;
        said.push(world.say(&mut person, &format!("{n}")).await);
    }
    assert_eq!(world.server.one_time_keys_of(&ada), 0);
    let received = world.receive(&mut ada).await;
    assert_eq!((received.room_keys.len(), received.unreadable), (8, 0));
    for (n, event) in said.iter().enumerate() {
        assert_eq!(body(&ada.decrypt(event, room()).await.unwrap()), n.to_string());
    }
    assert_eq!(world.server.one_time_keys_of(&ada), 5, "and new ones were uploaded");
}

#[tokio::test]
async fn what_was_not_committed_never_happened() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.share_with(&mut pat, &ada).await;
    let words = world.say(&mut pat, "words").await;

    // the commit fails: the machine is dropped, the same news comes again from the journal
    let news = world.server.news(&ada);
    let device = ada.device.clone();
    assert_eq!(ada.receive(news.clone()).await.unwrap().room_keys.len(), 1);
    let _ = ada.take_writes();
    drop(ada);
    let mut ada = Machine::open(device, world.rows(), key(), None).await.unwrap();
    assert!(ada.decrypt(&words, room()).await.is_err());
    assert_eq!(ada.receive(news.clone()).await.unwrap().room_keys.len(), 1);
    world.commit(&mut ada);
    assert_eq!(body(&ada.decrypt(&words, room()).await.unwrap()), "words");

    // and once more, although it had been taken: harmless
    let again = ada.receive(news).await.unwrap();
    assert_eq!(again.room_keys.len(), 0);
    assert_eq!(body(&ada.decrypt(&words, room()).await.unwrap()), "words");
}

#[tokio::test]
async fn a_message_that_does_not_open_makes_us_share_again() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.prepare(&mut ada, &["@pat:x"]).await;
    world.share_with(&mut pat, &ada).await;
    let mut news = world.server.news(&ada);
    let mut message: Value = serde_json::from_str(news.to_device[0].get()).unwrap();
    let ciphertext = message["content"]["ciphertext"].as_object_mut().unwrap().values_mut().next().unwrap();
    let body = ciphertext["body"].as_str().unwrap();
    let (head, tail) = body.split_at(body.len() - 40);
    ciphertext["body"] =
        json!(format!("{head}{}{}", if tail.starts_with('A') { "B" } else { "A" }, &tail[1..]));
    news.to_device = vec![to_raw_value(&message).unwrap()];
    let received = ada.receive(news).await.unwrap();
    assert_eq!((received.unreadable, received.room_keys.len()), (1, 0));
    assert!(!ada.is_prepared(room()));
}

#[tokio::test]
async fn odd_to_device_messages_break_nothing() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let all = [
        json!({}),
        json!({"type": 7}),
        json!({"type": "m.room.encrypted", "sender": "nobody", "content": {}}),
        json!({"type": "m.room_key", "sender": "@p:x", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}),
        json!({"type": "m.room.encrypted", "sender": "@p:x", "content": {
            "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": "short", "ciphertext": {}}}),
        json!({"type": "m.secret.send", "sender": "@p:x", "content": {"request_id": "1", "secret": "s"}}),
        json!({"type": "m.dummy", "sender": "@p:x", "content": {}}),
    ];
    let to_device = all.iter().map(|event| to_raw_value(event).unwrap()).collect();
    let received = ada.receive(DeviceNews { to_device, ..DeviceNews::default() }).await.unwrap();
    assert!(received.room_keys.is_empty() && received.bundles.is_empty());
    world.commit(&mut ada);
}

#[tokio::test]
async fn odd_events_are_broken_and_forged_ones_are_told() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    world.prepare(&mut ada, &[]).await;
    let own = world.say(&mut ada, "words").await;
    for odd in [json!({}), json!({"type": "m.room.encrypted", "content": 7}), json!([])] {
        let odd = to_raw_value(&odd).unwrap();
        assert!(matches!(ada.decrypt(&odd, room()).await, Err(Undecryptable::Broken)));
    }
    let mut changed: Value = serde_json::from_str(own.get()).unwrap();
    let ciphertext = changed["content"]["ciphertext"].as_str().unwrap().to_owned();
    let (head, tail) = ciphertext.split_at(ciphertext.len() - 8);
    let flipped = if tail.starts_with('A') { "B" } else { "A" };
    changed["content"]["ciphertext"] = json!(format!("{head}{flipped}{}", &tail[1..]));
    let changed = to_raw_value(&changed).unwrap();
    assert!(matches!(ada.decrypt(&changed, room()).await, Err(Undecryptable::Broken)));
    // the same ciphertext as somebody else's
    let mut forged: Value = serde_json::from_str(own.get()).unwrap();
    forged["sender"] = json!("@pat:x");
    let forged = to_raw_value(&forged).unwrap();
    assert!(matches!(ada.decrypt(&forged, room()).await, Err(Undecryptable::Forged)));
    // and in another room
    let elsewhere = ada.decrypt(&own, room_id!("!other:x")).await;
    assert!(matches!(elsewhere, Err(Undecryptable::MissingKey { .. })));
}

#[tokio::test]
async fn content_that_the_sdk_panics_on_is_an_error() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    world.prepare(&mut ada, &[]).await;
    let odd = RawValue::from_string(r#"{"body":"x","m.relates_to":1e999}"#.to_owned()).unwrap();
    let got = ada.encrypt(room(), "m.room.message", &odd).await;
    assert!(matches!(&got, Err(error) if error.spoils_the_machine()), "{got:?}");
    let no_object = RawValue::from_string("7".to_owned()).unwrap();
    assert!(matches!(ada.encrypt(room(), "m.room.message", &no_object).await, Err(CryptoError::Sdk(_))));
}

#[tokio::test]
async fn a_start_in_the_middle_of_sharing_goes_on_with_it() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    let mut way = preparation(&["@pat:x"], sharing());
    loop {
        let requests = ada.prepare(&mut way).await.unwrap();
        world.commit(&mut ada);
        if matches!(requests[0].call, Call::ToDevice { .. }) {
            break;
        }
        world.carry(&mut ada, requests).await;
    }
    let mut ada = world.reopen(ada).await;
    assert!(world.server.receivers().is_empty(), "nothing was sent yet");
    world.prepare(&mut ada, &["@pat:x"]).await;
    let words = world.say(&mut ada, "words").await;
    assert_eq!(world.receive(&mut pat).await.room_keys.len(), 1);
    assert_eq!(body(&pat.decrypt(&words, room()).await.unwrap()), "words");
}

#[tokio::test]
async fn a_key_that_was_thrown_away_is_used_no_more() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    world.signed("@pat:x", "P").await;
    let mut sessions = vec![];
    for _ in 0..2 {
        world.prepare(&mut ada, &["@pat:x"]).await;
        let words = world.say(&mut ada, "words").await;
        sessions.push(ada.decrypt(&words, room()).await.unwrap().session_id);
        ada.renew_room_key(room()).await.unwrap();
        assert!(!ada.is_prepared(room()));
    }
    assert_ne!(sessions[0], sessions[1]);
}

#[tokio::test]
async fn who_keeps_track_of_a_person_has_a_row_that_says_so() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    ada.track([user_id!("@pat:x")]).await.unwrap();
    world.commit(&mut ada);
    let (kind, row) = crate::crypto::tracking_row(user_id!("@pat:x"));
    assert!(world.rows.dump().contains_key(&(ada.account(), kind, row)));
}
