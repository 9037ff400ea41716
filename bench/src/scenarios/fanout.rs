//! A person sends and N waiting agents all return, against the same event's arrival in the floor's own transaction.
use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{
    clock::{ms_between, now, pause},
    marker,
    stats::{difference, per, ratio, spread},
    waiters::Waiters,
    world::{ARRIVES, World},
};

/// Members of the floor's room at most: more only take time to join.
const FLOOR_ROOM: usize = 50;
/// After so many messages in a row that did not reach everybody, the rest would not either.
const GIVE_UP: usize = 3;

/// What one number of waiters gave.
#[derive(Default)]
struct Times {
    raw: Vec<f64>,
    floor_room: Vec<f64>,
    first: Vec<f64>,
    middle: Vec<f64>,
    last: Vec<f64>,
    each: Vec<f64>,
    first_minus_raw: Vec<f64>,
    last_minus_raw: Vec<f64>,
    missing: usize,
    short_in_a_row: usize,
}

pub(super) async fn run(world: &mut World) -> Result<Value> {
    let mut block = json!({"missing": 0});
    for n in world.sizes.fanout.clone() {
        world.need_agents(n).await?;
        let one = with_waiters(world, n).await?;
        block["missing"] =
            json!(block["missing"].as_u64().unwrap_or(0) + one["missing"].as_u64().unwrap_or(0));
        block[format!("waiters{n}")] = one;
    }
    Ok(block)
}

async fn with_waiters(world: &World, n: usize) -> Result<Value> {
    let (room, user) = world.floor_room(&format!("fan{n}n"), n.min(FLOOR_ROOM) + 1).await?;
    let mut waiters = Waiters::start(&world.api, &world.agents[..n]).await;
    let (hs_cpu, bridge_cpu) = world.meters();
    let mut times = Times::default();
    for _ in 0..world.sizes.fanout_events {
        times.floor_room.extend(world.raw_delivery(&user, &room).await?);
        pause(60).await;
        times.note(world, &mut waiters, n).await?;
        pause(150 + n as u64).await;
    }
    let (events, ms) = (world.sizes.fanout_events, |s: f64| s * 1000.0);
    let mut block = times.json();
    block["hsCpuMsPerPairOfEvents"] = per(hs_cpu.seconds().map(ms), events);
    block["bridgeCpuMsPerEvent"] = per(bridge_cpu.seconds().map(ms), events);
    block["bridgeCpuUsPerDelivery"] = per(bridge_cpu.seconds().map(|s| s * 1e6), events * n);
    block["failedPolls"] = json!(waiters.failed());
    Ok(block)
}

impl Times {
    async fn note(&mut self, world: &World, waiters: &mut Waiters, n: usize) -> Result<()> {
        let (marker, start) = (marker::fresh(), now());
        world.hs.send(&world.person, world.room(), &marker).await?;
        let got = waiters.collect(&marker, start, ARRIVES).await;
        let raw = world.floor.wait_for(&marker, ARRIVES).await.map(|at| ms_between(start, at));
        self.missing += n - got.len();
        self.short_in_a_row = if got.len() < n { self.short_in_a_row + 1 } else { 0 };
        if self.short_in_a_row == GIVE_UP {
            bail!("only {} of {n} waiters got a message, {GIVE_UP} times over", got.len());
        }
        if let (Some(raw), true) = (raw, got.len() == n) {
            self.note_full(raw, &got);
        }
        self.each.extend(got);
        Ok(())
    }

    fn note_full(&mut self, raw: f64, got: &[f64]) {
        let (Some(first), Some(last)) = (got.first(), got.last()) else { return };
        self.raw.push(raw);
        self.first.push(*first);
        self.middle.push(got[got.len() / 2]);
        self.last.push(*last);
        self.first_minus_raw.push(first - raw);
        self.last_minus_raw.push(last - raw);
    }

    fn json(&self) -> Value {
        let (raw, floor_room, last) = (spread(&self.raw), spread(&self.floor_room), spread(&self.last));
        json!({
            "lastMinusRawMs": spread(&self.last_minus_raw),
            "firstMinusRawMs": spread(&self.first_minus_raw),
            "ratioLastP50": ratio(&last, &raw, "p50"),
            // the second opinion, from a room that the bridge does not hear of
            "lastMinusFloorRoomMsP50": difference(&last, &floor_room, "p50"),
            "ratioLastToFloorRoomP50": ratio(&last, &floor_room, "p50"),
            "missing": self.missing,
            "rawTransactionOfSameEvent": raw,
            "rawTransactionFloorRoom": floor_room,
            "firstWaiter": spread(&self.first),
            "middleWaiter": spread(&self.middle),
            "lastWaiter": last,
            "eachDelivery": spread(&self.each),
        })
    }
}
