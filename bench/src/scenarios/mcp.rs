//! MCP beside REST: what a tool costs that does nothing, what a thousand handshakes leave behind, what a waiting call holds.
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::idle::{fresh_start, memory_per_waiter};
use crate::{
    api::{Agent, Form},
    clock::{ms_since, now, pause},
    machine,
    pump::pump,
    stats::{difference, round, spread},
    world::World,
};

/// Calls of each kind, by turns.
const CALLS: usize = 2000;
const HANDSHAKES: usize = 10_000;
/// Memory that the allocator keeps is there after these.
const WARM_UP: usize = 2000;

pub(super) async fn run(world: &mut World) -> Result<Value> {
    world.need_agents(1).await?;
    let one = world.agents[0].clone();
    let mut block = no_op(world, &one).await?;
    block["handshakes"] = handshakes(world).await?;
    for form in [Form::Json, Form::Stream] {
        block[form.name()]["rssKiBPerWaitingCall"] = json!(waiting(world, &one, form).await?);
    }
    Ok(block)
}

/// Who am I: memory only on the bridge's side.
async fn no_op(world: &World, one: &Agent) -> Result<Value> {
    let (mut rest, mut by_json, mut by_stream) = (vec![], vec![], vec![]);
    for _ in 0..CALLS {
        let start = now();
        world.api.me(one).await?;
        rest.push(ms_since(start));
        for (form, times) in [(Form::Json, &mut by_json), (Form::Stream, &mut by_stream)] {
            let start = now();
            world.api.tool(one, form, "get_self", json!({})).await?;
            times.push(ms_since(start));
        }
    }
    let (rest, by_json, by_stream) = (spread(&rest), spread(&by_json), spread(&by_stream));
    let added = difference(&by_json, &rest, "p50");
    Ok(json!({"rest": rest, "addedMsP50": added, "json": {"noOp": by_json}, "stream": {"noOp": by_stream}}))
}

async fn handshakes(world: &World) -> Result<Value> {
    let some = async |n: usize| {
        let pumped = pump(n, 8, async |_| world.api.initialize().await).await;
        ensure!(pumped.failed == 0, "{} handshakes failed", pumped.failed);
        Ok(pumped)
    };
    some(WARM_UP).await?;
    let before = machine::process(world.bridge.pid());
    let pumped = some(HANDSHAKES).await?;
    let after = machine::process(world.bridge.pid());
    let grown = before.zip(after).map(|(before, after)| after.rss_kib as f64 - before.rss_kib as f64);
    Ok(json!({"n": HANDSHAKES, "grownKiB": grown, "perSecond": round(pumped.per_second())}))
}

/// All agents of the crowd wait. More of them make it truer; `idle` has brought a thousand.
async fn waiting(world: &mut World, one: &Agent, form: Form) -> Result<Option<f64>> {
    let crowd: Vec<Agent> = if world.others.is_empty() { world.agents.clone() } else { world.others.clone() };
    fresh_start(world, one).await?;
    let before = machine::process(world.bridge.pid());
    let mut calls = JoinSet::new();
    for agent in crowd.clone() {
        let api = world.api.clone();
        calls.spawn(async move { api.tool(&agent, form, "wait_for_messages", json!({})).await });
    }
    pause(3000 + 4 * crowd.len() as u64).await;
    let armed = machine::process(world.bridge.pid());
    while let Some(call) = calls.join_next().await {
        let answer = call.context("a waiting call was dropped")??;
        ensure!(answer["wake"]["reason"].is_string(), "a wait ended with {answer}");
    }
    Ok(memory_per_waiter(before, armed, crowd.len()))
}
