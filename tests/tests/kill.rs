//! The bridge is killed under load, again and again: nothing that was promised is lost, nothing comes twice.
//! `PARLOUR_KILL_ROUNDS` says how often; ten times by default, a hundred under `cargo xtask soak`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use parlour_tests::{Agent, Deadline, Person, Plan, Stack, fresh_uuid, until};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

mod common;
use common::text;

const AGENTS: usize = 4;
const PEOPLE: usize = 2;

/// How many messages have to be sent between two kills, so that each round is under load.
const PER_ROUND: usize = 12;

/// What those who send are told, and what they tell.
#[derive(Clone)]
struct Load {
    stop: watch::Receiver<bool>,
    sent: Arc<AtomicUsize>,
}

impl Load {
    fn over(&self) -> bool {
        *self.stop.borrow()
    }

    fn progress(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    fn one_more(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_nine_under_load() -> Result<()> {
    let rounds: usize = std::env::var("PARLOUR_KILL_ROUNDS").map_or(Ok(10), |rounds| rounds.parse())?;
    let stack = Stack::start(Plan::default()).await?;
    let (agents, people) = company(&stack).await?;
    let (stop_sending, stop) = watch::channel(false);
    let load = Load { stop, sent: Arc::default() };
    let senders = send(&agents, &people, &load);
    let (stop_hearing, stop) = watch::channel(None);
    let mut hearers = hear(&agents, &stop);

    let mut took = Vec::new();
    for round in 0..rounds {
        took.push(kill(&stack, round, &load).await.with_context(|| format!("round {round}"))?);
        hearers = still_hearing(hearers).await?;
    }
    stop_sending.send_replace(true);
    let promised = gather(senders).await?;
    people[0].say(&agents[0].room, "that was the last kill").await?;
    let timeline = people[0].timeline(&agents[0].room).await?;
    stop_hearing.send_replace(Some(Arc::new(timeline.clone())));
    let heard = gather(hearers).await?;
    stack.bridge.stop().await?;

    promises_are_kept(&timeline, &promised.concat())?;
    each_heard_all(&timeline, &agents, &heard)?;
    report(&took, &promised.concat(), &heard);
    stack.finish().await
}

async fn company(stack: &Stack) -> Result<(Vec<Agent>, Vec<Person>)> {
    let (mut agents, mut people) = (Vec::new(), Vec::new());
    for number in 0..AGENTS {
        let agent = stack.agent(&format!("Agent {number}"), None).await?;
        people.push(stack.person(&format!("person{number}"))?);
        people[number].join(&agent.room).await?;
        agents.push(agent);
    }
    people.truncate(PEOPLE);
    for agent in &agents {
        agent.settle_in().await?;
    }
    Ok((agents, people))
}

/// Something that was said for sure: text and event id.
type Promise = (String, String);

fn send(agents: &[Agent], people: &[Person], load: &Load) -> JoinSet<Result<Vec<Promise>>> {
    let mut senders = JoinSet::new();
    for (number, agent) in agents.iter().enumerate() {
        senders.spawn(agent_sends(number, agent.clone(), load.clone()));
    }
    for (number, person) in people.iter().enumerate() {
        senders.spawn(person_sends(number, person.clone(), agents[0].room.clone(), load.clone()));
    }
    senders
}

/// Each message is asked for until it is answered 201, as the guide tells agents to.
async fn agent_sends(number: usize, agent: Agent, load: Load) -> Result<Vec<Promise>> {
    let mut promised = Vec::new();
    while !load.over() {
        let said = format!("agent {number} says {}", promised.len());
        let body = json!({"text": said, "submissionId": fresh_uuid()});
        let event_id = agent.send_until_sent(&body, 120).await.with_context(|| said.clone())?;
        promised.push((said, event_id));
        load.one_more();
    }
    Ok(promised)
}

async fn person_sends(number: usize, person: Person, room: String, load: Load) -> Result<Vec<Promise>> {
    let mut promised = Vec::new();
    while !load.over() {
        let said = format!("person {number} says {}", promised.len());
        let event_id = person.say(&room, &said).await?;
        promised.push((said, event_id));
        load.one_more();
        // People are slower than agents, and Synapse is to have time for both.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(promised)
}

/// One agent's inbox over all kills.
#[derive(Default)]
struct Heard {
    /// Acknowledged for sure: must not come again.
    settled: HashSet<String>,
    /// Event ids and texts in the order in which they first came.
    order: Vec<(String, String)>,
    seen: HashSet<String>,
    again: usize,
}

/// Everything in the room, once nobody says anything more.
type Whole = Option<Arc<Vec<Value>>>;

fn hear(agents: &[Agent], stop: &watch::Receiver<Whole>) -> JoinSet<Result<(usize, Heard)>> {
    let mut hearers = JoinSet::new();
    for (number, agent) in agents.iter().enumerate() {
        let (agent, stop) = (agent.clone(), stop.clone());
        hearers.spawn(async move { Ok((number, keep_hearing(number, &agent, stop).await?)) });
    }
    hearers
}

/// Waits and acknowledges until it has heard all that others said. Those who listen for two minutes more than the load
/// lasted and still miss something are told what: Synapse now and then leaves a transaction behind when it recovers,
/// and the bridge takes some twenty seconds to notice.
async fn keep_hearing(number: usize, agent: &Agent, stop: watch::Receiver<Whole>) -> Result<Heard> {
    let mut heard = Heard::default();
    let mut deadline = None;
    loop {
        let whole = stop.borrow().clone();
        if let Some(timeline) = whole {
            let deadline: &mut Deadline = deadline.get_or_insert_with(|| Deadline::after(120));
            let others = of_others(&timeline, number);
            if deadline.left().is_zero() || others.iter().all(|id| heard.seen.contains(*id)) {
                return Ok(heard);
            }
        }
        match agent.wait("wait=5&wake=all&settle=0&limit=50").await {
            Ok(answer) if answer.status == 503 => (),
            Ok(answer) => take(agent, &mut heard, &answer.expect(200)?).await?,
            // The bridge is down; so many milliseconds between two calls, as an agent would have it.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Notices are the bridge's own: after each word of a person agents may loop anew, of which people are told anew.
fn is_said(event: &Value) -> bool {
    event["type"] == "m.room.message" && event["content"]["msgtype"] != "m.notice"
}

/// Event ids of what all but this agent said.
fn of_others(timeline: &[Value], number: usize) -> HashSet<&str> {
    let mine = format!("agent {number} says ");
    let others = timeline.iter().filter(|e| is_said(e) && !text(&e["content"]["body"]).starts_with(&mine));
    others.map(|e| text(&e["event_id"])).collect()
}

async fn take(agent: &Agent, heard: &mut Heard, body: &Value) -> Result<()> {
    ensure!(body["dropped"] == 0 && body.get("gaps").is_none(), "lost something: {body}");
    let messages = body["messages"].as_array().context("no messages")?;
    let mut batch = Vec::new();
    for message in messages {
        let (event_id, said) = (text(&message["eventId"]), text(&message["conversation"]["text"]));
        ensure!(message["fromMe"] == false, "its own message: {message}");
        ensure!(!heard.settled.contains(event_id), "came again after it was acknowledged: {message}");
        match heard.seen.insert(event_id.to_owned()) {
            true => heard.order.push((event_id.to_owned(), said.to_owned())),
            false => heard.again += 1,
        }
        batch.push(event_id.to_owned());
    }
    let Some(last) = batch.last() else { return Ok(()) };
    let answer = agent.call(reqwest::Method::POST, "/me/ack", Some(&json!({"eventId": last}))).await;
    // Without an answer nobody knows whether it was taken; then coming again is fine, and so is not coming.
    if answer.is_ok_and(|a| a.status == 200 && a.body["acknowledged"] == true) {
        heard.settled.extend(batch);
    }
    Ok(())
}

/// Kills while at least so much is under way, starts again; every third time kills the start as well.
async fn kill(stack: &Stack, round: usize, load: &Load) -> Result<Duration> {
    let goal = load.progress() + PER_ROUND;
    until("the load to go on", 120, async || Ok((load.progress() >= goal).then_some(()))).await?;
    // Not always at the same point of what is under way.
    tokio::time::sleep(Duration::from_millis(round as u64 * 37 % 211)).await;
    let began = Instant::now();
    stack.bridge.kill()?;
    stack.bridge.start()?;
    if round % 3 == 2 {
        tokio::time::sleep(Duration::from_millis(round as u64 * 53 % 401)).await;
        stack.bridge.kill()?;
        stack.bridge.start()?;
    }
    stack.bridge.ready().await?;
    Ok(began.elapsed())
}

/// Whoever hears goes on until the end; one that has ended has an error to tell.
async fn still_hearing(
    mut hearers: JoinSet<Result<(usize, Heard)>>,
) -> Result<JoinSet<Result<(usize, Heard)>>> {
    if let Some(ended) = hearers.try_join_next() {
        ended??;
        bail!("an agent stopped hearing before the end");
    }
    Ok(hearers)
}

async fn gather<T: Send + 'static>(mut tasks: JoinSet<Result<T>>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        all.push(ended??);
    }
    Ok(all)
}

/// Exactly once, by Synapse's own account, and under the event id that was told.
fn promises_are_kept(timeline: &[Value], promised: &[Promise]) -> Result<()> {
    let mut said: HashMap<&str, Vec<&str>> = HashMap::new();
    for event in timeline.iter().filter(|e| is_said(e)) {
        said.entry(text(&event["content"]["body"])).or_default().push(text(&event["event_id"]));
    }
    for (what, event_id) in promised {
        let events = said.get(&**what).map_or(&[][..], Vec::as_slice);
        ensure!(events == [event_id], "{what} was promised as {event_id}, and is in the room as {events:?}");
    }
    let twice: Vec<_> = said.iter().filter(|(_, events)| events.len() != 1).collect();
    ensure!(twice.is_empty(), "said more than once: {twice:?}");
    Ok(())
}

/// All that others said since the load began, each once.
fn each_heard_all(timeline: &[Value], agents: &[Agent], heard: &[(usize, Heard)]) -> Result<()> {
    for (number, heard) in heard {
        let others = of_others(timeline, *number);
        let lost: Vec<_> = others.iter().filter(|id| !heard.seen.contains(**id)).collect();
        let around = lost.first().map(|id| around(timeline, id));
        ensure!(
            lost.is_empty(),
            "{} never heard {lost:?}; in the room: {around:?}",
            agents[*number].display_name
        );
        ensure!(heard.seen.len() == others.len(), "{} heard what was not said", agents[*number].display_name);
    }
    Ok(())
}

/// What stands beside an event, to see what it has been confused with.
fn around<'a>(timeline: &'a [Value], event_id: &str) -> Vec<(&'a str, &'a str)> {
    let at = timeline.iter().position(|e| e["event_id"] == event_id).unwrap_or_default();
    let beside = timeline.iter().take(at + 5).skip(at.saturating_sub(4));
    beside.map(|e| (text(&e["event_id"]), text(&e["content"]["body"]))).collect()
}

/// How often somebody's message came after a later one of the same. Not a promise: what Synapse leaves behind comes late.
fn out_of_order(heard: &Heard) -> usize {
    let mut newest: HashMap<&str, usize> = HashMap::new();
    let numbered = heard.order.iter().filter_map(|(_, said)| said.rsplit_once(" says "));
    let late = numbered.filter(|(who, number)| {
        let number: usize = number.parse().unwrap_or_default();
        let newest = newest.entry(*who).or_default();
        *newest = number.max(*newest);
        number < *newest
    });
    late.count()
}

fn report(took: &[Duration], promised: &[Promise], heard: &[(usize, Heard)]) {
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let (rounds, median, worst) = (took.len(), sorted.get(took.len() / 2), sorted.last());
    println!(
        "{rounds} rounds, {} messages promised and kept; from the kill to ready again: median {median:?}, worst {worst:?}",
        promised.len()
    );
    let late: usize = heard.iter().map(|(_, heard)| out_of_order(heard)).sum();
    let again: usize = heard.iter().map(|(_, heard)| heard.again).sum();
    println!("each round: {took:?}; handed over again before an acknowledgement: {again}; late: {late}");
}
