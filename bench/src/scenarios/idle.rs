//! Many agents in a long poll and nobody speaks: memory and CPU per waiter. Afterwards one word, which must wake all in its room.
use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    api::Agent,
    clock::{ms_since, now, pause},
    machine::{self, Process},
    marker,
    stats::round,
    waiters::Waiters,
    world::{ARRIVES, World},
};

pub(super) async fn run(world: &mut World) -> Result<Value> {
    let crowd = gather_crowd(world).await?;
    let restarted = fresh_start(world, &crowd[0]).await?;
    let before = machine::process(world.bridge.pid());
    let waiters = Waiters::start(&world.api, &crowd).await;
    let armed = machine::process(world.bridge.pid());
    let mut block = quiet(world, &waiters).await;
    drop(waiters);
    block["waiters"] = json!(crowd.len());
    block["afterRestart"] = json!(restarted);
    block["rssKiBPerWaiter"] = json!(memory_per_waiter(before, armed, crowd.len()));
    block["before"] = json!(before);
    block["armed"] = json!(armed);
    block["oneWord"] = one_word(world, &crowd).await?;
    world.others.extend(crowd);
    Ok(block)
}

/// The agents, spread over the crowd's lobbies, with empty inboxes.
async fn gather_crowd(world: &World) -> Result<Vec<Agent>> {
    let lobbies = match world.crowd_lobbies.is_empty() {
        true => world.lobby.clone().into_iter().collect(),
        false => world.crowd_lobbies.clone(),
    };
    let crowd = world.join_agents(world.sizes.idle.max(1), &lobbies).await?;
    world.drain(&crowd).await?;
    Ok(crowd)
}

/// A bridge that has just been started, so that memory left free by earlier work does not make a waiter look cheap.
pub(super) async fn fresh_start(world: &mut World, one: &Agent) -> Result<bool> {
    if !world.bridge.can_restart() {
        return Ok(false);
    }
    world.bridge.stop().await?;
    world.bridge.start()?;
    let start = now();
    while let Err(error) = world.api.drain(one).await {
        world.bridge.check_running()?;
        if ms_since(start) > 60_000.0 {
            return Err(error.context("the bridge did not answer within a minute of its start"));
        }
        pause(20).await;
    }
    // what it does in the background after a start is not the waiters' cost
    pause(5000).await;
    Ok(true)
}

pub(super) fn memory_per_waiter(before: Option<Process>, armed: Option<Process>, n: usize) -> Option<f64> {
    let (before, armed) = (before?, armed?);
    Some(round((armed.rss_kib as f64 - before.rss_kib as f64) / n as f64))
}

async fn quiet(world: &World, waiters: &Waiters) -> Value {
    let ((hs_cpu, bridge_cpu), start) = (world.meters(), now());
    let (answered, failed) = (waiters.answered(), waiters.failed());
    pause(world.sizes.idle_seconds * 1000).await;
    let seconds = ms_since(start) / 1000.0;
    let percent = |cpu: Option<f64>| cpu.map(|s| round(s * 100.0 / seconds));
    json!({
        "bridgeCpuPercent": percent(bridge_cpu.seconds()),
        "hsCpuPercent": percent(hs_cpu.seconds()),
        "quietSeconds": round(seconds),
        // each poll times out once in 30 s: far more answers would mean that the waiters were not idle
        "pollsAnswered": waiters.answered() - answered,
        "pollsFailed": waiters.failed() - failed,
    })
}

/// Wakes those of the crowd that are in the first one's room, so that nobody takes sleepers for waiters.
async fn one_word(world: &World, crowd: &[Agent]) -> Result<Value> {
    let room = &crowd[0].room;
    let there: Vec<Agent> = crowd.iter().filter(|agent| &agent.room == room).cloned().collect();
    world.hs.join(room, &world.person).await?;
    let mut waiters = Waiters::start(&world.api, &there).await;
    let (marker, start) = (marker::fresh(), now());
    world.hs.send(&world.person, room, &marker).await?;
    let got = waiters.collect(&marker, start, ARRIVES).await;
    Ok(
        json!({"waiters": there.len(), "missing": there.len() - got.len(), "firstMs": got.first().map(|x| round(*x)),
        "lastMs": got.last().map(|x| round(*x))}),
    )
}
