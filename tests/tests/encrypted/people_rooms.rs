//! Rooms that people made, and into which they invite an agent's puppet themselves.

use anyhow::{Result, ensure};
use parlour_tests::{Client, Plan};
use serde_json::json;

use crate::world::{World, agent_reads, person_reads};

#[tokio::test(flavor = "multi_thread")]
async fn a_room_of_version_10() -> Result<()> {
    in_a_room_of("10").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_of_version_12() -> Result<()> {
    in_a_room_of("12").await
}

async fn in_a_room_of(version: &str) -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let scout = world.stack.agent("Scout", None).await?;
    let ada = world.human("ada", Client::Js).await?;
    ada.raw.join(&scout.room).await?;
    let puppet = ada.raw.member_named(&scout.room, &scout.display_name).await?;

    let made = json!({"name": "Kitchen", "encrypted": true, "version": version, "invite": [puppet]});
    let made = ada.obey("create_room", made).await?;
    let room = made["room"].as_str().unwrap_or_default().to_owned();
    ada.see_member(&room, &puppet, "join").await?;
    let scout = scout.turned_to(&room);
    scout.until_in(&room).await?;
    for round in 0..2 {
        let (asked, answered) = (format!("a question in {version}, {round}"), format!("an answer, {round}"));
        let event_id = world.human_says(&ada, &room, &asked).await?;
        agent_reads(&scout, &event_id, &asked).await?;
        let event_id = world.agent_says(&scout, &answered).await?;
        person_reads(&ada, &event_id, &answered).await?;
        ada.obey("new_session", json!({"room": room})).await?;
    }
    let create = ada.raw.state(&room, "m.room.create").await?;
    ensure!(create["room_version"] == version, "another version: {create}");
    world.finish(&room, &[&ada]).await
}
