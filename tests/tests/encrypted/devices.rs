//! Devices come, and keys run out.

use anyhow::{Result, ensure};
use parlour_tests::{Client, Deadline, Devices, Human, Person, Plan, until};
use reqwest::Method;
use rstest::rstest;
use serde_json::json;
use tokio::task::block_in_place;

use crate::common::text;
use crate::world::{Trio, agent_reads, person_reads, signed_device};

/// More than any puppet has one-time keys.
const CLAIMS: usize = 120;

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_persons_new_device_while_the_bridge_was_down(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    trio.all_talk("one device").await?;
    let stack = &trio.world.stack;
    stack.bridge.stop().await?;
    let phone = Human::sign_in(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    ensure!(phone.device_id != trio.ada.device_id, "the same device");
    phone.obey("read", json!({"room": trio.room.id, "n": 1})).await?;
    let words = "from the phone while it was down";
    let early = trio.world.human_says(&phone, &trio.room.id, words).await?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    for agent in trio.agents() {
        agent_reads(agent, &early, words).await?;
    }
    for agent in trio.agents() {
        let words = format!("{} to both devices", agent.display_name);
        let event_id = trio.world.agent_says(agent, &words).await?;
        person_reads(&trio.ada, &event_id, &words).await?;
        person_reads(&phone, &event_id, &words).await?;
    }
    trio.human_talks(&phone, "from the phone").await?;
    trio.all_talk("two devices").await?;
    let Trio { world, room, ada, .. } = trio;
    world.finish(&room.id, &[&ada, &phone]).await
}

/// Somebody claims all one-time keys of a puppet; the fallback key serves until there are new ones.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn after_all_one_time_keys_were_claimed(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    let (puppet, device) = listener(&trio).await?;
    claim_all(&trio, &puppet, &device).await?;
    // A new device has no session with the puppet yet and has to claim a key, too.
    let stack = &trio.world.stack;
    let phone = Human::sign_in(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    trio.human_talks(&phone, "with the fallback key").await?;
    trio.all_talk("keys that run out").await?;
    trio.finish().await
}

/// The same while the bridge is down, and Synapse is restarted three times before it comes back. Where keys are fetched, a
/// restart of Synapse has nothing to lose that was to be pushed.
#[tokio::test(flavor = "multi_thread")]
async fn all_one_time_keys_are_claimed_while_the_bridge_is_down() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (puppet, device) = listener(&trio).await?;
    let stack = &trio.world.stack;
    stack.bridge.stop().await?;
    claim_all(&trio, &puppet, &device).await?;
    let phone = Human::sign_in(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    phone.obey("read", json!({"room": trio.room.id, "n": 1})).await?;
    let words = "with the fallback key of one that is down";
    let early = trio.world.human_says(&phone, &trio.room.id, words).await?;
    for _ in 0..3 {
        block_in_place(|| stack.synapse.restart())?;
    }
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    for agent in trio.agents() {
        agent_reads(agent, &early, words).await?;
    }
    trio.human_talks(&phone, "and once it is back").await?;
    trio.all_talk("keys that ran out").await?;
    trio.finish().await
}

async fn claim_all(trio: &Trio, puppet: &str, device: &str) -> Result<()> {
    let mallory = trio.world.stack.person("mallory")?;
    for _ in 0..CLAIMS {
        claim(&mallory, puppet, device).await?;
    }
    Ok(())
}

async fn claim(person: &Person, puppet: &str, device: &str) -> Result<()> {
    let body = json!({"one_time_keys": {puppet: {device: "signed_curve25519"}}});
    let claimed = person.call(Method::POST, "/keys/claim", Some(&body)).await?.expect(200)?;
    ensure!(claimed["one_time_keys"][puppet][device].is_object(), "no key and no fallback: {claimed}");
    Ok(())
}

/// Whoever is told of a new device finds it signed, and a key of it to claim, at once. A client that finds none of that gives
/// the device no room keys, and what is said meanwhile is never read there.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_device_can_be_written_to_as_soon_as_it_is_seen() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (puppet, mut device) = listener(&trio).await?;
    let mallory = trio.world.stack.person("mallory")?;
    for _ in 0..4 {
        trio.world.stack.delete_device(&puppet, &device).await?;
        let other = another_seen(&mallory, &puppet, &device).await?;
        claim(&mallory, &puppet, &other).await?;
        hears_with_another(&trio, &puppet, &device).await?;
        device = other;
    }
    trio.finish().await
}

