//! Two agents that answer everything stop by themselves; a third one is still heard.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Client, Human, Plan, SERVER_NAME, Stack, encode, fresh_uuid, until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinSet, block_in_place};

use crate::common::text;
use crate::world::Trio;

const TOLD: &str = "Agents here have answered each other";
const ECHO: &str = "an echo of it";
/// What the bridge takes where its config says nothing.
const MAX_HOPS: u64 = 8;
/// Eight answers of two agents on a busy machine.
const SECONDS_MS: i64 = 20_000;

/// An agent that answers all it hears, and says how many of its waits ended in silence.
struct Echo {
    agent: Agent,
    silences: watch::Receiver<usize>,
    _task: JoinSet<Result<()>>,
}

impl Echo {
    fn start(agent: &Agent) -> Self {
        let (tell, silences) = watch::channel(0);
        let mut task = JoinSet::new();
        task.spawn(answer_everything(agent.clone(), tell));
        Self { agent: agent.clone(), silences, _task: task }
    }

    /// Waits until a whole wait, begun after this call, has brought nothing.
    async fn silent(&self) -> Result<()> {
        let mut silences = self.silences.clone();
        let now = *silences.borrow_and_update();
        let silent = silences.wait_for(|n| *n >= now + 2);
        tokio::time::timeout(Duration::from_secs(60), silent).await??;
        Ok(())
    }
}

async fn answer_everything(agent: Agent, silences: watch::Sender<usize>) -> Result<()> {
    loop {
        let Some(body) = heard(&agent).await? else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let messages: Vec<Value> = body["messages"].as_array().cloned().unwrap_or_default();
        let Some(last) = messages.last() else {
            silences.send_modify(|n| *n += 1);
            continue;
        };
        // lost, it is handed over and answered again, which makes the loop no shorter
        let _ = agent.ack(text(&last["eventId"])).await;
        for message in &messages {
            let answer = json!({"text": ECHO, "replyTo": message["messageId"], "roomId": agent.room,
                "submissionId": fresh_uuid()});
            agent.send_until_sent(&answer, 60).await?;
        }
    }
}

/// `None`: the bridge or the homeserver is down just now.
async fn heard(agent: &Agent) -> Result<Option<Value>> {
    match agent.wait("wait=5&wake=all&settle=0&limit=50").await {
        Ok(answer) if answer.status != 503 => answer.expect(200).map(Some),
        _ => Ok(None),
    }
}

fn told(person: &Human) -> usize {
    let is_notice = |e: &&Value| e["msgtype"] == "m.notice" && text(&e["body"]).starts_with(TOLD);
    person.events().iter().filter(is_notice).count()
}

fn echoes(person: &Human) -> impl Iterator<Item = Value> {
    person.events().into_iter().filter(|e| e["body"] == ECHO)
}

/// The person says one word; both answer it and each other, stop within seconds, and people are told so.
async fn one_word(person: &Human, room: &str, echo: [&Echo; 2], times: usize) -> Result<()> {
    let word = person.say(room, "one word").await?;
    until("people to be told", 60, async || Ok((told(person) >= times).then_some(()))).await?;
    both_silent(echo).await?;
    ensure!(told(person) == times, "told {} times instead of {times}", told(person));
    let took_ms = last_echo_ms(person) - sent_ms(person, room, &word).await?;
    ensure!((1..SECONDS_MS).contains(&took_ms), "they stopped after {took_ms} ms");
    one_is_beyond(echo).await
}

async fn both_silent(echo: [&Echo; 2]) -> Result<()> {
    for echo in echo {
        echo.silent().await?;
    }
    Ok(())
}

/// The one that was woken last is told that its next word wakes nobody.
async fn one_is_beyond(echo: [&Echo; 2]) -> Result<()> {
    let guards = [loop_guard(&echo[0].agent).await?, loop_guard(&echo[1].agent).await?];
    let is_beyond = |guard: &Value| {
        let room = &guard["rooms"][0];
        room["hops"].as_u64() > Some(MAX_HOPS) && room["wakesAgents"] == false
    };
    ensure!(guards.iter().all(|guard| guard["maxHops"] == MAX_HOPS), "another limit: {guards:?}");
    ensure!(guards.iter().any(is_beyond), "neither is told that it was stopped: {guards:?}");
    Ok(())
}

async fn loop_guard(agent: &Agent) -> Result<Value> {
    let me = agent.get("/me").await?.expect(200)?;
    Ok(me["loopGuard"].clone())
}

