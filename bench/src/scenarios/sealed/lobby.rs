//! What keys cost a lobby: the homeserver's CPU for a person's plain message where so many agents hear it, with keys and
//! without. Synapse adds the counts of one-time keys of all puppets in the room to the push (MSC3202), if it is told to.
use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::Den;
use crate::{
    api::Agent,
    clock::pause,
    marker,
    pump::pump,
    stats::{per, round},
    world::World,
};

const MESSAGES: usize = 100;
const PAUSE_MS: u64 = 30;

/// As many agents without keys in a lobby of their own, then those of the encrypted room in another.
pub(super) async fn run(world: &mut World, den: &Den) -> Result<Value> {
    let [plain, keyed, ..] = &world.crowd_lobbies[..] else {
        return Ok(json!({"skipped": "needs two lobbies for crowds"}));
    };
    let crowd = world.join_agents(den.guests.len(), std::slice::from_ref(plain)).await?;
    let without = cpu_ms(world, &crowd[0].room).await?;
    let (body, agents) = (json!({"room": keyed}), &den.guests);
    let entered = pump(agents.len(), 2, async |i| enter(world, &agents[i], &body).await.map(drop)).await;
    anyhow::ensure!(entered.failed == 0, "{} agents could not enter a lobby", entered.failed);
    let room = enter(world, &agents[0], &body).await?;
    let with = cpu_ms(world, &room).await?;
    world.others.extend(crowd);
    Ok(json!({
        "agents": agents.len(),
        "hsCpuMsPerMessageWithoutKeys": without,
        "hsCpuMsPerMessageWithKeys": with,
        "ratio": without.as_f64().zip(with.as_f64()).map(|(without, with)| round(with / without)),
    }))
}

/// Gives the lobby's room id.
async fn enter(world: &World, agent: &Agent, body: &Value) -> Result<String> {
    let entered = world.api.call(Method::POST, "/me/rooms", Some(agent), Some(body)).await?.body;
    Ok(entered["room"]["matrixRoomId"].as_str().unwrap_or_default().to_owned())
}

async fn cpu_ms(world: &World, room: &str) -> Result<Value> {
    world.hs.join(room, &world.person).await?;
    // the joins' own pushes come first
    pause(5_000).await;
    let (cpu, _) = world.meters();
    for _ in 0..MESSAGES {
        world.hs.send(&world.person, room, &marker::fresh()).await?;
        pause(PAUSE_MS).await;
    }
    pause(500).await;
    Ok(per(cpu.seconds().map(|s| s * 1000.0), MESSAGES))
}
