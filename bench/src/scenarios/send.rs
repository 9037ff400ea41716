//! Sends through the bridge, by turns with raw sends into the same room, so that outside load hits both alike.
use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    api::Agent,
    clock::{ms_since, now, pause},
    machine::Meter,
    marker, progress,
    pump::{Pumped, pump},
    stats::{difference, per, ratio, spread},
    world::World,
};

/// As many on both sides: a homeserver answers a sender's first events more slowly.
const SENDERS: usize = 8;
/// Blocks by turns at the higher concurrencies.
const BLOCKS: usize = 3;
/// Sends at the start that are not counted.
const WARM_UP: usize = 5;

/// The two sides of the comparison.
struct Sides<'a> {
    world: &'a World,
    users: Vec<String>,
    agents: &'a [Agent],
}

#[derive(Default)]
struct Side {
    pumped: Pumped,
    hs_cpu: Option<f64>,
}

pub(super) async fn run(world: &mut World) -> Result<Value> {
    world.need_agents(SENDERS).await?;
    let sides =
        Sides { world, users: world.floor_in_lobby(SENDERS).await?, agents: &world.agents[..SENDERS] };
    for i in 0..SENDERS {
        sides.raw(i).await?;
        sides.bridged(i).await?;
    }
    let mut block = json!({"atOnce1": sides.by_turns().await?});
    for at_once in [8, 32] {
        block[format!("atOnce{at_once}")] = sides.by_blocks(at_once).await;
    }
    Ok(block)
}

impl Sides<'_> {
    async fn raw(&self, i: usize) -> Result<()> {
        self.world.hs.send(&self.users[i % self.users.len()], self.world.room(), &marker::fresh()).await
    }

    async fn bridged(&self, i: usize) -> Result<()> {
        self.world.api.send(&self.agents[i % self.agents.len()], &marker::fresh()).await
    }

    /// One send at a time, a raw one and a bridged one in turn.
    async fn by_turns(&self) -> Result<Value> {
        let (mut raw, mut bridge, mut failed) = (vec![], vec![], 0);
        for i in 0..self.world.sizes.sends + WARM_UP {
            let start = now();
            self.raw(i).await?;
            let raw_ms = ms_since(start);
            pause(30).await;
            let bridge_ms = self.one_bridged(i).await;
            pause(30).await;
            if i >= WARM_UP {
                raw.push(raw_ms);
                bridge.extend(bridge_ms);
                failed += usize::from(bridge_ms.is_none());
            }
        }
        let mut block = compare(&spread(&raw), &spread(&bridge));
        block["failed"] = json!(failed);
        Ok(block)
    }

    async fn one_bridged(&self, i: usize) -> Option<f64> {
        let start = now();
        match self.bridged(i).await {
            Ok(()) => Some(ms_since(start)),
            Err(error) => {
                progress(format_args!("a send failed: {error:#}"));
                None
            }
        }
    }

    /// Many at once, in blocks by turns; each side's latencies, seconds and CPU added up.
    async fn by_blocks(&self, at_once: usize) -> Value {
        let (mut raw, mut bridge) = (Side::default(), Side::default());
        let bridge_cpu = Meter::start(self.world.bridge.pid());
        let calls = self.world.sizes.sends / BLOCKS;
        for _ in 0..BLOCKS {
            self.measured(&mut raw, async || pump(calls, at_once, async |i| self.raw(i).await).await).await;
            self.measured(&mut bridge, async || pump(calls, at_once, async |i| self.bridged(i).await).await)
                .await;
        }
        // the bridge is told of the raw sends as well: its CPU is that of a send and of two deliveries
        let cpu = per(bridge_cpu.seconds().map(|s| s * 1000.0), calls * BLOCKS);
        let mut block = compare(&raw.pumped.json(raw.hs_cpu), &bridge.pumped.json(bridge.hs_cpu));
        block["bridgeCpuMsPerSendAndTwoDeliveries"] = cpu;
        block
    }

    async fn measured<F: AsyncFnOnce() -> Pumped>(&self, side: &mut Side, block: F) {
        let cpu = Meter::start(self.world.hs_pid);
        side.pumped.add(block().await);
        // until the pushes of this block are over, as their CPU belongs to it
        pause(700).await;
        side.hs_cpu = cpu.seconds().map(|s| s + side.hs_cpu.unwrap_or_default());
    }
}

pub(super) fn compare(raw: &Value, bridge: &Value) -> Value {
    json!({
        "ratioP50": ratio(bridge, raw, "p50"),
        "ratioP99": ratio(bridge, raw, "p99"),
        "addedMsP50": difference(bridge, raw, "p50"),
        "ratioPerSecond": ratio(bridge, raw, "perSecond"),
        "ratioHsCpu": ratio(bridge, raw, "hsCpuMsPerCall"),
        "rawPut": raw,
        "bridge": bridge,
    })
}