/// Agents that have been handed a person's word, and do not answer each other any more, are in no chain.
async fn last_word(person: &Human, room: &str, agents: [&Agent; 2]) -> Result<()> {
    let word = person.say(room, "the last word").await?;
    for agent in agents {
        agent.hear(&word).await?;
        let guard = loop_guard(agent).await?;
        ensure!(guard["maxHops"] == MAX_HOPS && guard["rooms"].is_null(), "still in a chain: {guard}");
    }
    Ok(())
}

/// Until the person's client has heard from the homeserver again, as it leaves out most of what is said meanwhile. The
/// sign comes from another room: whatever is said in this one wakes the agents.
async fn homeserver_restarts(stack: &Stack, person: &Human, friend: &str) -> Result<()> {
    block_in_place(|| stack.synapse.restart())?;
    let elsewhere = stack.person(friend)?.create_room(&json!({"invite": [person.user_id]})).await?;
    let invited = |e: &Value| e["kind"] == "my_membership" && e["room"] == elsewhere.as_str();
    person.see("an invitation after the restart", invited).await.map(drop)
}

/// When the homeserver took an event of the person's own.
async fn sent_ms(person: &Human, room: &str, event_id: &str) -> Result<i64> {
    let path = format!("/rooms/{}/event/{}", encode(room), encode(event_id));
    let event = person.raw.call(Method::GET, &path, None).await?.expect(200)?;
    event["origin_server_ts"].as_i64().context("an event without a time")
}

fn last_echo_ms(person: &Human) -> i64 {
    echoes(person).filter_map(|e| e["ts"].as_i64()).max().unwrap_or(0)
}

/// Somebody from outside the loop names one of its agents, and is answered.
async fn third_is_heard(person: &Human, quiet: &Agent, named: &str) -> Result<()> {
    let hello = json!({"text": "a question from outside", "mentions": [named], "roomId": quiet.room,
        "submissionId": fresh_uuid()});
    let asked = quiet.send_until_sent(&hello, 60).await?;
    let answers = |e: &Value| e["relates"]["m.in_reply_to"]["event_id"] == asked.as_str();
    person.see("an answer to the third", answers).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_echoes_in_a_lobby_stop() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = Human::register(&stack.synapse, stack.folder(), "ada", Client::Js).await?;
    let room =
        text(&ada.obey("join", json!({"room": format!("#lobby:{SERVER_NAME}")})).await?["room"]).to_owned();
    let agents = [stack.agent("Echo", None).await?, stack.agent("Oche", None).await?];
    let named = agents[0].say("an echo, here to answer").await?;
    let named = text(&ada.see_event(text(&named["eventId"])).await?["sender"]).to_owned();
    for agent in &agents {
        agent.settle_in().await?;
    }
    let (one, two) = (Echo::start(&agents[0]), Echo::start(&agents[1]));
    one_word(&ada, &room, [&one, &two], 1).await?;
    let said = echoes(&ada).count();
    // 0 to 8 wake, each side begins a chain, and what is handed over together with a waking one is answered too
    ensure!((10..=80).contains(&said), "{said} echoes");
    let quiet = stack.agent("Quiet", None).await?;
    third_is_heard(&ada, &quiet, &named).await?;
    both_silent([&one, &two]).await?;
    ensure!(told(&ada) == 1, "told again, and no person spoke");
    stack.bridge.kill()?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    homeserver_restarts(&stack, &ada, "bob").await?;
    one_word(&ada, &room, [&one, &two], 2).await?;
    homeserver_restarts(&stack, &ada, "carl").await?;
    drop((one, two));
    last_word(&ada, &room, agents.each_ref()).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn two_echoes_in_an_encrypted_room_stop() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let quiet = trio.world.guest("Quiet", &trio.room).await?;
    for agent in [&trio.owner, &trio.guest, &quiet] {
        agent.settle_in().await?;
    }
    let hello = trio.world.agent_says(&trio.owner, "an echo of a hello").await?;
    let named = text(&trio.ada.see_event(&hello).await?["sender"]).to_owned();
    let (one, two) = (Echo::start(&trio.owner), Echo::start(&trio.guest));
    one_word(&trio.ada, &trio.room.id, [&one, &two], 1).await?;
    let notice = trio.ada.see("the notice", |e| text(&e["body"]).starts_with(TOLD)).await?;
    ensure!(notice["encrypted"] == true && notice["shield"]["colour"] == "none", "in clear: {notice}");
    one_word(&trio.ada, &trio.room.id, [&one, &two], 2).await?;
    third_is_heard(&trio.ada, &quiet, &named).await?;
    both_silent([&one, &two]).await?;
    ensure!(told(&trio.ada) == 2, "told again, and no person spoke");
    drop((one, two));
    last_word(&trio.ada, &trio.room.id, trio.agents()).await?;
    let Trio { world, room, ada, .. } = trio;
    world.finish(&room.id, &[&ada]).await
}
