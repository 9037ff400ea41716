//! A puppet has a device from its first encrypted room on, one, and none before: keys that nobody needs cost the
//! homeserver something with each event.

use anyhow::{Result, ensure};
use parlour_tests::{Client, Devices, Keys, Plan, keys_of};
use rstest::rstest;
use serde_json::json;

use crate::world::{World, agent_reads, person_reads, signed_device};

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_puppet_has_no_keys_until_its_first_encrypted_room(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let world = World::start(Plan { devices, ..Plan::default() }).await?;
    let scout = world.stack.agent("Scout", None).await?;
    let ada = world.human("ada", Client::Js).await?;
    ada.raw.join(&scout.room).await?;
    let puppet = ada.raw.member_named(&scout.room, &scout.display_name).await?;
    let keys = || keys_of(&world.stack.synapse, &puppet);
    scout.hear(&ada.raw.say(&scout.room, "anybody here").await?).await?;
    scout.say("in the lobby").await?;
    ensure!(keys()? == Keys::default(), "keys for a lobby: {:?}", keys()?);
    world.stack.bridge.restart().await?;
    ensure!(keys()? == Keys::default(), "keys at a start: {:?}", keys()?);

    let (owner, room) = world.owner().await?;
    world.invite(&owner, &room, &ada).await?;
    for round in 0..2 {
        // the second time into another room
        let (owner, room) = if round == 0 { (owner.clone(), room.clone()) } else { world.owner().await? };
        scout
            .call(reqwest::Method::POST, "/me/rooms", Some(&json!({"code": room.code})))
            .await?
            .expect(200)?;
        let words = format!("in encrypted room {round}");
        let said = world.agent_says(&scout.turned_to(&room.id), &words).await?;
        agent_reads(&owner, &said, &words).await?;
        let keys = keys()?;
        ensure!(
            (keys.devices, keys.device_keys, keys.identity_keys) == (1, 1, 3),
            "not one device: {keys:?}"
        );
        ensure!((1..=10).contains(&keys.one_time_keys), "as many as people need: {keys:?}");
    }
    let asked = world.human_says(&ada, &room.id, "is it you").await?;
    agent_reads(&scout, &asked, "is it you").await?;
    let said = world.agent_says(&scout.turned_to(&room.id), "it is me").await?;
    person_reads(&ada, &said, "it is me").await?;
    signed_device(&ada, &puppet).await?;
    world.finish(&room.id, &[&ada]).await
}
