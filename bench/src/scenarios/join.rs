//! Joins, one at a time and 8 at once, against floor users that register and join a room of their own.
use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    machine::Meter,
    pump::{gather, pump},
    stats::{per, ratio},
    world::World,
};

pub(super) async fn run(world: &mut World) -> Result<Value> {
    world.need_agents(1).await?;
    let mut block = json!({});
    for at_once in [1, 8] {
        let floor = floor_joins(world, at_once).await?;
        let bridge = agents_join(world, at_once).await;
        block[format!("atOnce{at_once}")] = json!({
            "ratioP50": ratio(&bridge, &floor, "p50"),
            "ratioPerSecond": ratio(&bridge, &floor, "perSecond"),
            "ratioHsCpu": ratio(&bridge, &floor, "hsCpuMsPerCall"),
            "floorRegisterAndJoin": floor,
            "bridge": bridge,
        });
    }
    Ok(block)
}

async fn floor_joins(world: &World, at_once: usize) -> Result<Value> {
    let room = world.hs.create_room(&world.person, "floor joins").await?;
    let cpu = Meter::start(world.hs_pid);
    let pumped = pump(world.sizes.joins, at_once, async |i| {
        let user = world.hs.register(&format!("{}join{at_once}n{i}", world.tag)).await?;
        world.hs.join(&room, &user).await
    })
    .await;
    Ok(pumped.json(cpu.seconds()))
}

async fn agents_join(world: &mut World, at_once: usize) -> Value {
    let (hs_cpu, bridge_cpu) = world.meters();
    let (api, lobby) = (&world.api, world.lobby.as_deref());
    let (agents, pumped) =
        gather(world.sizes.joins, at_once, async |i| api.join(&format!("Join {i}"), lobby).await).await;
    let mut block = pumped.json(hs_cpu.seconds());
    block["bridgeCpuMsPerCall"] = per(bridge_cpu.seconds().map(|s| s * 1000.0), agents.len());
    world.agents.extend(agents);
    block
}
