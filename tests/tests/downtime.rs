//! One side or the other is away for a while.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use parlour_tests::{Agent, Person, Plan, SERVER_NAME, Stack, count, event_ids, until};
use serde_json::{Value, json};
use tokio::task::{JoinSet, block_in_place};

mod common;
use common::text;

/// People who speak at the same time: four keep one Synapse busy.
const SPEAKERS: usize = 4;

/// What a room's log keeps.
const KEPT: usize = 500;

async fn speakers(stack: &Stack, room: &str) -> Result<Vec<Person>> {
    let mut people = Vec::new();
    for number in 0..SPEAKERS {
        let person = stack.person(&format!("speaker{number}"))?;
        person.join(room).await?;
        people.push(person);
    }
    Ok(people)
}

/// So many messages, all of them in the room when this returns.
async fn say_many(people: &[Person], room: &str, count: usize) -> Result<()> {
    let mut saying = JoinSet::new();
    for (at, person) in people.iter().enumerate() {
        let (person, room) = (person.clone(), room.to_owned());
        saying.spawn(async move {
            for number in (at..count).step_by(SPEAKERS) {
                person.say(&room, &format!("number {number}")).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(said) = saying.join_next().await {
        said??;
    }
    Ok(())
}

/// Event ids of all messages of others, oldest first, by Synapse's own account.
async fn messages(person: &Person, room: &str) -> Result<Vec<String>> {
    let timeline = person.timeline(room).await?;
    let messages = timeline.iter().filter(|e| e["type"] == "m.room.message");
    Ok(messages.map(|e| text(&e["event_id"]).to_owned()).collect())
}

/// Waits until this is the newest message of the agent's history.
async fn arrived(agent: &Agent, event_id: &str) -> Result<()> {
    until("the newest message to arrive", 120, async || {
        let newest = event_ids(&agent.history("limit=1").await?);
        Ok((newest.first().map(String::as_str) == Some(event_id)).then_some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_said_while_the_bridge_was_down() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let scout = stack.agent("Scout", None).await?;
    let people = speakers(&stack, &scout.room).await?;
    scout.settle_in().await?;
    scout.hear(&people[0].say(&scout.room, "here before").await?).await?;
    for missed in [620, 2_000] {
        stack.bridge.stop().await?;
        say_many(&people, &scout.room, missed).await?;
        let all = messages(&people[0], &scout.room).await?;
        let began = Instant::now();
        stack.bridge.start()?;
        stack.bridge.ready().await?;
        let ready = began.elapsed();
        arrived(&scout, &all[all.len() - 1]).await?;
        println!(
            "{missed} messages while down: ready after {ready:?}, all there after {:?}",
            began.elapsed()
        );
        newest_are_kept(&scout, &all[all.len() - missed..]).await?;
    }
    stack.finish().await
}

/// The newest 500 in order, each once; the rest is counted, and is no gap, since the bridge had it.
async fn newest_are_kept(scout: &Agent, missed: &[String]) -> Result<()> {
    let body = scout.wait("wait=0&limit=50&wake=all&settle=0").await?.expect(200)?;
    assert_eq!(
        (&body["pending"], &body["dropped"]),
        (&json!(KEPT), &json!(missed.len() - KEPT)),
        "{}",
        body["wake"]
    );
    assert!(body.get("gaps").is_none(), "{}", body["gaps"]);
    let before = scout.heard().len();
    while scout.heard().len() < before + KEPT {
        ensure!(
            !scout.listen().await?.is_empty(),
            "the inbox ran dry after {}",
            scout.heard().len() - before
        );
    }
    let heard: Vec<String> = scout.heard()[before..].iter().map(|m| text(&m["eventId"]).to_owned()).collect();
    assert_eq!(heard, missed[missed.len() - KEPT..]);
    let body = scout.wait("wait=0").await?.expect(200)?;
    assert_eq!((&body["pending"], &body["dropped"]), (&json!(0), &json!(0)));
    Ok(())
}

/// Synapse counts transactions from 1 again after a restart: the ids that come then have been there before.
#[tokio::test(flavor = "multi_thread")]
async fn synapse_restarts_in_the_middle_of_a_conversation() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let scout = stack.agent("Scout", None).await?;
    let room = ada.join(&scout.room).await?;
    scout.settle_in().await?;
    let mut last = String::new();
    for round in 0..3 {
        for number in 0..6 {
            ada.say(&room, &format!("round {round}, number {number}")).await?;
            scout.say(&format!("agent in round {round}, number {number}")).await?;
        }
        let stubborn = {
            let (ada, room) = (ada.clone(), room.clone());
            tokio::spawn(
                async move { ada.say_stubbornly(&room, &format!("during restart {round}"), 120).await },
            )
        };
        block_in_place(|| {
            if round == 1 {
                stack.synapse.kill();
                stack.synapse.restart()
            } else {
                stack.synapse.restart()
            }
        })?;
        last = stubborn.await??;
    }
    scout.hear(&last).await?;
    let heard: Vec<String> = scout.heard().iter().map(|m| text(&m["eventId"]).to_owned()).collect();
    let timeline = ada.timeline(&room).await?;
    let said =
        timeline.iter().filter(|e| e["type"] == "m.room.message" && e["sender"] == ada.user_id.as_str());
    assert_eq!(heard, said.map(|e| text(&e["event_id"])).collect::<Vec<_>>());
    for round in 0..3 {
        for number in 0..6 {
            assert_eq!(count(&timeline, &format!("agent in round {round}, number {number}")), 1);
        }
    }
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bridge_starts_before_synapse() -> Result<()> {
    let stack = Stack::prepare(Plan::default()).await?;
    block_in_place(|| stack.synapse.stop())?;
    stack.bridge.start()?;
    stack.bridge.not_ready_because("homeserver.url").await?;
    let early = Agent::ask_to_join(&stack.bridge.url(), &json!({"name": "Early"})).await?;
    early.refusal(503, "dependency_unavailable")?;
    block_in_place(|| stack.synapse.restart())?;
    stack.bridge.ready().await?;
    let scout = stack.agent("Scout", None).await?;
    let ada = stack.person("ada")?;
    let room = ada.join(&format!("#lobby:{SERVER_NAME}")).await?;
    scout.hear(&ada.say(&room, "at last").await?).await?;
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn synapse_is_down_while_agents_call() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let scout = stack.agent("Scout", None).await?;
    let room = ada.join(&scout.room).await?;
    scout.settle_in().await?;
    let before = ada.say(&room, "before the outage").await?;
    scout.hear(&before).await?;
    block_in_place(|| stack.synapse.stop())?;

    let submission = json!({"text": "across the outage", "submissionId": parlour_tests::fresh_uuid()});
    let refused = scout.send(&submission).await?.refusal(503, "dependency_unavailable")?;
    assert_eq!(refused["retryable"], true);
    let join = Agent::ask_to_join(&stack.bridge.url(), &json!({"name": "Late"})).await?;
    join.refusal(503, "dependency_unavailable")?;
    // What needs no homeserver works on.
    assert_eq!(scout.wait("wait=1").await?.expect(200)?["wake"]["reason"], "timeout");
    assert_eq!(event_ids(&scout.look_up(&[&before]).await?), [before]);
    scout.get("/me").await?.expect(200)?;

    block_in_place(|| stack.synapse.restart())?;
    let sent = scout.send_until_sent(&submission, 60).await?;
    assert_eq!(ada.see_event(&sent).await?["content"]["body"], "across the outage");
    scout.hear(&ada.say(&room, "after the outage").await?).await?;
    assert_eq!(count(&ada.timeline(&room).await?, "across the outage"), 1);
    stack.agent("Late", None).await?;
    stack.finish().await
}

/// An agent that leaves while Synapse is away is gone at once for the bridge, and for people as soon as they can see.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_while_synapse_is_down() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let ada = stack.person("ada")?;
    let scout = stack.agent("Scout", None).await?;
    let room = ada.join(&scout.room).await?;
    let puppet = ada.member_named(&room, &scout.display_name).await?;
    block_in_place(|| stack.synapse.stop())?;
    scout.call(reqwest::Method::DELETE, "/me", None).await?.expect(204)?;
    scout.get("/me").await?.refusal(401, "unauthorized")?;
    stack.bridge.kill()?;
    stack.bridge.start()?;
    block_in_place(|| stack.synapse.restart())?;
    let gone = |e: &Value| e["state_key"] == puppet.as_str() && e["content"]["membership"] == "leave";
    ada.see("the agent leave", gone).await?;
    stack.bridge.ready().await?;
    scout.get("/me").await?.refusal(401, "unauthorized")?;
    stack.finish().await
}

/// Registration and homeserver do not fit: the bridge says which way, and goes on by itself once they do.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_do_not_fit() -> Result<()> {
    let stack = Stack::prepare(Plan::default()).await?;
    let file = stack.folder().join("registration.yaml");
    let good = std::fs::read_to_string(&file)?;
    for key in ["as_token", "hs_token"] {
        let wrong: Vec<String> = good.lines().map(|line| with_other_value(line, key)).collect();
        std::fs::write(&file, wrong.join("\n"))?;
        stack.bridge.start()?;
        let reason = stack.bridge.not_ready_because(key).await?;
        println!("a wrong {key}: {reason}");
        assert!(
            !good.lines().any(|line| is_token(line) && reason.contains(value(line))),
            "a token in {reason}"
        );
        stack.bridge.stop().await?;
    }
    std::fs::write(&file, good)?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    stack.finish().await
}

fn is_token(line: &str) -> bool {
    line.starts_with("as_token:") || line.starts_with("hs_token:")
}

fn value(line: &str) -> &str {
    line.split_once(':').map_or("", |(_, value)| value.trim_matches([' ', '"', '\'']))
}

fn with_other_value(line: &str, key: &str) -> String {
    if line.starts_with(&format!("{key}:")) {
        format!("{key}: {}", "0123456789abcdef".repeat(3))
    } else {
        line.to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_ends_with_the_bridge() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let waiting = {
        let scout = scout.clone();
        tokio::spawn(async move { scout.wait("wait=30").await })
    };
    until("the wait to be in", 20, async || {
        Ok((stack.bridge.metric("parlour_waiters").await? == Some(1.0)).then_some(()))
    })
    .await?;
    let began = Instant::now();
    stack.bridge.stop().await?;
    let body = waiting.await??.expect(200)?;
    assert_eq!((text(&body["wake"]["reason"]), &body["messages"]), ("timeout", &json!([])));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    stack.finish().await
}
