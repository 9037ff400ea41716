//! Many agents wait in one lobby while a person speaks once a second and names one of them in every twentieth message: what
//! presence, receipts and typing cost the homeserver, each alone and all together, against the same with all of it off.
use std::time::Duration;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::{
    api::{Agent, Api, event_ids},
    clock::{fresh_id, ms_since, now, pause},
    homeserver::{Homeserver, encode},
    machine::Meter,
    stats::round,
    world::World,
};

/// As agents do it: what concerns them wakes them, once there was quiet.
const QUERY: &str = "wait=30&limit=50";
/// One of so many messages names an agent.
const NAMES_ONE_IN: u64 = 20;
/// What is switched on in each stretch. That which the others are held against comes first, in between and last, as a young
/// homeserver still has work of its own in the background that becomes less; on both sides of what has a target.
const OFF: (&str, [bool; 3]) = ("off", [false; 3]);
const STRETCHES: [(&str, [bool; 3]); 7] = [
    OFF,
    ("all", [true, true, true]),
    OFF,
    ("presence", [true, false, false]),
    ("receipts", [false, true, false]),
    ("typing", [false, false, true]),
    OFF,
];
/// Until all wait and all are shown; and a minute after its start the bridge looks through rooms for what it missed.
const SETTLES_SECONDS: u64 = 80;
const SWITCHES: [&str; 3] = ["PRESENCE", "RECEIPTS", "TYPING"];

pub(super) async fn run(world: &mut World) -> Result<Value> {
    if !world.bridge.is_ours() {
        return Ok(json!({"skipped": "the bridge has to be started anew with other switches"}));
    }
    world.need_agents(world.sizes.manners).await?;
    let mut cpu = Map::new();
    for round_no in 0..world.sizes.manners_rounds {
        for (name, on) in STRETCHES {
            let per_second = stretch(world, on).await.with_context(|| format!("{name}, round {round_no}"))?;
            let all = cpu.entry(name).or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.push(json!(per_second)));
        }
    }
    world.bridge.set_env(&[]);
    restart(world).await?;
    Ok(block(world.sizes.manners, &cpu))
}

/// The homeserver's CPU in milliseconds a second, and how much more than with all switched off, in percent.
fn block(agents: usize, cpu: &Map<String, Value>) -> Value {
    let mean = |name: &str| {
        let all: Option<Vec<f64>> = cpu[name].as_array()?.iter().map(Value::as_f64).collect();
        let all = all.filter(|all| !all.is_empty())?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    };
    let extra = |name: &str| Some(round(100.0 * (mean(name)? / mean(OFF.0)? - 1.0)));
    let named = STRETCHES.iter().filter(|stretch| **stretch != OFF);
    let extra: Map<String, Value> = named.map(|(name, _)| ((*name).to_owned(), json!(extra(name)))).collect();
    json!({"agents": agents, "hsCpuMsPerSecond": cpu, "extraPercent": extra})
}

async fn stretch(world: &mut World, on: [bool; 3]) -> Result<Option<f64>> {
    let switch = |(name, on): (&str, bool)| (format!("PARLOUR__PEOPLE__{name}"), on.to_string());
    world.bridge.set_env(&SWITCHES.into_iter().zip(on).map(switch).collect::<Vec<_>>());
    restart(world).await?;
    let agents = &world.agents[..world.sizes.manners];
    let mut crowd = JoinSet::new();
    for agent in agents.iter().cloned() {
        crowd.spawn(listen(agent, world.api.clone()));
    }
    let watcher = (world.hs.clone(), world.person.clone());
    crowd.spawn(async move { watch(&watcher.0, &watcher.1).await });
    let puppets = puppets(world).await?;
    speak(world, &puppets, SETTLES_SECONDS).await?;
    let (meter, start) = (Meter::start(world.hs_pid), now());
    speak(world, &puppets, world.sizes.manners_seconds).await?;
    Ok(meter.seconds().map(|s| round(s * 1e6 / ms_since(start))))
}

/// The agents' Matrix ids.
async fn puppets(world: &World) -> Result<Vec<String>> {
    let path = format!("/rooms/{}/joined_members", encode(world.room()));
    let members = world.hs.call(Method::GET, &path, &world.person, None).await?;
    let members = members["joined"].as_object().into_iter().flatten().map(|(user, _)| user.clone());
    Ok(members.filter(|user| user.starts_with("@agent_")).collect())
}

/// The person's messages, one a second.
async fn speak(world: &World, puppets: &[String], seconds: u64) -> Result<()> {
    let start = now();
    for n in 0..seconds {
        let named = (n % NAMES_ONE_IN == 0 && !puppets.is_empty())
            .then(|| puppets[(n as usize * 7) % puppets.len()].clone());
        let mentions = named.map_or_else(|| json!({}), |user| json!({"user_ids": [user]}));
        let body = json!({"msgtype": "m.text", "body": format!("word {n}"), "m.mentions": mentions});
        let path = format!("/rooms/{}/send/m.room.message/{}", encode(world.room()), fresh_id());
        world.hs.call(Method::PUT, &path, &world.person, Some(&body)).await?;
        let left = 1_000.0 * (n + 1) as f64 - ms_since(start);
        tokio::time::sleep(Duration::from_millis(left.max(0.0) as u64)).await;
    }
    Ok(())
}

/// An agent that reads, thinks for a moment and acknowledges.
async fn listen(agent: Agent, api: Api) {
    loop {
        let Ok(answer) = api.wait(&agent, QUERY).await else {
            pause(300).await;
            continue;
        };
        if let Some(last) = event_ids(&answer.body).last() {
            pause(500).await;
            let _ = api.ack(&agent, last).await;
        }
    }
}

/// The person's client: what is shown has to be shown to somebody.
async fn watch(hs: &Homeserver, person: &str) {
    let mut since = String::new();
    loop {
        let path = format!("/sync?timeout=20000{since}");
        match hs.call(Method::GET, &path, person, None).await {
            Ok(body) => {
                let next = body["next_batch"].as_str().unwrap_or_default();
                since = format!("&since={}", encode(next));
            }
            Err(_) => pause(500).await,
        }
    }
}

async fn restart(world: &mut World) -> Result<()> {
    world.bridge.stop().await?;
    world.bridge.start()?;
    let start = now();
    while let Err(error) = world.api.drain(&world.agents[0]).await {
        world.bridge.check_running()?;
        if ms_since(start) > 60_000.0 {
            return Err(error.context("the bridge did not answer within a minute of its start"));
        }
        pause(50).await;
    }
    world.drain(&world.agents[..world.sizes.manners]).await
}