/// Looks as often as it can.
async fn another_seen(person: &Person, puppet: &str, device: &str) -> Result<String> {
    let (body, deadline) = (json!({"device_keys": {puppet: []}}), Deadline::after(60));
    loop {
        let known = person.call(Method::POST, "/keys/query", Some(&body)).await?.expect(200)?;
        let mut devices = known["device_keys"][puppet].as_object().into_iter().flat_map(|all| all.keys());
        if let Some(other) = devices.find(|id| *id != device) {
            let signatures = &known["device_keys"][puppet][other]["signatures"][puppet];
            ensure!(signatures.as_object().is_some_and(|s| s.len() == 2), "not signed by its owner: {known}");
            return Ok(other.clone());
        }
        deadline.check("another device")?;
    }
}

/// What an operator of the homeserver may do by mistake: when the agent speaks next, it does so from a new device, signed
/// by the same identity.
#[tokio::test(flavor = "multi_thread")]
async fn a_puppets_device_is_deleted_on_the_server() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let words = "before its device goes";
    let hello = trio.world.agent_says(&trio.owner, words).await?;
    let puppet = text(&person_reads(&trio.ada, &hello, words).await?["sender"]).to_owned();
    let device = signed_device(&trio.ada, &puppet).await?;
    trio.world.stack.delete_device(&puppet, &device).await?;
    trio.world.stack.bridge.restart().await?;
    let words = "with another device";
    let again = trio.world.agent_says(&trio.owner, words).await?;
    person_reads(&trio.ada, &again, words).await?;
    trio.all_talk("a new device").await?;
    let fresh = signed_device(&trio.ada, &puppet).await?;
    ensure!(fresh != device, "the same device id with other keys");
    let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
    ensure!(known["identity"]["changed"] == false, "people are told of another identity: {known}");
    trio.finish().await
}

/// A puppet that only listens is given another device as soon as the homeserver tells that its own is gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_device_of_a_puppet_that_listens_is_deleted() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (puppet, device) = listener(&trio).await?;
    trio.world.stack.delete_device(&puppet, &device).await?;
    hears_with_another(&trio, &puppet, &device).await?;
    trio.finish().await
}

/// Stock Synapse tells nothing of it; a start looks after all devices.
#[tokio::test(flavor = "multi_thread")]
async fn a_listeners_device_is_deleted_and_nobody_tells() -> Result<()> {
    let trio = Trio::start(Plan { devices: Devices::Pulled, ..Plan::default() }).await?;
    let (puppet, device) = listener(&trio).await?;
    let bridge = &trio.world.stack.bridge;
    bridge.stop().await?;
    trio.world.stack.delete_device(&puppet, &device).await?;
    bridge.start()?;
    bridge.ready().await?;
    hears_with_another(&trio, &puppet, &device).await?;
    trio.finish().await
}

/// The guest's puppet and its device, which it has spoken from once.
async fn listener(trio: &Trio) -> Result<(String, String)> {
    let words = "the last word for long";
    let hello = trio.world.agent_says(&trio.guest, words).await?;
    let puppet = text(&person_reads(&trio.ada, &hello, words).await?["sender"]).to_owned();
    let device = signed_device(&trio.ada, &puppet).await?;
    Ok((puppet, device))
}

/// The next message is readable once the person's client knows the other device; people are told of no other identity.
async fn hears_with_another(trio: &Trio, puppet: &str, device: &str) -> Result<()> {
    until("another device", 30, async || {
        let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
        let devices: Vec<&str> =
            known["devices"].as_array().into_iter().flatten().map(|d| text(&d["device"])).collect();
        Ok((devices.len() == 1 && devices[0] != device).then_some(()))
    })
    .await?;
    trio.human_talks(&trio.ada, "to the one that only listens").await?;
    let known = trio.ada.obey("devices", json!({"user": puppet})).await?;
    ensure!(known["identity"]["changed"] == false, "people are told of another identity: {known}");
    signed_device(&trio.ada, puppet).await.map(drop)
}
