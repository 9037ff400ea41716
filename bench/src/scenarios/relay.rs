//! One agent sends, another agent's wait returns: the whole way through bridge, homeserver and bridge again.
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{
    clock::{ms_between, ms_since, now, pause},
    marker,
    stats::{difference, ratio, spread},
    waiters::Waiters,
    world::{ARRIVES, World},
};

/// With more than this many lost there is nothing to measure.
const TOO_MANY_LOST: usize = 3;

#[derive(Default)]
struct Times {
    answered: Vec<f64>,
    heard: Vec<f64>,
    /// The same event at the floor, which has users in the lobby.
    raw: Vec<f64>,
    missing: usize,
}

pub(super) async fn run(world: &mut World) -> Result<Value> {
    world.need_agents(2).await?;
    let mut waiter = Waiters::start(&world.api, &world.agents[1..2]).await;
    let mut times = Times::default();
    for _ in 0..world.sizes.relays {
        // a person's word in between, or the loop guard would see two agents that talk without end
        world.raw_delivery(&world.person, world.room()).await?;
        pause(60).await;
        times.note(world, &mut waiter).await?;
        pause(60).await;
    }
    Ok(times.json())
}

impl Times {
    async fn note(&mut self, world: &World, waiter: &mut Waiters) -> Result<()> {
        let (marker, start) = (marker::fresh(), now());
        let (answered, heard) =
            tokio::join!(send(world, &marker, start), waiter.collect(&marker, start, ARRIVES));
        self.answered.push(answered?);
        self.missing += usize::from(heard.is_empty());
        self.heard.extend(heard);
        let raw = world.floor.wait_for(&marker, ARRIVES).await;
        self.raw.extend(raw.map(|at| ms_between(start, at)));
        if self.missing > TOO_MANY_LOST {
            bail!("more than {TOO_MANY_LOST} messages never reached the other agent");
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let (heard, raw) = (spread(&self.heard), spread(&self.raw));
        json!({
            "ratioP50": ratio(&heard, &raw, "p50"),
            "minusRawMsP50": difference(&heard, &raw, "p50"),
            "missing": self.missing,
            "sendAnswered": spread(&self.answered),
            "otherAgentHasIt": heard,
            "rawTransactionOfSameEvent": raw,
        })
    }
}

async fn send(world: &World, marker: &str, start: Instant) -> Result<f64> {
    world.api.send(&world.agents[0], marker).await?;
    Ok(ms_since(start))
}
