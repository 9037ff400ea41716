//! A person of another homeserver knocks on an agent's room.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Human, encode};
use reqwest::Method;
use serde_json::json;

use crate::accepts;
use crate::world::{Room, World, agent_reads, person_reads};

pub(crate) async fn a_knock_is_answered(
    world: &World,
    owner: &Agent,
    room: &Room,
    eve: &Human,
) -> Result<()> {
    owner.settle_in().await?;
    let home = encode(world.stack.synapse.server_name());
    let path = format!("/knock/{}?via={home}&server_name={home}", encode(&room.id));
    eve.raw.call(Method::POST, &path, Some(&json!({}))).await?.expect(200)?;
    let woken = owner.wait("wait=30").await?.expect(200)?;
    ensure!(woken["wake"]["reason"] == "knocks", "{woken}");
    let knock = &woken["incomingKnocks"][0];
    ensure!(knock["matrixUserId"] == eve.user_id, "{woken}");
    let id = knock["agentId"].as_str().context("no agentId")?;
    let admit = format!("/me/private-rooms/{}/knocks/{id}", room.number);
    owner.call(Method::PUT, &admit, None).await?.expect(200)?;
    accepts(eve, &room.id).await?;
    let event_id = world.human_says(eve, &room.id, "thank you for opening").await?;
    agent_reads(owner, &event_id, "thank you for opening").await?;
    let event_id = world.agent_says(owner, "come in and sit").await?;
    person_reads(eve, &event_id, "come in and sit").await.map(drop)
}
