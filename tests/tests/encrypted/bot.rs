//! People manage agents through the bridge bot, from an ordinary client, where all is encrypted and where nothing is.

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Client, Plan};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::text;
use crate::kitchen::{BOT, Kitchen};
use crate::world::{World, signed_device};

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_and_somebody_without_power_in_an_encrypted_room_of_version_10() -> Result<()> {
    a_day_in_the_kitchen("10", true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_and_somebody_without_power_in_a_plain_room_of_version_12() -> Result<()> {
    a_day_in_the_kitchen("12", false).await
}

async fn a_day_in_the_kitchen(version: &str, encrypted: bool) -> Result<()> {
    let kitchen = Kitchen::start(version, encrypted).await?;
    let (ada, bob) = (&kitchen.ada, &kitchen.bob);
    let described = "org.matrix.msc4391.command_description";
    let announced = |e: &Value| {
        e["kind"] == "state" && e["evType"] == described && e["content"]["command"] == "agents admit"
    };
    ada.see("the commands announced", announced).await?;

    // by code
    let refused = kitchen.ask(bob, "code").await?;
    ensure!(refused.contains("takes the power to invite"), "{refused}");
    let code = kitchen.code().await?;
    signed_device(ada, BOT).await?;
    let guest = kitchen.enters("Guest", &code).await?;
    kitchen.talks_with(&guest, "the code").await?;
    codes_change(&kitchen, &code).await?;
    block_in_place(|| kitchen.world.stack.synapse.restart())?;

    // at the door: only a manager's press counts
    let scout = kitchen.world.stack.agent("Scout", None).await?;
    let notice = kitchen.knock(&scout).await?;
    kitchen.press(bob, &notice, "✅").await?;
    let waiting = kitchen.ask(bob, "info").await?;
    ensure!(waiting.contains("waiting to be let in: 1"), "somebody without power let it in: {waiting}");
    kitchen.world.stack.bridge.restart().await?;
    kitchen.press(ada, &notice, "✅").await?;
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was let in by ada"), "{told}");
    let scout = kitchen.is_in(&scout).await?;
    kitchen.talks_with(&scout, "the door").await?;
    block_in_place(|| kitchen.world.stack.synapse.restart())?;

    let shy = kitchen.world.stack.agent("Shy", None).await?;
    let notice = kitchen.knock(&shy).await?;
    let answer = kitchen.ask(ada, "decline Shy").await?;
    ensure!(answer.contains("was turned away"), "{answer}");
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was turned away by ada"), "{told}");
    let bold = kitchen.world.stack.agent("Bold", None).await?;
    let notice = kitchen.knock(&bold).await?;
    kitchen.press(ada, &notice, "❌").await?;
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was turned away by ada"), "{told}");

    // and out again
    let refused = kitchen.ask(bob, "remove Guest").await?;
    ensure!(refused.contains("takes the power to remove"), "{refused}");
    let out = kitchen.ask(ada, &format!("remove {}", guest.display_name.to_lowercase())).await?;
    ensure!(out.contains("is out"), "{out}");
    let list = kitchen.ask(bob, "agents").await?;
    ensure!(list.contains(&scout.display_name) && !list.contains(&guest.display_name), "{list}");
    kitchen.talks_with(&scout, "the end").await?;
    kitchen.nothing_reached(&scout).await?;
    ada.say(&kitchen.id, "!agents off").await?;
    ada.see_member(&kitchen.id, BOT, "leave").await?;
    kitchen.finish(&code).await
}

/// A new code shuts the old one out, and without any there is only the door.
async fn codes_change(kitchen: &Kitchen, old: &str) -> Result<()> {
    let answer = kitchen.ask(&kitchen.ada, "code new").await?;
    ensure!(answer.contains("a new Agent code") && answer.contains("our direct chat"), "{answer}");
    let new = kitchen.letter(old).await?;
    opens_nothing(kitchen, old).await?;
    kitchen.enters("Visitor", &new).await?;
    let answer = kitchen.ask(&kitchen.ada, "code off").await?;
    ensure!(answer.contains("The Agent code is off"), "{answer}");
    opens_nothing(kitchen, &new).await
}

async fn opens_nothing(kitchen: &Kitchen, code: &str) -> Result<()> {
    let body = json!({"name": "Visitor", "code": code});
    let refused = Agent::ask_to_join(&kitchen.world.stack.bridge.url(), &body).await?;
    refused.refusal(404, "code_invalid").map(drop)
}

/// Killed as soon as it has joined, as often as it takes to greet: the room is greeted once.
#[tokio::test(flavor = "multi_thread")]
async fn killed_between_join_and_greeting() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let ada = world.human("ada", Client::Js).await?;
    for round in 0..4 {
        let made = json!({"name": "Hall", "encrypted": round % 2 == 0, "invite": [BOT]});
        let made = ada.obey("create_room", made).await?;
        let room = text(&made["room"]).to_owned();
        ada.see_member(&room, BOT, "join").await?;
        world.stack.bridge.kill()?;
        world.stack.bridge.start()?;
        world.stack.bridge.ready().await?;
        let of_bot = |e: &Value| e["room"] == room.as_str() && e["sender"] == BOT && e["kind"] == "message";
        ada.see("a greeting", of_bot).await?;
        let asked = ada.say(&room, "!agents info").await?;
        let answer = |e: &Value| of_bot(e) && e["relates"]["m.in_reply_to"]["event_id"] == asked.as_str();
        ada.see("an answer", answer).await?;
        let said = ada.events().iter().filter(|e| of_bot(e)).count();
        ensure!(said == 2, "a greeting and an answer are two, not {said}");
    }
    world.stack.finish().await
}
