//! Devices, signatures and stores that were closed or lost.

use super::*;
use crate::crypto::Call;

#[tokio::test]
async fn a_device_takes_three_requests_and_is_signed() {
    let mut world = World::default();
    let mut ada = world.create("@agent_ada:x", "A").await;
    let setup = ada.setup().await.unwrap();
    world.carry(&mut ada, setup).await;
    assert_eq!(world.server.calls, ["upload", "signing", "signatures"]);
    assert_eq!(world.server.one_time_keys_of(&ada), 5);
    world.settle(&mut ada).await;
    assert!(ada.is_cross_signed().await.unwrap());
    assert_eq!(world.server.calls[3..], ["query"], "nothing but a look at itself");
}

#[tokio::test]
async fn a_start_in_the_middle_of_making_goes_on_with_the_same_keys() {
    let mut world = World::default();
    let mut ada = world.create("@agent_ada:x", "A").await;
    let mut setup = ada.setup().await.unwrap();
    setup.truncate(1);
    world.carry(&mut ada, setup).await;
    let seeds = ada.sealed_seeds().await.unwrap();
    let mut ada = world.reopen(ada).await;
    let rest = ada.setup().await.unwrap();
    assert_eq!(rest.len(), 2, "the device's keys are up there already");
    world.carry(&mut ada, rest).await;
    world.settle(&mut ada).await;
    assert!(ada.is_cross_signed().await.unwrap());
    let open = |sealed: &[u8]| key().open(&[b"cross-signing seeds", b"@agent_ada:x"], sealed).unwrap();
    assert_eq!(open(&seeds), open(&ada.sealed_seeds().await.unwrap()));
}

#[tokio::test]
async fn a_machine_that_was_closed_goes_on_where_it_was() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.prepare(&mut ada, &["@pat:x"]).await;
    let one = world.say(&mut ada, "one").await;
    let mut ada = world.reopen(ada).await;
    assert!(!ada.is_prepared(room()), "who knows what changed meanwhile");
    let calls = world.server.calls.len();
    world.prepare(&mut ada, &["@pat:x"]).await;
    assert_eq!(world.server.calls.len(), calls, "everybody has the key still");
    let two = world.say(&mut ada, "two").await;
    assert_eq!(world.receive(&mut pat).await.room_keys.len(), 1);
    let pat = world.reopen(pat).await;
    for (event, text, index) in [(&one, "one", 0), (&two, "two", 1)] {
        let got = pat.decrypt(event, room()).await.unwrap();
        assert_eq!((body(&got).as_str(), got.message_index), (text, index));
    }
}

#[tokio::test]
async fn a_lost_store_makes_a_new_device_with_the_old_identity() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.prepare(&mut ada, &["@pat:x"]).await;
    let seeds = ada.sealed_seeds().await.unwrap();
    // the person has seen the puppet's first identity
    world.share_with(&mut pat, &ada).await;
    let lost = Machine::open(ada.device.clone(), Arc::new(MemoryRows::default()), key(), None).await;
    assert!(matches!(lost, Err(CryptoError::Lost)), "never new keys under an old device id");

    let mut again = world.create("@agent_ada:x", "A2").await;
    let who_we_are = again.query(user_id!("@agent_ada:x"));
    world.carry(&mut again, vec![who_we_are]).await;
    let mut requests = again.adopt(&seeds).await.unwrap();
    let signature = requests.remove(1);
    assert!(matches!(signature.call, Call::SignaturesUpload(_)));
    world.carry(&mut again, requests).await;
    assert!(again.is_cross_signed().await.unwrap(), "it was shown with its signature");
    world.carry(&mut again, vec![signature]).await;
    world.server.remove_device(user_id!("@agent_ada:x"), ada.device_id());
    let changed = vec![user_id!("@agent_ada:x").to_owned()];
    pat.receive(DeviceNews { changed, ..DeviceNews::default() }).await.unwrap();
    world.settle(&mut pat).await;
    world.prepare(&mut again, &["@pat:x"]).await;
    let words = world.say(&mut again, "it is me").await;
    world.receive(&mut pat).await;
    let got = pat.decrypt(&words, room()).await.unwrap();
    assert_eq!((body(&got).as_str(), got.trust), ("it is me", SenderTrust::CrossSigned));
    assert_eq!(got.sender_device.as_deref(), Some(again.device_id()));
}

#[tokio::test]
async fn a_new_device_reads_what_was_said_to_the_one_before() {
    let mut world = World::default();
    let mut ada = world.signed("@agent_ada:x", "A").await;
    let mut pat = world.signed("@pat:x", "P").await;
    world.share_with(&mut pat, &ada).await;
    let words = world.say(&mut pat, "to the first device").await;
    assert_eq!(world.receive(&mut ada).await.room_keys.len(), 1);
    let first = ada.decrypt(&words, room()).await.unwrap();

    let mut again = world.create("@agent_ada:x", "A2").await;
    assert!(matches!(again.decrypt(&words, room()).await.unwrap_err(), Undecryptable::MissingKey { .. }));
    again.inherit(world.rows(), ada.account()).await.unwrap();
    world.commit(&mut again);
    let again = world.reopen(again).await;
    assert_eq!(again.room_keys(world.rows()).await.unwrap().len(), 1);
    let got = again.decrypt(&words, room()).await.unwrap();
    assert_eq!(
        (body(&got).as_str(), got.trust),
        ("to the first device", first.trust),
        "as the first one reads it"
    );
    assert!(!again.is_prepared(room()), "it speaks with keys of its own");
}

#[tokio::test]
async fn seeds_of_somebody_else_are_not_taken() {
    let mut world = World::default();
    let ada = world.signed("@agent_ada:x", "A").await;
    let bo = world.signed("@agent_bo:x", "B").await;
    let mut again = world.create("@agent_ada:x", "A2").await;
    world.settle(&mut again).await;
    // sealed for another puppet, then by another key
    assert!(again.adopt(&bo.sealed_seeds().await.unwrap()).await.is_err());
    let place: [&[u8]; 2] = [b"cross-signing seeds", b"@agent_bo:x"];
    let plain = key().open(&place, &bo.sealed_seeds().await.unwrap()).unwrap();
    let resealed = key().seal(&[b"cross-signing seeds", b"@agent_ada:x"], &plain);
    assert!(matches!(again.adopt(&resealed).await, Err(CryptoError::OtherIdentity)));
    assert!(again.adopt(&ada.sealed_seeds().await.unwrap()).await.is_ok());
}
