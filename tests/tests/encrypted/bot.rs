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
    kitchen.refuses_bob("code", "invite").await?;
    let code = kitchen.code().await?;
    signed_device(ada, BOT).await?;
    let guest = kitchen.enters("Guest", &code).await?;
    kitchen.talks_with(&guest, "the code").await?;
    let visitor = codes_change(&kitchen, &code).await?;
    in_the_chat(&kitchen, [&guest, &visitor]).await?;
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

    helps_everybody(&kitchen).await?;
    admitted_by_word(&kitchen).await?;
    brought_in(&kitchen).await?;
    let answer = kitchen.ask_in_form("agents knocks").await?;
    ensure!(answer == "Nobody knocks right now.", "{answer}");

    // and out again
    kitchen.refuses_bob("remove Guest", "remove").await?;
    let out = kitchen.ask(ada, &format!("remove {}", guest.display_name.to_lowercase())).await?;
    ensure!(out.contains("is out"), "{out}");
    let list = kitchen.ask(bob, "agents").await?;
    ensure!(list.contains(&scout.display_name) && !list.contains(&guest.display_name), "{list}");
    kitchen.talks_with(&scout, "the end").await?;
    leaves_and_comes_back(&kitchen, &scout).await?;
    kitchen.nothing_reached(&scout).await?;
    kitchen.send_away("off").await?;
    scout.until_out(&kitchen.id).await?;
    kitchen.finish(&code).await
}

/// Ada need not say there which room she means where it is the only one.
async fn in_the_chat(kitchen: &Kitchen, [guest, visitor]: [&Agent; 2]) -> Result<()> {
    let answer = kitchen.ask_in_chat("knocks").await?;
    ensure!(answer == "Nobody knocks in Kitchen right now.", "{answer}");
    let out = kitchen.ask_in_chat("remove Visitor in Kitchen").await?;
    ensure!(out.contains("is out in Kitchen"), "{out}");
    let list = kitchen.ask_in_chat("agents in Kitchen").await?;
    ensure!(list.contains(&guest.display_name) && !list.contains(&visitor.display_name), "{list}");
    Ok(())
}

async fn helps_everybody(kitchen: &Kitchen) -> Result<()> {
    for who in [&kitchen.bob, &kitchen.ada] {
        let help = kitchen.ask(who, "help").await?;
        ensure!(help.contains("!agents admit NAME"), "{help}");
    }
    Ok(())
}

/// Without power one neither learns who knocks nor answers it.
async fn admitted_by_word(kitchen: &Kitchen) -> Result<()> {
    let timid = kitchen.world.stack.agent("Timid", None).await?;
    let notice = kitchen.knock(&timid).await?;
    kitchen.refuses_bob("knocks", "invite").await?;
    kitchen.refuses_bob("admit Timid", "invite").await?;
    let waiting = kitchen.ask(&kitchen.ada, "knocks").await?;
    ensure!(waiting.contains(&timid.display_name), "it waits no more: {waiting}");
    let answer = kitchen.ask(&kitchen.ada, "admit Timid").await?;
    ensure!(answer.contains("is in now"), "{answer}");
    let told = kitchen.told(&notice).await?;
    ensure!(told.contains("was let in by ada"), "{told}");
    let timid = kitchen.is_in(&timid).await?;
    kitchen.talks_with(&timid, "a word at the door").await
}

/// An agent that did not knock.
async fn brought_in(kitchen: &Kitchen) -> Result<()> {
    let cook = kitchen.world.stack.agent("Cook", None).await?;
    kitchen.refuses_bob("invite Cook", "invite").await?;
    let list = kitchen.ask(&kitchen.bob, "agents").await?;
    ensure!(!list.contains(&cook.display_name), "brought in by somebody without power: {list}");
    let answer = kitchen.ask(&kitchen.ada, "invite Cook").await?;
    ensure!(answer.contains("is in now"), "{answer}");
    let cook = kitchen.is_in(&cook).await?;
    kitchen.talks_with(&cook, "the invitation").await
}

/// Agents stay without the bot, and it greets anew once it is invited again.
async fn leaves_and_comes_back(kitchen: &Kitchen, scout: &Agent) -> Result<()> {
    kitchen.refuses_bob("leave", "remove").await?;
    kitchen.send_away("leave").await?;
    kitchen.talks_with(scout, "the bot that left").await?;
    kitchen.invite(BOT).await?;
    let greeting = kitchen.bot_says("Its number is").await?;
    ensure!(text(&greeting["body"]).contains(&kitchen.number), "another number: {greeting}");
    Ok(())
}

/// A new code shuts the old one out, and without any there is only the door. Gives who came by the new one.
async fn codes_change(kitchen: &Kitchen, old: &str) -> Result<Agent> {
    let answer = kitchen.ask(&kitchen.ada, "code new").await?;
    ensure!(answer.contains("a new Agent code") && answer.contains("our direct chat"), "{answer}");
    let new = kitchen.letter(old).await?;
    opens_nothing(kitchen, old).await?;
    let visitor = kitchen.enters("Visitor", &new).await?;
    let answer = kitchen.ask(&kitchen.ada, "code off").await?;
    ensure!(answer.contains("The Agent code is off"), "{answer}");
    opens_nothing(kitchen, &new).await?;
    Ok(visitor)
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
