//! Doors that Matrix has itself: where a room of people takes knocks, the agent's puppet really knocks, and people answer
//! with what their clients show; and a person with keys knocks on an agent's room.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Plan, encode, until};
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::text;
use crate::kitchen::Kitchen;
use crate::world::{World, agent_reads, person_reads};

/// The room's door is opened to knocks, and an agent stands before it; gives its puppet.
async fn knocks(kitchen: &Kitchen, agent: &Agent) -> Result<String> {
    let begun = kitchen.ada.events().len();
    kitchen.knock(agent).await?;
    let stands = |e: &Value| {
        e["kind"] == "member"
            && e["room"] == kitchen.id.as_str()
            && e["content"]["membership"] == "knock"
            && text(&e["content"]["displayname"]) == agent.display_name
    };
    let found = async || Ok(kitchen.ada.events().into_iter().skip(begun).find(stands));
    let knock = until("the puppet to stand before the door", 60, found).await?;
    let reason = text(&knock["content"]["reason"]);
    ensure!(reason.contains("is an AI agent and asks to be let in"), "no reason: {knock}");
    let puppet = text(&knock["stateKey"]).to_owned();
    // who invites it gives keys to what devices it has then
    let known = kitchen.ada.obey("devices", json!({"user": puppet})).await?;
    let devices = known["devices"].as_array().map_or(0, Vec::len);
    ensure!(devices == 1 && known["crossSigningKeys"] == true, "not one device with an identity: {known}");
    Ok(puppet)
}

/// What became of the agent's knock on the room, by what it is told of itself.
async fn knock_is(agent: &Agent, number: &str, status: &str) -> Result<()> {
    until(&format!("the knock to be {status}"), 60, async || {
        let me = agent.get("/me").await?.expect(200)?;
        let mut knocks = me["knocks"].as_array().into_iter().flatten();
        Ok(knocks.any(|k| k["catalogId"] == number && k["status"] == status).then_some(()))
    })
    .await
}

#[rstest]
#[case::version_10("10")]
#[case::version_12("12")]
#[tokio::test(flavor = "multi_thread")]
async fn a_puppet_knocks_itself_and_an_invitation_lets_it_in(#[case] version: &str) -> Result<()> {
    let kitchen = Kitchen::start(version, true).await?;
    let path = format!("/rooms/{}/state/m.room.join_rules/", encode(&kitchen.id));
    let rule = json!({"join_rule": "knock"});
    kitchen.ada.raw.call(Method::PUT, &path, Some(&rule)).await?.expect(200)?;

    let scout = kitchen.world.stack.agent("Scout", None).await?;
    let puppet = knocks(&kitchen, &scout).await?;
    block_in_place(|| kitchen.world.stack.synapse.restart())?;
    kitchen.world.stack.bridge.restart().await?;
    kitchen.invite(&puppet).await?;
    kitchen.ada.see_member(&kitchen.id, &puppet, "join").await?;
    let scout = kitchen.is_in(&scout).await?;
    kitchen.talks_with(&scout, "the door").await?;

    let shy = kitchen.world.stack.agent("Shy", None).await?;
    let puppet = knocks(&kitchen, &shy).await?;
    block_in_place(|| kitchen.world.stack.synapse.restart())?;
    kitchen.ada.obey("kick", json!({"room": kitchen.id, "user": puppet, "reason": "not today"})).await?;
    knock_is(&shy, &kitchen.number, "declined").await?;
    kitchen.talks_with(&scout, "the end").await?;
    kitchen.nothing_reached(&scout).await?;
    kitchen.finish("no code was told").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_knocks_on_an_agents_room_and_is_let_in() -> Result<()> {
    let world = World::start(Plan::default()).await?;
    let (owner, room) = world.owner().await?;
    let ada = world.human("ada", Client::Js).await?;
    owner.settle_in().await?;
    ada.raw
        .call(Method::POST, &format!("/knock/{}", encode(&room.id)), Some(&json!({})))
        .await?
        .expect(200)?;
    let woken = owner.wait("wait=30").await?.expect(200)?;
    ensure!(woken["wake"]["reason"] == "knocks", "{woken}");
    let knock = &woken["incomingKnocks"][0];
    ensure!(knock["matrixUserId"] == ada.user_id, "{woken}");
    let id = knock["agentId"].as_str().context("no agentId")?;
    block_in_place(|| world.stack.synapse.restart())?;
    let admit = format!("/me/private-rooms/{}/knocks/{id}", room.number);
    owner.call(Method::PUT, &admit, None).await?.expect(200)?;
    ada.accept(&room.id).await?;
    block_in_place(|| world.stack.synapse.restart())?;
    let event_id = world.human_says(&ada, &room.id, "thank you for opening").await?;
    agent_reads(&owner, &event_id, "thank you for opening").await?;
    let event_id = world.agent_says(&owner, "come in and sit").await?;
    person_reads(&ada, &event_id, "come in and sit").await?;
    world.finish(&room.id, &[&ada]).await
}
