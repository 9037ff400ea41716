//! A room that becomes encrypted while people and agents are in it.

use anyhow::{Result, ensure};
use parlour_tests::{Client, Plan};
use reqwest::Method;
use serde_json::json;

use crate::world::{World, agent_reads, person_reads};

#[tokio::test(flavor = "multi_thread")]
async fn encryption_is_switched_on_later() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let scout = world.stack.agent("Scout", None).await?;
    let ada = world.human("ada", Client::Js).await?;
    ada.raw.join(&scout.room).await?;
    let puppet = ada.raw.member_named(&scout.room, &scout.display_name).await?;
    let made = ada.obey("create_room", json!({"name": "Garden", "invite": [puppet]})).await?;
    let room = made["room"].as_str().unwrap_or_default().to_owned();
    ada.see_member(&room, &puppet, "join").await?;
    let scout = scout.turned_to(&room);

    agent_reads(&scout, &ada.say(&room, "still in the open").await?, "still in the open").await?;
    let open = scout.say_here("open as well").await?;
    ensure!(ada.see_event(&open).await?["encrypted"] == false, "encrypted before it should be");

    let path = format!("/rooms/{}/state/m.room.encryption/", parlour_tests::encode(&room));
    let megolm = json!({"algorithm": "m.megolm.v1.aes-sha2"});
    ada.raw.call(Method::PUT, &path, Some(&megolm)).await?.expect(200)?;
    ada.see("the switch", |e| e["evType"] == "m.room.encryption").await?;
    let question = world.human_says(&ada, &room, "and behind closed doors").await?;
    agent_reads(&scout, &question, "and behind closed doors").await?;
    let answer = world.agent_says(&scout, "as you like it").await?;
    person_reads(&ada, &answer, "as you like it").await?;
    let events = parlour_tests::stored(&world.stack.synapse, &room)?;
    let clear = events.iter().filter(|e| e["type"] == "m.room.message" && e["sender"] == puppet.as_str());
    ensure!(clear.count() == 1, "spoke in clear after the switch");
    world.stack.finish().await
}
