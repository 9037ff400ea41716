//! Both directions, on every way that keys come, with either client.

use anyhow::{Context, Result, ensure};
use parlour_tests::{Client, Devices, Plan, until};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::common::text;
use crate::world::{Trio, agent_reads, person_reads, signed_device};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_its_guest_and_a_person_talk() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let create = trio.ada.raw.state(&trio.room.id, "m.room.create").await?;
    ensure!(create["room_version"] == "12", "another version: {create}");
    trio.all_talk("the weather").await?;
    every_device_is_signed(&trio).await?;
    has_found(&trio, "pushed").await?;
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("a new session").await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_person_talks_with_agents() -> Result<()> {
    let trio = Trio::with(Plan::default(), Client::Js, true).await?;
    trio.all_talk("signed devices").await?;
    every_device_is_signed(&trio).await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_not_pushed_are_fetched() -> Result<()> {
    over(Devices::Pulled, "pulled").await
}

#[tokio::test(flavor = "multi_thread")]
async fn puppets_with_tokens_of_their_own() -> Result<()> {
    over(Devices::OwnToken, "ownToken").await
}

/// Also after a restart, and with sessions that the bridge has to fetch; with a person who is strict.
async fn over(devices: Devices, way: &str) -> Result<()> {
    let trio = Trio::with(Plan { devices, ..Plan::default() }, Client::Js, true).await?;
    trio.all_talk("such a homeserver").await?;
    every_device_is_signed(&trio).await?;
    trio.world.stack.bridge.restart().await?;
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("another session").await?;
    has_found(&trio, way).await?;
    trio.finish().await
}

/// The bridge has probed which way its homeserver offers.
async fn has_found(trio: &Trio, way: &str) -> Result<()> {
    let mut told = Value::Null;
    let found = until("the way to devices", 30, async || {
        let status = block_in_place(|| trio.world.stack.bridge.command(&["status", "--json"]))?;
        told = serde_json::from_str(&status)?;
        Ok((told["deviceWay"] == way).then_some(()))
    });
    found.await.with_context(|| format!("{way}, and not {told}"))?;
    let said = match way {
        "pushed" => "pushed and masqueraded",
        "pulled" => "pulled and masqueraded",
        _ => "own tokens",
    };
    // it fails where the homeserver was made to offer less than the registration asks for
    let check = block_in_place(|| trio.world.stack.bridge.command(&["check"]));
    let check = check.unwrap_or_else(|error| format!("{error:#}"));
    let line =
        check.lines().find(|line| line.contains(" devices:")).context("check says nothing of devices")?;
    ensure!(line.contains(said), "{said:?} is not what check says: {line}");
    Ok(())
}

/// Where the operator trusts signed devices only: this client of the second stack signs its device nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn unsigned_devices_get_no_keys_where_the_operator_says_so() -> Result<()> {
    let plan = Plan { more: "[encryption]\ntrust = \"cross-signed\"\n", ..Plan::default() };
    let trio = Trio::start(plan).await?;
    let bob = trio.world.human("bob", Client::Nio).await?;
    trio.world.invite(&trio.owner, &trio.room, &bob).await?;
    let words = "for signed devices alone";
    let said = trio.world.agent_says(&trio.owner, words).await?;
    person_reads(&trio.ada, &said, words).await?;
    let sealed = |e: &Value| e["kind"] == "undecryptable" && e["eventId"] == said.as_str();
    bob.see("something that it has no key for", sealed).await?;
    trio.all_talk("those who are signed").await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_with_another_client() -> Result<()> {
    let trio = Trio::with(Plan::default(), Client::Nio, false).await?;
    trio.all_talk("another client").await?;
    trio.finish().await
}

/// Each of the three has a machine of its own with the key.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_decrypted_once_however_many_agents_read_it() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let third = trio.world.guest("Third", &trio.room).await?;
    trio.all_talk("a first word").await?;
    let decryptions = async || trio.world.stack.bridge.metric("parlour_decryptions_total").await;
    for n in 1..=3 {
        let before = decryptions().await?.context("nothing was ever decrypted")?;
        let words = format!("word number {n}");
        let event_id = trio.human_talks(&trio.ada, &words).await?;
        agent_reads(&third, &event_id, &words).await?;
        let after = decryptions().await?.context("no such figure")?;
        ensure!(after - before == 1.0, "{} decryptions of one event", after - before);
    }
    trio.finish().await
}

/// Relations work as in plain rooms, though the homeserver sees little of them.
#[tokio::test(flavor = "multi_thread")]
async fn replies_mentions_edits_and_redactions() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    let (world, room) = (&trio.world, trio.room.id.as_str());
    let first = world.agent_says(&trio.owner, "a first word").await?;
    let puppet = text(&person_reads(&trio.ada, &first, "a first word").await?["sender"]).to_owned();

    world.note("an answer to it");
    let answer = json!({"room": room, "text": "an answer to it", "replyTo": first, "mentions": [puppet]});
    let answer = trio.ada.send(answer).await?;
    let message = agent_reads(&trio.owner, &answer, "an answer to it").await?;
    ensure!(message["mentionsMe"] == true, "not mentioned: {message}");
    ensure!(message["replyTo"]["excerpt"] == "a first word", "what is answered? {message}");
    agent_reads(&trio.guest, &answer, "an answer to it").await?;

    let back = json!({"text": "answered by the agent", "roomId": room, "replyTo": answer});
    world.note("answered by the agent");
    let back = trio.owner.send_until_sent(&back, 60).await?;
    let shown = person_reads(&trio.ada, &back, "answered by the agent").await?;
    ensure!(shown["relates"]["m.in_reply_to"]["event_id"] == answer, "not a reply: {shown}");
    ensure!(shown["mentions"]["user_ids"] == json!([trio.ada.user_id]), "mentions nobody: {shown}");

    for words in ["an answer, corrected", "gone again"] {
        world.note(words);
    }
    trio.ada.obey("edit", json!({"room": room, "eventId": answer, "text": "an answer, corrected"})).await?;
    let gone = trio.human_talks(&trio.ada, "gone again").await?;
    let found = trio.guest.look_up(&[&answer]).await?;
    ensure!(found["messages"][0]["conversation"]["text"] == "an answer, corrected", "not edited: {found}");
    trio.ada.obey("redact", json!({"room": room, "eventId": gone})).await?;
    trio.human_talks(&trio.ada, "and after that").await?;
    let found = trio.guest.look_up(&[&gone]).await?;
    ensure!(found["missing"] == json!([gone]), "still there: {found}");
    trio.finish().await
}

async fn every_device_is_signed(trio: &Trio) -> Result<()> {
    let puppets: Vec<String> = trio.ada.events().iter().map(|e| text(&e["sender"]).to_owned()).collect();
    let mut puppets: Vec<_> = puppets.into_iter().filter(|user| user.starts_with("@agent_")).collect();
    puppets.sort();
    puppets.dedup();
    ensure!(puppets.len() == 2, "two puppets should have spoken: {puppets:?}");
    for puppet in puppets {
        signed_device(&trio.ada, &puppet).await?;
    }
    Ok(())
}
