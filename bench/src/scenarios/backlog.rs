//! The bridge and the floor are both down while messages pile up. Then the floor comes back, which is what the homeserver
//! itself needs, and after it the bridge: until it answers, until the newest message is in an inbox, with none lost.
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::{
    api::{Agent, markers},
    clock::{ms_between, ms_since, now, pause},
    marker,
    pump::pump,
    stats::round,
    world::World,
};

/// With neither side's delivery done by then something is broken.
const DONE: Duration = Duration::from_secs(600);

/// What piled up.
struct Pile {
    events: usize,
    /// The last one, said by a user who says nothing else.
    newest: String,
    sentinel: String,
}

pub(super) async fn run(world: &mut World) -> Result<Value> {
    if !world.bridge.can_restart() {
        return Ok(json!({"skipped": "needs --restart-command, --pid-file and --pid"}));
    }
    world.need_agents(2).await?;
    let sentinel = world.floor_in_lobby(1).await?.remove(0);
    world.drain(&world.agents[..2]).await?;
    world.bridge.kill().await?;
    world.floor.set_down(true);
    let piled = pile_up(world, sentinel).await;
    // also after an error: the next scenario needs both
    world.floor.set_down(false);
    let floor = floor_returns(world, piled.as_ref().ok()).await;
    let start = now();
    world.bridge.start()?;
    bridge_returns(world, &piled?, floor?, start).await
}

async fn pile_up(world: &World, sentinel: String) -> Result<Pile> {
    let n = world.sizes.backlog;
    let sent =
        pump(n - 1, 16, async |_| world.hs.send(&world.person, world.room(), &marker::fresh()).await).await;
    if sent.failed > 0 {
        bail!("{} of {n} messages could not be sent", sent.failed);
    }
    let newest = marker::fresh();
    world.hs.send(&sentinel, world.room(), &newest).await?;
    Ok(Pile { events: n, newest, sentinel })
}

/// Seconds that the homeserver takes to deliver the pile to an appservice that costs nothing.
async fn floor_returns(world: &World, pile: Option<&Pile>) -> Result<f64> {
    let start = now();
    world.hs.ping().await?;
    let Some(pile) = pile else { return Ok(0.0) };
    let at = world.floor.wait_for(&pile.newest, DONE).await;
    Ok(ms_between(start, at.with_context(|| format!("the floor did not have the pile within {DONE:?}"))?)
        / 1000.0)
}

async fn bridge_returns(world: &mut World, pile: &Pile, floor: f64, start: Instant) -> Result<Value> {
    let answers = answers_again(world, start).await?;
    let inbox = newest_arrives(world, &world.agents[0], pile).await?;
    let delivered = ms_since(start) / 1000.0;
    let number = |key: &str| inbox[key].as_u64().unwrap_or_default();
    // what fell out of the inbox was delivered too: the agent is told how many
    let accounted = number("pending") + number("dropped");
    Ok(json!({
        "answersAfterSeconds": round(answers),
        "allDeliveredAfterSeconds": round(delivered),
        "floorDeliveredAfterSeconds": round(floor),
        "ratioToFloor": round(delivered / floor.max(f64::EPSILON)),
        "ratioToFloorOnceAnswering": round((delivered - answers) / floor.max(f64::EPSILON)),
        "events": pile.events,
        "pending": number("pending"),
        "dropped": number("dropped"),
        "unaccounted": (pile.events as u64).abs_diff(accounted),
    }))
}

/// Seconds until an agent's call is answered.
async fn answers_again(world: &mut World, start: Instant) -> Result<f64> {
    while let Err(error) = world.api.wait(&world.agents[1], "wait=0&limit=1").await {
        world.bridge.check_running()?;
        if ms_since(start) > 60_000.0 {
            return Err(error.context("the bridge did not answer within a minute of its start"));
        }
        pause(5).await;
    }
    Ok(ms_since(start) / 1000.0)
}

/// One long poll for what the sentinel says; its answer has the numbers of the whole inbox.
async fn newest_arrives(world: &World, agent: &Agent, pile: &Pile) -> Result<Value> {
    let (query, start) = (format!("wait=30&limit=1&{}", World::only_from(&pile.sentinel)), now());
    while now().duration_since(start) < DONE {
        match world.api.wait(agent, &query).await {
            Ok(answer) if markers(&answer.body).contains(&pile.newest) => return Ok(answer.body),
            Ok(_) => {}
            Err(_) => pause(50).await,
        }
    }
    bail!("the newest message was not in the inbox within {DONE:?}")
}
