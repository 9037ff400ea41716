//! What an agent says in an encrypted room is there exactly once, whatever is lost on the way.

use anyhow::{Result, ensure};
use parlour_tests::{Answer, Fault, Plan, fresh_uuid};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, block_in_place};

use crate::world::{Trio, agent_reads, person_reads};

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_requests_that_are_lost_with_encryption() -> Result<()> {
    let trio = Trio::start(Plan { proxy: true, ..Plan::default() }).await?;
    trio.all_talk("bad lines").await?;
    for (fault, words) in
        [(Fault::LoseAnswer, "an answer is lost"), (Fault::LoseRequest, "a request is lost")]
    {
        let body = submission(&trio, words);
        trio.world.stack.proxy()?.set(fault);
        let first = sending(&trio, &body);
        trio.world.stack.proxy()?.caught(1).await?;
        trio.world.stack.proxy()?.set(Fault::None);
        let told = first.await??;
        ensure!([201, 202].contains(&told.status), "it may have been sent, so no refusal: {told:?}");
        is_there_once(&trio, &body).await?;
    }
    synapse_dies_before_it_answers(&trio).await?;
    bridge_dies_before_it_hears(&trio).await?;
    trio.all_talk("good lines").await?;
    trio.finish().await
}

async fn synapse_dies_before_it_answers(trio: &Trio) -> Result<()> {
    let body = submission(trio, "Synapse dies before it answers");
    trio.world.stack.proxy()?.set(Fault::HoldAnswer);
    let first = sending(trio, &body);
    trio.world.stack.proxy()?.caught(1).await?;
    trio.world.stack.synapse.kill();
    trio.world.stack.proxy()?.set(Fault::None);
    block_in_place(|| trio.world.stack.synapse.restart())?;
    let told = first.await??;
    ensure!([201, 202].contains(&told.status), "it may have been sent, so no refusal: {told:?}");
    is_there_once(trio, &body).await
}

async fn bridge_dies_before_it_hears(trio: &Trio) -> Result<()> {
    let body = submission(trio, "the bridge dies before it hears");
    trio.world.stack.proxy()?.set(Fault::HoldAnswer);
    let first = sending(trio, &body);
    trio.world.stack.proxy()?.caught(1).await?;
    trio.world.stack.bridge.kill()?;
    ensure!(first.await?.is_err(), "a dead bridge answered");
    trio.world.stack.proxy()?.set(Fault::None);
    trio.world.stack.bridge.start()?;
    trio.world.stack.bridge.ready().await?;
    is_there_once(trio, &body).await
}

fn submission(trio: &Trio, words: &str) -> Value {
    trio.world.note(words);
    json!({"text": words, "roomId": trio.room.id, "submissionId": fresh_uuid()})
}

fn sending(trio: &Trio, body: &Value) -> JoinHandle<Result<Answer>> {
    let (owner, body) = (trio.owner.clone(), body.clone());
    tokio::spawn(async move { owner.send(&body).await })
}

/// Under the event id that is told in the end, and shown to the person once; nothing later can bring it again.
async fn is_there_once(trio: &Trio, body: &Value) -> Result<()> {
    let words = body["text"].as_str().unwrap_or_default();
    let event_id = trio.owner.send_until_sent(body, 90).await?;
    person_reads(&trio.ada, &event_id, words).await?;
    agent_reads(&trio.guest, &event_id, words).await?;
    trio.human_talks(&trio.ada, &format!("the person has read: {words}")).await?;
    let shown = trio.ada.events().iter().filter(|e| e["body"] == words).count();
    ensure!(shown == 1, "{words:?} was shown {shown} times");
    let heard = trio.guest.heard().iter().filter(|m| m["conversation"]["text"] == words).count();
    ensure!(heard == 1, "{words:?} was heard {heard} times");
    Ok(())
}
