//! Made-up transactions straight to the bridge's appservice port: what it takes in with no homeserver in the way.
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::{
    api::{Agent, event_ids, markers},
    clock::{fresh_id, ms_since, now, pause, unix_ms},
    homeserver::http_client,
    machine::Meter,
    marker,
    registration::Registration,
    stats::{per, round, spread},
    waiters::Waiters,
    world::{ARRIVES, World},
};

/// Transactions with a single event cost mostly the request: fewer of them say enough.
const SINGLES: usize = 1000;
/// Waiters when the way from a transaction to an agent is timed, at most.
const WAITERS: usize = 200;
const WAKES: usize = 40;
/// An agent reads this often while it waits for the newest event.
const POLLS: usize = 20;

/// Plays the homeserver.
pub(super) struct Pusher<'a> {
    world: &'a World,
    room: &'a str,
    http: reqwest::Client,
    registration: &'a Registration,
    /// Says only the last event of a block, so that one long poll tells when the bridge is through with it.
    sentinel: String,
}

pub(super) async fn run(world: &mut World) -> Result<Value> {
    if world.registration.is_none() {
        return Ok(json!({"skipped": "needs --registration"}));
    }
    world.need_agents(1).await?;
    let sentinel = world.floor_in_lobby(1).await?.remove(0);
    let waiters = world.agents.len().min(WAITERS);
    let pusher = Pusher::new(world, world.room(), &sentinel)?;
    let singles = pusher.block(1, SINGLES.min(world.sizes.ingest)).await?;
    let hundreds = pusher.block(100, world.sizes.ingest / 100).await?;
    world.drain(&world.agents).await?;
    let wake = pusher.wakes(waiters).await?;
    Ok(json!({"transactionsOf1": singles, "transactionsOf100": hundreds, "wake": wake}))
}

impl<'a> Pusher<'a> {
    pub(super) fn new(world: &'a World, room: &'a str, sentinel: &str) -> Result<Self> {
        let registration = world.registration.as_ref().context("no registration")?;
        Ok(Self { world, room, http: http_client()?, registration, sentinel: sentinel.to_owned() })
    }

    /// Transactions that were made before, until what the last of their events says is in an agent's inbox.
    pub(super) async fn all(
        &self,
        transactions: &[Vec<Value>],
        newest: &str,
        agent: &Agent,
    ) -> Result<Value> {
        let (cpu, start, mut answered) = (Meter::start(self.world.bridge.pid()), now(), vec![]);
        for events in transactions {
            answered.push(self.push(&self.transaction(events, &Map::new())).await?);
        }
        let taken = ms_since(start) / 1000.0;
        let mut seen = false;
        for _ in 0..20 * POLLS {
            let answer = self.world.api.wait(agent, "wait=30&limit=50&settle=0&wake=all").await?.body;
            let Some(last) = event_ids(&answer).pop() else { continue };
            seen = markers(&answer).iter().any(|m| m == newest);
            self.world.api.ack(agent, &last).await?;
            if seen {
                break;
            }
        }
        if !seen {
            bail!("the last made-up event was in no inbox");
        }
        let events = transactions.iter().map(Vec::len).sum();
        Ok(figures(events, &answered, taken, ms_since(start) / 1000.0, cpu.seconds()))
    }

    /// So many transactions of `size` events, one at a time as a homeserver sends them, until the last is in an inbox.
    async fn block(&self, size: usize, transactions: usize) -> Result<Value> {
        let newest = marker::fresh();
        let (cpu, start, mut answered) = (Meter::start(self.world.bridge.pid()), now(), vec![]);
        for i in 0..transactions {
            let mut events: Vec<Value> =
                (1..size).map(|_| self.event(&self.world.person, &marker::fresh())).collect();
            let last = i + 1 == transactions;
            events.push(if last {
                self.event(&self.sentinel, &newest)
            } else {
                self.event(&self.world.person, &marker::fresh())
            });
            answered.push(self.push(&self.transaction(&events, &Map::new())).await?);
        }
        let taken = ms_since(start) / 1000.0;
        self.in_an_inbox(&newest, start).await?;
        Ok(figures(size * transactions, &answered, taken, ms_since(start) / 1000.0, cpu.seconds()))
    }

