//! Acknowledgements, one by one through full inboxes: one agent alone, then 8 at once.
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{
    api::Agent,
    clock::{ms_since, now, pause},
    marker,
    pump::{Pumped, pump},
    stats::per,
    world::World,
};

/// Agents that acknowledge at the same time.
const AT_ONCE: usize = 8;
/// And one that reads the order of the events, and one that acknowledges alone.
const AGENTS: usize = AT_ONCE + 2;

pub(super) async fn run(world: &mut World) -> Result<Value> {
    world.need_agents(AGENTS).await?;
    let ids = fill(world).await?;
    let alone = all_ack(world, &world.agents[1..2], &ids).await?.json(None);
    let (_, bridge_cpu) = world.meters();
    let pumped = all_ack(world, &world.agents[2..AGENTS], &ids).await?;
    let cpu = per(bridge_cpu.seconds().map(|s| s * 1e6), pumped.latencies.len());
    Ok(json!({"alone": alone, "atOnce8": pumped.json(None), "bridgeCpuUsPerAck": cpu}))
}

/// Fills all inboxes; gives the events in the order in which the bridge has them, read by an agent that is not measured.
async fn fill(world: &World) -> Result<Vec<String>> {
    let n = world.sizes.acks;
    let sent = pump(n, 8, async |_| world.hs.send(&world.person, world.room(), &marker::fresh()).await).await;
    let (mut ids, start) = (vec![], now());
    while ids.len() < sent.latencies.len() && ms_since(start) < 30_000.0 {
        ids.extend(world.api.drain(&world.agents[0]).await?);
        pause(100).await;
    }
    match ids.len() == n {
        true => Ok(ids),
        false => bail!(
            "{n} messages were to be acknowledged, {} went out, {} came in",
            sent.latencies.len(),
            ids.len()
        ),
    }
}

/// Every agent acknowledges every event, in order, all agents at once. An acknowledgement that changes nothing is a failure.
async fn all_ack(world: &World, agents: &[Agent], ids: &[String]) -> Result<Pumped> {
    let latencies = parking_lot::Mutex::new(vec![]);
    let start = now();
    let rounds = pump(agents.len(), agents.len(), async |i| {
        let own = ack_each(world, &agents[i], ids).await?;
        latencies.lock().extend(own);
        Ok(())
    })
    .await;
    if rounds.failed > 0 {
        bail!("{} of {} agents could not acknowledge all", rounds.failed, agents.len());
    }
    Ok(Pumped { latencies: latencies.into_inner(), seconds: ms_since(start) / 1000.0, failed: 0 })
}

async fn ack_each(world: &World, agent: &Agent, ids: &[String]) -> Result<Vec<f64>> {
    let mut own = Vec::with_capacity(ids.len());
    for id in ids {
        let start = now();
        if !world.api.ack(agent, id).await? {
            bail!("an event in the inbox was not acknowledged");
        }
        own.push(ms_since(start));
    }
    Ok(own)
}
