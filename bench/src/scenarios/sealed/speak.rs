//! A person speaks in an encrypted room, and all agents in it have the words: against the same event's arrival at the
//! floor.
use anyhow::Result;
use serde_json::{Value, json};

use super::Den;
use crate::{
    clock::{ms_between, now, pause},
    marker,
    stats::{per, spread},
    waiters::Waiters,
    world::{ARRIVES, World},
};

/// `n` guests and the owner wait.
pub(super) async fn run(world: &World, den: &mut Den, n: usize) -> Result<Value> {
    let agents: Vec<_> = std::iter::once(&den.owner).chain(&den.guests[..n]).cloned().collect();
    world.drain(&agents).await?;
    let mut waiters = Waiters::start(&world.api, &agents).await;
    let (_, cpu) = world.meters();
    let (mut minus_raw, mut raws, mut missing) = (vec![], vec![], 0);
    for _ in 0..world.sizes.fanout_events {
        let marker = marker::fresh();
        let sealed = den.person.seal(&den.room, &marker).await?;
        let start = now();
        den.put_sealed(world, &sealed).await?;
        let got = waiters.collect(&marker, start, ARRIVES).await;
        missing += agents.len() - got.len();
        let raw = world.floor.wait_for(&marker, ARRIVES).await.map(|at| ms_between(start, at));
        if let (Some(raw), Some(last), true) = (raw, got.last(), got.len() == agents.len()) {
            raws.push(raw);
            minus_raw.push(last - raw);
        }
        pause(150 + n as u64).await;
    }
    Ok(json!({
        "waiters": agents.len(),
        "lastMinusRawMs": spread(&minus_raw),
        "rawTransactionOfSameEvent": spread(&raws),
        "missing": missing,
        "bridgeCpuMsPerEvent": per(cpu.seconds().map(|s| s * 1000.0), world.sizes.fanout_events),
    }))
}
