//! One side is away for a while: each message is read once by everyone who should.

use anyhow::{Result, ensure};
use parlour_tests::{Devices, Plan};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::task::{block_in_place, spawn_blocking};

use crate::common::text;
use crate::world::{Trio, agent_reads, person_reads};

/// Seconds: a message that Synapse leaves behind when it is stopped is looked for only once everything else has come.
const LEFT_BEHIND: u64 = 120;

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_person_speaks_while_the_bridge_is_down(
    #[values(Devices::Pushed, Devices::Pulled, Devices::OwnToken)] devices: Devices,
) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    trio.all_talk("before it goes").await?;
    for (round, killed) in [false, true].into_iter().enumerate() {
        let before = trio.agents().map(|agent| agent.heard().len());
        if killed {
            trio.world.stack.bridge.kill()?
        } else {
            trio.world.stack.bridge.stop().await?
        }
        let mut said = Vec::new();
        for number in 0..6 {
            if number % 2 == 0 {
                trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
            }
            let words = format!("unheard {number} in round {round}");
            said.push((trio.world.human_says(&trio.ada, &trio.room.id, &words).await?, words));
        }
        trio.world.stack.bridge.start()?;
        trio.world.stack.bridge.ready().await?;
        for (agent, before) in trio.agents().into_iter().zip(before) {
            for (event_id, words) in &said {
                agent_reads(agent, event_id, words).await?;
            }
            let order: Vec<String> =
                agent.heard()[before..].iter().map(|m| text(&m["eventId"]).to_owned()).collect();
            let wanted: Vec<String> = said.iter().map(|(id, _)| id.clone()).collect();
            ensure!(order == wanted, "{} heard {order:?}, not {wanted:?}", agent.display_name);
        }
        trio.all_talk(&format!("what happened in round {round}")).await?;
    }
    trio.finish().await
}

/// The homeserver's token is not the one that the bridge was given: a transaction that was refused comes again without the
/// keys in it.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_with_words_and_keys_are_refused_for_a_while() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let bridge = &trio.world.stack.bridge;
    trio.all_talk("before it refuses").await?;
    let file = trio.world.stack.folder().join("registration.yaml");
    let good = std::fs::read_to_string(&file)?;
    let token = trio.world.stack.hs_token()?;
    bridge.stop().await?;
    std::fs::write(&file, good.replace(&token, &"0123456789abcdef".repeat(4)))?;
    bridge.start()?;
    bridge.not_ready_because("hs_token").await?;
    let mut said = Vec::new();
    for words in ["said to deaf ears", "said to deaf ears again"] {
        trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
        said.push((trio.world.human_says(&trio.ada, &trio.room.id, words).await?, words));
    }
    bridge.stop().await?;
    std::fs::write(&file, good)?;
    bridge.start()?;
    bridge.ready().await?;
    for agent in trio.agents() {
        for (event_id, words) in &said {
            agent_reads(agent, event_id, words).await?;
        }
    }
    trio.all_talk("what was refused").await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn synapse_restarts_in_the_middle_of_an_encrypted_talk() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    for round in 0..3 {
        trio.all_talk(&format!("round {round}")).await?;
        block_in_place(|| {
            if round == 1 {
                trio.world.stack.synapse.kill();
            }
            trio.world.stack.synapse.restart()
        })?;
        if round == 2 {
            trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
        }
    }
    trio.all_talk("the end").await?;
    trio.finish().await
}

/// The agent asks once more after every kind of outage; the room has it once.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_speaks_while_synapse_is_down() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("a storm").await?;
    let words = "across the outage";
    trio.world.note(words);
    let body = json!({"text": words, "roomId": trio.room.id, "submissionId": parlour_tests::fresh_uuid()});
    block_in_place(|| trio.world.stack.synapse.stop())?;
    let answer = trio.owner.send(&body).await?;
    ensure!([202, 503].contains(&answer.status), "sent into the void: {}", answer.body);
    trio.world.stack.bridge.kill()?;
    trio.world.stack.bridge.start()?;
    block_in_place(|| trio.world.stack.synapse.restart())?;
    trio.world.stack.bridge.ready().await?;
    let event_id = trio.owner.send_until_sent(&body, 60).await?;
    person_reads(&trio.ada, &event_id, words).await?;
    agent_reads(&trio.guest, &event_id, words).await?;
    trio.all_talk("calm weather").await?;
    let shown: Vec<Value> = trio.ada.events().into_iter().filter(|e| e["body"] == words).collect();
    ensure!(shown.len() == 1, "more than once: {shown:?}");
    trio.finish().await
}

/// Their client tries the same event again until Synapse takes it; the second time Synapse is killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_insists_while_synapse_restarts() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("a good line").await?;
    let mut said = Vec::new();
    for round in 0..3 {
        if round == 2 {
            trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
        }
        said.extend(insists_over_a_restart(&trio, round).await?);
    }
    for agent in trio.agents() {
        for (event_id, words) in &said {
            let message = agent.hear_within(event_id, LEFT_BEHIND).await?;
            ensure!(message["conversation"]["text"] == words.as_str(), "{words:?} came as {message}");
        }
    }
    // whatever else there was has come by then
    trio.all_talk("the line being good again").await?;
    for agent in trio.agents() {
        for (_, words) in &said {
            let heard = agent.heard().iter().filter(|m| m["conversation"]["text"] == words.as_str()).count();
            ensure!(heard == 1, "{words:?} was heard {heard} times by {}", agent.display_name);
        }
    }
    trio.finish().await
}

/// Speaks until Synapse is back; event ids and words.
async fn insists_over_a_restart(trio: &Trio, round: usize) -> Result<Vec<(String, String)>> {
    let synapse = trio.world.stack.synapse.clone();
    let restart = spawn_blocking(move || {
        if round == 1 {
            synapse.kill();
        }
        synapse.restart()
    });
    let (mut said, mut tries) = (Vec::new(), 0);
    while !restart.is_finished() || said.is_empty() {
        let words = format!("insisted on {} in round {round}", said.len());
        trio.world.note(&words);
        let sent = trio.ada.obey("insist", json!({"room": trio.room.id, "text": words})).await?;
        tries += sent["tries"].as_u64().unwrap_or_default();
        said.push((text(&sent["eventId"]).to_owned(), words));
    }
    restart.await??;
    // with a new session it is the key that is tried again, inside the client
    ensure!(round == 2 || tries > said.len() as u64, "nothing was tried twice: {said:?}");
    Ok(said)
}
