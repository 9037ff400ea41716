//! One submission is one event, whatever breaks between the agent, the bridge and the homeserver.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a story runs in real time beside real processes, and prints the figures that it measured"
)]

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parlour_tests::{Agent, Answer, Fault, Person, Plan, Stack, count, fresh_uuid, submission_ids, until};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet, block_in_place};

mod common;
use common::text;

/// A stack with an agent and a person in the lobby.
async fn set_up(proxy: bool) -> Result<(Stack, Agent, Person)> {
    let stack = Stack::start(Plan { proxy, ..Plan::default() }).await?;
    let scout = stack.agent("Scout", None).await?;
    let ada = stack.person("ada")?;
    ada.join(&scout.room).await?;
    scout.settle_in().await?;
    Ok((stack, scout, ada))
}

fn submission(text: &str) -> Value {
    json!({"text": text, "submissionId": fresh_uuid()})
}

fn sending(agent: &Agent, body: &Value) -> JoinHandle<Result<Answer>> {
    let (agent, body) = (agent.clone(), body.clone());
    tokio::spawn(async move { agent.send(&body).await })
}

/// The same body eight times at once: all must name this one event.
async fn eight_at_once(agent: &Agent, body: &Value) -> Result<String> {
    let mut sending = JoinSet::new();
    for _ in 0..8 {
        let (agent, body) = (agent.clone(), body.clone());
        sending.spawn(async move { agent.send(&body).await?.expect(201) });
    }
    let answers = sending.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    ensure!(answers.iter().all(|a| *a == answers[0]), "different answers: {answers:?}");
    assert_eq!(answers[0]["submissionId"], body["submissionId"]);
    Ok(text(&answers[0]["eventId"]).to_owned())
}

