//! A room's history, shared on invitation.

use std::io::Read;

use matrix_sdk_crypto::{
    AttachmentEncryptor, CollectStrategy, types::events::room_key_bundle::RoomKeyBundleContent,
};
use ruma::{events::room::EncryptedFile, owned_mxc_uri};

use super::*;
use crate::crypto::Call;

/// What a person's client does when it invites: writes the room's keys into a file and sends word of it.
async fn share_history(world: &mut World, person: &mut Machine, puppet: &Machine) -> Vec<u8> {
    let bundle = person.olm.store().build_room_key_bundle(room()).await.unwrap();
    let plain = serde_json::to_vec(&bundle).unwrap();
    let (mut reader, mut file) = (plain.as_slice(), vec![]);
    let mut encryptor = AttachmentEncryptor::new(&mut reader);
    encryptor.read_to_end(&mut file).unwrap();
    let info = encryptor.finish();
    let announced = EncryptedFile::new(owned_mxc_uri!("mxc://x/keys"), info.encryption_info, info.hashes);
    let content = RoomKeyBundleContent { room_id: room().to_owned(), file: announced };
    let strategy = CollectStrategy::IdentityBasedStrategy;
    let requests = person.olm.share_room_key_bundle_data(puppet.user_id(), &strategy, content).await.unwrap();
    let calls = requests.iter().map(|r| Outgoing { id: r.txn_id.clone(), call: Call::to_device(r).unwrap() });
    let calls = calls.collect();
    world.carry(person, calls).await;
    file
}

#[tokio::test]
async fn a_puppet_that_was_invited_reads_what_was_said_before() {
    let mut world = World::default();
    let mut pat = world.signed("@pat:x", "P").await;
    world.prepare(&mut pat, &["@quinn:x"]).await;
    let old = world.say(&mut pat, "long ago").await;
    let mut ada = world.signed("@agent_ada:x", "A").await;
    // sessions with the puppet, over another room
    let mut way = Preparation::new(room_id!("!other:x"), [ada.user_id().to_owned()], |_| false, sharing());
    for _ in 0..6 {
        let requests = pat.prepare(&mut way).await.unwrap();
        world.carry(&mut pat, requests).await;
    }
    let file = share_history(&mut world, &mut pat, &ada).await;

    let received = world.receive(&mut ada).await;
    assert_eq!(received.bundles, [(room().to_owned(), pat.user_id().to_owned())]);
    assert!(ada.decrypt(&old, room()).await.is_err());
    let bundle = ada.bundle(room(), pat.user_id()).await.unwrap().unwrap();
    assert_eq!(bundle.url, "mxc://x/keys");
    assert_eq!(ada.bundle(room(), user_id!("@quinn:x")).await.unwrap(), None);

    // only a device that is known to be signed is believed
    assert_eq!(ada.import_bundle(room(), pat.user_id(), file.clone()).await.unwrap(), 0);
    let query = ada.query(pat.user_id());
    world.carry(&mut ada, vec![query]).await;
    let mut altered = file.clone();
    altered[0] ^= 1;
    let refused = ada.import_bundle(room(), pat.user_id(), altered).await;
    assert!(matches!(refused, Err(CryptoError::Answer)), "{refused:?}");
    assert_eq!(ada.import_bundle(room(), pat.user_id(), file).await.unwrap(), 1);
    world.commit(&mut ada);
    let got = ada.decrypt(&old, room()).await.unwrap();
    assert_eq!(body(&got), "long ago");
    assert_eq!(got.forwarder.as_deref(), Some(pat.user_id()));
}
