//! The bridge is killed again and again while a person begins new sessions and speaks, and while agents speak.
//! `PARLOUR_KILL_ROUNDS` says how often; ten times by default, a hundred under `cargo xtask soak`.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Deadline, Plan, Stack, event_ids, fresh_uuid, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::common::text;
use crate::world::{Trio, World, person_reads};

/// How many messages have to be sent between two kills, so that each round is under load.
const PER_ROUND: usize = 8;

/// The person begins a new session with every so many messages.
const ROTATE: usize = 3;

/// Something that was said for sure: text and event id.
type Promise = (String, String);

/// What those who speak and hear share.
#[derive(Clone)]
struct Load {
    speaking: watch::Receiver<bool>,
    sent: Arc<AtomicUsize>,
    /// Everything that was promised, once nobody speaks any more.
    whole: watch::Receiver<Option<Arc<Vec<Promise>>>>,
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_nine_while_sessions_rotate() -> Result<()> {
    let rounds: usize = std::env::var("PARLOUR_KILL_ROUNDS").map_or(Ok(10), |rounds| rounds.parse())?;
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("what is to come").await?;
    let (quiet, speaking) = watch::channel(true);
    let (all_said, whole) = watch::channel(None);
    let load = Load { speaking, sent: Arc::default(), whole };

    let speaks = async {
        let said = tokio::try_join!(
            agent_speaks(&trio.world, &trio.owner, &load),
            agent_speaks(&trio.world, &trio.guest, &load),
            person_speaks(&trio, &load),
        )?;
        let by_agents = [said.0, said.1].concat();
        all_said.send_replace(Some(Arc::new([by_agents.clone(), said.2].concat())));
        anyhow::Ok(by_agents)
    };
    let kills = async {
        let mut took = Vec::new();
        for round in 0..rounds {
            let time = kill(&trio.world.stack, round, &load).await;
            took.push(time.with_context(|| format!("round {round}"))?);
        }
        quiet.send_replace(false);
        anyhow::Ok(took)
    };
    let hears =
        async { tokio::try_join!(keep_hearing(&trio.owner, &load), keep_hearing(&trio.guest, &load)) };
    let (by_agents, took, _) = tokio::try_join!(speaks, kills, hears)?;

    the_person_read_all_once(&trio, &by_agents).await?;
    let sent = load.sent.load(Ordering::Relaxed);
    println!("{sent} messages in {rounds} rounds; from the kill to ready again {took:?}");
    trio.finish().await
}

/// Each message is asked for until it is answered 201, as the guide tells agents to.
async fn agent_speaks(world: &World, agent: &Agent, load: &Load) -> Result<Vec<Promise>> {
    let mut promised = Vec::new();
    while *load.speaking.borrow() {
        let words = format!("{} says number {}", agent.display_name, promised.len());
        world.note(&words);
        let body = json!({"text": words, "roomId": agent.room, "submissionId": fresh_uuid()});
        let event_id = agent.send_until_sent(&body, 120).await.with_context(|| words.clone())?;
        promised.push((words, event_id));
        load.sent.fetch_add(1, Ordering::Relaxed);
    }
    Ok(promised)
}

async fn person_speaks(trio: &Trio, load: &Load) -> Result<Vec<Promise>> {
    let mut promised = Vec::new();
    while *load.speaking.borrow() {
        if promised.len() % ROTATE == 0 {
            trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
        }
        let words = format!("the person says number {}", promised.len());
        let event_id = trio.world.human_says(&trio.ada, &trio.room.id, &words).await?;
        promised.push((words, event_id));
        load.sent.fetch_add(1, Ordering::Relaxed);
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
    seen: HashSet<String>,
}

/// Waits and acknowledges until it has heard all that others said, at most two minutes longer than they speak.
async fn keep_hearing(agent: &Agent, load: &Load) -> Result<()> {
    let mut heard = Heard::default();
    let mut deadline = None;
    loop {
        let whole = load.whole.borrow().clone();
        if let Some(whole) = whole {
            let deadline: &mut Deadline = deadline.get_or_insert_with(|| Deadline::after(120));
            let own = format!("{} says ", agent.display_name);
            let missing: Vec<_> = whole
                .iter()
                .filter(|(words, id)| !words.starts_with(&own) && !heard.seen.contains(id))
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            deadline.check(&format!("{} to hear {missing:?}", agent.display_name))?;
        }
        match agent.wait("wait=5&wake=all&settle=0&limit=50").await {
            Ok(answer) if answer.status == 503 => (),
            Ok(answer) => take(agent, &mut heard, &answer.expect(200)?).await?,
            // The bridge is down; so many milliseconds between two calls, as an agent would have it.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn take(agent: &Agent, heard: &mut Heard, body: &Value) -> Result<()> {
    ensure!(body["dropped"] == 0 && body.get("gaps").is_none(), "lost something: {body}");
    let batch = event_ids(body);
    for (event_id, message) in batch.iter().zip(body["messages"].as_array().into_iter().flatten()) {
        ensure!(message["fromMe"] == false, "its own message: {message}");
        ensure!(!heard.settled.contains(event_id), "came again after it was acknowledged: {message}");
        heard.seen.insert(event_id.clone());
    }
    let Some(last) = batch.last() else { return Ok(()) };
    let answer = agent.call(Method::POST, "/me/ack", Some(&json!({"eventId": last}))).await;
    // Without an answer nobody knows whether it was taken; then coming again is fine, and so is not coming.
    if answer.is_ok_and(|a| a.status == 200 && a.body["acknowledged"] == true) {
        heard.settled.extend(batch);
    }
    Ok(())
}

/// Kills while at least so much is under way, starts again; every third time kills the start as well.
async fn kill(stack: &Stack, round: usize, load: &Load) -> Result<Duration> {
    let goal = load.sent.load(Ordering::Relaxed) + PER_ROUND;
    let more = async || Ok((load.sent.load(Ordering::Relaxed) >= goal).then_some(()));
    until("the load to go on", 120, more).await?;
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

/// Under the event id that was told, and under no other; decrypted at once and without a shield.
async fn the_person_read_all_once(trio: &Trio, promised: &[Promise]) -> Result<()> {
    for (words, event_id) in promised {
        person_reads(&trio.ada, event_id, words).await?;
    }
    let said: HashSet<&str> = promised.iter().map(|(words, _)| words.as_str()).collect();
    let events = trio.ada.events();
    let shown: Vec<&str> =
        events.iter().map(|e| text(&e["body"])).filter(|body| said.contains(body)).collect();
    ensure!(shown.len() == promised.len(), "{} messages were shown {} times", promised.len(), shown.len());
    Ok(())
}