/// This text is in the room once, as the event that the agent was told, and its own history has it once.
async fn is_one_event(ada: &Person, agent: &Agent, body: &Value, event_id: &str) -> Result<()> {
    let said = text(&body["text"]);
    let timeline = ada.timeline(&agent.room).await?;
    assert_eq!(count(&timeline, said), 1, "{said} by Synapse's account");
    let event =
        timeline.iter().find(|e| e["event_id"] == event_id).context("the event is not in the room")?;
    assert_eq!(event["content"]["body"], body["text"]);
    let history = agent.history("limit=50").await?;
    let mine = history["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|m| m["messageId"] == body["submissionId"]);
    assert_eq!(mine.map(|m| text(&m["eventId"])).collect::<Vec<_>>(), [event_id], "{said} in the history");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_calls_at_once_and_again_after_restarts() -> Result<()> {
    let (stack, scout, ada) = set_up(false).await?;
    let first = submission("eight of me");
    let event_id = eight_at_once(&scout, &first).await?;
    stack.bridge.restart().await?;
    assert_eq!(eight_at_once(&scout, &first).await?, event_id, "after a restart of the bridge");
    stack.bridge.kill()?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    assert_eq!(eight_at_once(&scout, &first).await?, event_id, "after a kill of the bridge");
    block_in_place(|| stack.synapse.restart())?;
    assert_eq!(eight_at_once(&scout, &first).await?, event_id, "after a restart of Synapse");
    is_one_event(&ada, &scout, &first, &event_id).await?;

    let mut other = first.clone();
    other["text"] = json!("something else");
    scout.send(&other).await?.refusal(409, "submission_conflict")?;
    assert_eq!(count(&ada.timeline(&scout.room).await?, "something else"), 0);
    two_agents_with_one_id(&stack, &scout, &ada, &first).await?;
    stack.finish().await
}

async fn two_agents_with_one_id(stack: &Stack, scout: &Agent, ada: &Person, body: &Value) -> Result<()> {
    let helper = stack.agent("Helper", None).await?;
    let sent = helper.send(body).await?.expect(201)?;
    scout.hear(text(&sent["eventId"])).await?;
    let timeline = ada.timeline(&scout.room).await?;
    assert_eq!(count(&timeline, text(&body["text"])), 2);
    let id = text(&body["submissionId"]);
    let with_it = submission_ids(&timeline).into_iter().filter(|(_, submission)| *submission == id);
    let senders: Vec<&str> = with_it.map(|(sender, _)| sender).collect();
    assert!(senders.len() == 2 && senders[0] != senders[1], "{senders:?}");
    Ok(())
}

/// The homeserver has the message, and nobody hears of it: an answer lost on the way, a homeserver killed, a bridge
/// killed. Then also a request that was lost before the homeserver had it.
#[tokio::test(flavor = "multi_thread")]
async fn answers_and_requests_that_are_lost() -> Result<()> {
    let (stack, scout, ada) = set_up(true).await?;
    let proxy = stack.proxy()?;
    for (fault, said) in [(Fault::LoseAnswer, "an answer lost"), (Fault::LoseRequest, "a request lost")] {
        let body = submission(said);
        proxy.set(fault);
        let first = sending(&scout, &body);
        proxy.caught(1).await?;
        proxy.set(Fault::None);
        let told = first.await??;
        assert!([201, 202].contains(&told.status), "{told:?}");
        let event_id = scout.send_until_sent(&body, 60).await?;
        is_one_event(&ada, &scout, &body, &event_id).await?;
    }
    synapse_dies_before_it_answers(&stack, &scout, &ada).await?;
    bridge_dies_before_it_hears(&stack, &scout, &ada).await?;
    bridge_carries_on_alone(&stack, &scout, &ada).await?;
    client_goes_away(&stack, &scout, &ada).await?;
    stack.finish().await
}

async fn synapse_dies_before_it_answers(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    let body = submission("Synapse dies before it answers");
    stack.proxy()?.set(Fault::HoldAnswer);
    let first = sending(scout, &body);
    stack.proxy()?.caught(1).await?;
    stack.synapse.kill();
    stack.proxy()?.set(Fault::None);
    block_in_place(|| stack.synapse.restart())?;
    let told = first.await??;
    ensure!([201, 202].contains(&told.status), "it may have been sent, so no refusal: {told:?}");
    let event_id = scout.send_until_sent(&body, 90).await?;
    is_one_event(ada, scout, &body, &event_id).await
}

async fn bridge_dies_before_it_hears(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    let body = submission("the bridge dies before it hears");
    stack.proxy()?.set(Fault::HoldAnswer);
    let first = sending(scout, &body);
    stack.proxy()?.caught(1).await?;
    stack.bridge.kill()?;
    ensure!(first.await?.is_err(), "a dead bridge answered");
    stack.proxy()?.set(Fault::None);
    stack.bridge.start()?;
    let event_id = scout.send_until_sent(&body, 90).await?;
    is_one_event(ada, scout, &body, &event_id).await
}

/// The bridge dies after its claim and before Synapse has anything. The agent never asks again, and yet it is said.
async fn bridge_carries_on_alone(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    let body = submission("carried on after the bridge's death");
    block_in_place(|| stack.synapse.pause())?;
    let first = sending(scout, &body);
    claimed(stack, text(&body["submissionId"])).await?;
    stack.bridge.kill()?;
    ensure!(first.await?.is_err(), "a dead bridge answered");
    block_in_place(|| stack.synapse.resume())?;
    stack.bridge.start()?;
    stack.bridge.ready().await?;
    let said = |e: &Value| e["content"]["body"] == body["text"];
    let event = ada.see("what the bridge had claimed", said).await?;
    is_one_event(ada, scout, &body, text(&event["event_id"])).await?;
    assert_eq!(scout.send_until_sent(&body, 30).await?, text(&event["event_id"]));
    is_one_event(ada, scout, &body, text(&event["event_id"])).await
}

/// Waits until the bridge's database has the claim.
async fn claimed(stack: &Stack, id: &str) -> Result<()> {
    let wanted = id.replace('-', "");
    until("the claim to be on disk", 30, async || {
        let database = rusqlite::Connection::open(stack.bridge.database()?)?;
        let sql = "SELECT count(*) FROM submissions WHERE lower(hex(submission_id)) = ?1";
        let found: i64 = database.query_row(sql, [&wanted], |row| row.get(0))?;
        Ok((found == 1).then_some(()))
    })
    .await
}

async fn client_goes_away(stack: &Stack, scout: &Agent, ada: &Person) -> Result<()> {
    let body = submission("the client goes away");
    stack.proxy()?.set(Fault::HoldAnswer);
    let first = sending(scout, &body);
    stack.proxy()?.caught(1).await?;
    first.abort();
    ensure!(first.await.is_err_and(|error| error.is_cancelled()), "the call was over before it was given up");
    stack.proxy()?.set(Fault::None);
    let event_id = scout.send_until_sent(&body, 60).await?;
    is_one_event(ada, scout, &body, &event_id).await
}

/// A homeserver that takes a send and stays silent: pending, then sent once; killed meanwhile: sent once as well.
#[tokio::test(flavor = "multi_thread")]
async fn synapse_is_silent() -> Result<()> {
    let (stack, scout, ada) = set_up(false).await?;
    for killed in [false, true] {
        let body = submission(if killed { "silent, then killed" } else { "silent, then awake" });
        block_in_place(|| stack.synapse.pause())?;
        let pending = scout.send(&body).await?.expect(202)?;
        assert_eq!((text(&pending["status"]), &pending["eventId"]), ("pending", &Value::Null));
        assert_eq!(pending["submissionId"], body["submissionId"]);
        // While it is pending, another text under its id is a conflict and not "pending".
        let mut other = body.clone();
        other["text"] = json!("another text");
        scout.send(&other).await?.refusal(409, "submission_conflict")?;
        block_in_place(|| match killed {
            false => stack.synapse.resume(),
            true => {
                stack.synapse.kill();
                stack.synapse.restart()
            }
        })?;
        let event_id = scout.send_until_sent(&body, 100).await?;
        is_one_event(&ada, &scout, &body, &event_id).await?;
    }
    // Nothing of what was open then is said once more later on.
    let last = scout.send_until_sent(&submission("the last word"), 30).await?;
    ada.see_event(&last).await?;
    tokio::time::timeout(Duration::from_secs(30), stack.bridge.restart()).await??;
    let timeline = ada.timeline(&scout.room).await?;
    assert!(["silent, then awake", "silent, then killed"].iter().all(|said| count(&timeline, said) == 1));
    stack.finish().await
}