    async fn in_an_inbox(&self, newest: &str, start: Instant) -> Result<()> {
        let query = format!("wait=30&limit=1&{}", World::only_from(&self.sentinel));
        let agent = &self.world.agents[0];
        for _ in 0..POLLS {
            let answer = self.world.api.wait(agent, &query).await?.body;
            if markers(&answer).iter().any(|m| m == newest) {
                self.world.api.drain(agent).await?;
                return Ok(());
            }
        }
        bail!("the last made-up event was in no inbox {:.0} s after the first", ms_since(start) / 1000.0)
    }

    /// A message as a homeserver would push it. Room and sender are real, the event is not.
    pub(super) fn event(&self, sender: &str, text: &str) -> Value {
        self.made_up("m.room.message", sender, json!({"msgtype": "m.text", "body": text, "m.mentions": {}}))
    }

    /// The same of what the sentinel has encrypted.
    pub(super) fn sealed_event(&self, content: Value) -> Value {
        self.made_up("m.room.encrypted", &self.sentinel, content)
    }

    fn made_up(&self, kind: &str, sender: &str, content: Value) -> Value {
        json!({
            "type": kind, "room_id": self.room, "sender": sender, "user_id": sender,
            // 43 characters, as event ids have since room version 4
            "event_id": format!("${}madeup-load", fresh_id()),
            "origin_server_ts": unix_ms(), "age": 20, "unsigned": {"age": 20},
            "content": content,
        })
    }

    /// A transaction's body; `extras` are its other parts.
    pub(super) fn transaction(&self, events: &[Value], extras: &Map<String, Value>) -> Value {
        let mut body = extras.clone();
        body.insert("events".to_owned(), json!(events));
        Value::Object(body)
    }

    /// One transaction; milliseconds until its answer.
    pub(super) async fn push(&self, body: &Value) -> Result<f64> {
        let base = self.registration.url.trim_end_matches('/');
        let url = format!("{base}/_matrix/app/v1/transactions/{}", fresh_id());
        let request = self.http.put(url).bearer_auth(&self.registration.hs_token).json(body);
        let start = now();
        let answer = request.send().await?;
        let status = answer.status();
        answer.bytes().await?;
        match status.is_success() {
            true => Ok(ms_since(start)),
            false => bail!("the bridge answered a transaction with {status}"),
        }
    }

    /// From a transaction to `n` waiting agents.
    async fn wakes(&self, n: usize) -> Result<Value> {
        let mut waiters = Waiters::start(&self.world.api, &self.world.agents[..n]).await;
        let (mut first, mut last, mut missing) = (vec![], vec![], 0);
        for _ in 0..WAKES {
            let (marker, start) = (marker::fresh(), now());
            let event = self.event(&self.world.person, &marker);
            self.push(&self.transaction(&[event], &Map::new())).await?;
            let got = waiters.collect(&marker, start, ARRIVES).await;
            missing += n - got.len();
            first.extend(got.first());
            last.extend(got.last());
            pause(60 + n as u64).await;
        }
        Ok(json!({"waiters": n, "missing": missing, "first": spread(&first), "last": spread(&last)}))
    }
}

/// `taken` is until the last answer, `read` until the last event could be read by an agent.
fn figures(events: usize, answered: &[f64], taken: f64, read: f64, cpu: Option<f64>) -> Value {
    let rate = |seconds: f64| round(events as f64 / seconds.max(f64::EPSILON));
    json!({
        "answered": spread(answered),
        "events": events,
        "eventsPerSecond": rate(taken),
        "eventsPerSecondUntilRead": rate(read),
        "eventsPerBridgeCpuSecond": cpu.map(rate),
        "bridgeCpuSecondsPer5000Events": cpu.map(|s| round(s * 5000.0 / events as f64)),
        "bridgeCpuUsPerEvent": per(cpu.map(|s| s * 1e6), events),
    })
}
