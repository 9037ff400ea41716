//! Puppets with devices on a real Synapse: the three ways of reaching a device, a store that was closed, and a device
//! made anew.

// Clippy's exception for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bridge;

use parlour_matrix::crypto::SenderTrust;
use parlour_store::DeviceState;
use ruma::UserId;
use serde_json::Value;

use bridge::{Bridge, Puppet, body};

/// Whether the homeserver shows everybody a device that its owner has signed.
async fn is_signed(bridge: &Bridge, asker: &Puppet, user: &UserId, device: &str) -> bool {
    let users = [user.to_owned()];
    let answer = bridge.client.keys_query(asker.who(), &users).await.unwrap();
    let answer: Value = serde_json::from_str(answer.get()).unwrap();
    let signing = &answer["self_signing_keys"][user.as_str()]["keys"];
    let key = signing.as_object().unwrap().keys().next().unwrap();
    answer["device_keys"][user.as_str()][device]["signatures"][user.as_str()].get(key).is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn puppets_read_each_other_over_pulled_keys_a_restart_and_a_new_device() {
    let bridge = Bridge::start(true).await;
    let mut ada = bridge.puppet("agent_ada", "ADA1").await;
    let mut bo = bridge.puppet("agent_bo", "BO1").await;
    assert!(ada.machine.is_cross_signed().await.unwrap());
    assert!(is_signed(&bridge, &bo, &ada.user(), "ADA1").await);
    let room = bridge.room(&ada, &[&bo.user()]).await;

    let hello = bridge.say(&mut ada, &room, &bo.user(), "hello").await;
    assert_eq!(bridge.pull(&mut bo).await.room_keys.len(), 1);
    assert_eq!(body(&bridge.read(&bo, &room, &hello).await), "hello");
    let answer = bridge.say(&mut bo, &room, &ada.user(), "hello to you").await;
    assert_eq!(bridge.pull(&mut ada).await.unreadable, 0);
    let got = bridge.read(&ada, &room, &answer).await;
    assert_eq!((body(&got).as_str(), got.trust), ("hello to you", SenderTrust::CrossSigned));
    assert!(bridge.pull(&mut ada).await.room_keys.is_empty(), "each message once");

    // everything is on disk
    let (ada_id, bo_id) = (ada.user(), bo.user());
    drop((ada, bo));
    let bridge = bridge.reopen_store();
    let mut ada = bridge.open(&ada_id).await;
    let mut bo = bridge.open(&bo_id).await;
    assert_eq!(body(&bridge.read(&bo, &room, &hello).await), "hello");
    let more = bridge.say(&mut ada, &room, &bo_id, "more").await;
    assert!(bridge.pull(&mut bo).await.room_keys.is_empty(), "the same key goes on");
    let got = bridge.read(&bo, &room, &more).await;
    assert_eq!((body(&got).as_str(), got.message_index), ("more", 1));

    let mut ada = made_anew(&bridge, ada).await;
    let again = bridge.say(&mut ada, &room, &bo_id, "it is me").await;
    assert_eq!(bridge.pull(&mut bo).await.room_keys.len(), 1);
    let got = bridge.read(&bo, &room, &again).await;
    assert_eq!((body(&got).as_str(), got.trust), ("it is me", SenderTrust::CrossSigned));
    assert_eq!(got.sender_device.unwrap(), "ADA2");
    assert!(is_signed(&bridge, &bo, &ada_id, "ADA2").await);
    assert_eq!(bridge.client.device(&ada_id, "ADA1".into()).await.unwrap(), None);
}

/// The device's rows are lost, the seeds are not: a new device with the same identity.
async fn made_anew(bridge: &Bridge, lost: Puppet) -> Puppet {
    let (user, account) = (lost.user(), lost.machine.account());
    drop(lost);
    let forget = bridge.store.write(move |tx| {
        tx.crypto_forget(account)?;
        tx.set_device_state(account, DeviceState::Gone)
    });
    forget.await.unwrap();
    let owner = user.clone();
    let seeds = bridge.store.read(move |r| r.seeds(&owner)).await.unwrap().unwrap();
    let machine = bridge.create(&user, "ADA2").await;
    bridge.client.put_device(&user, machine.device_id(), "Agent bridge").await.unwrap();
    let mut puppet = Puppet::masqueraded(machine);
    let who_we_are = puppet.machine.query(&user);
    bridge.carry(&mut puppet, vec![who_we_are]).await;
    let requests = puppet.machine.adopt(&seeds).await.unwrap();
    bridge.carry(&mut puppet, requests).await;
    bridge.client.delete_device(&user, "ADA1".into()).await.unwrap();
    assert!(puppet.machine.is_cross_signed().await.unwrap());
    puppet
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_come_by_push_where_the_homeserver_pushes() {
    let bridge = Bridge::start(true).await;
    let mut ada = bridge.puppet("agent_ada", "ADA1").await;
    let mut bo = bridge.puppet("agent_bo", "BO1").await;
    let room = bridge.room(&ada, &[&bo.user()]).await;
    let hello = bridge.say(&mut ada, &room, &bo.user(), "hello").await;
    assert_eq!(bridge.take_pushed(&mut bo).await.room_keys.len(), 1);
    assert_eq!(body(&bridge.read(&bo, &room, &hello).await), "hello");
    // what was pushed waits to be pulled all the same, and does no harm the second time
    let again = bridge.pull(&mut bo).await;
    assert!(again.room_keys.is_empty());
    assert_eq!(body(&bridge.read(&bo, &room, &hello).await), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn puppets_with_tokens_of_their_own_need_no_device_masquerading() {
    let bridge = Bridge::start(false).await;
    let mut ada = bridge.puppet_with_token("agent_ada", "ADA1").await;
    let mut bo = bridge.puppet_with_token("agent_bo", "BO1").await;
    assert!(is_signed(&bridge, &bo, &ada.user(), "ADA1").await);
    let room = bridge.room(&ada, &[&bo.user()]).await;
    let hello = bridge.say(&mut ada, &room, &bo.user(), "hello").await;
    bridge.pull(&mut bo).await;
    assert_eq!(body(&bridge.read(&bo, &room, &hello).await), "hello");
}
