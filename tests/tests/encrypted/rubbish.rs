//! What no homeserver should bring for devices, and what nobody should put into an encrypted room: the bridge goes on, and
//! what is good beside it arrives.

use anyhow::{Context, Result, ensure};
use parlour_tests::raw::{exchange, request};
use parlour_tests::{Devices, Plan};
use reqwest::Method;
use serde_json::{Value, json};

use crate::common::text;
use crate::rubbish_rows::{Place, broken_contents, broken_parcels, messages_by_clients};
use crate::world::{Trio, person_reads, signed_device};

#[tokio::test(flavor = "multi_thread")]
async fn broken_parcels_and_broken_ciphertext_leave_the_rest_whole() -> Result<()> {
    let trio = Trio::start(Plan::default()).await?;
    trio.all_talk("before the rubbish").await?;
    let place = place(&trio).await?;
    for (number, (what, parcels)) in broken_parcels(&place).into_iter().enumerate() {
        bring(&trio, &format!("parcel{number}"), parcels, vec![]).await.context(what)?;
    }
    trio.all_talk("after the parcels").await?;
    let before = known(&trio).await?;
    for (number, content) in broken_contents(&place).into_iter().enumerate() {
        let event = json!({"type": "m.room.encrypted", "event_id": format!("$broken{number}"), "room_id": trio.room.id,
            "sender": place.person, "origin_server_ts": 1, "content": content});
        bring(&trio, &format!("sealed{number}"), json!({}), vec![event]).await?;
    }
    nothing_came_of_it(&trio, before).await?;
    trio.all_talk("after the ciphertext").await?;
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("a new session").await?;
    trio.world.stack.bridge.restart().await?;
    trio.all_talk("a restart").await?;
    trio.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stranger_sends_to_a_device_stands_before_nothing() -> Result<()> {
    stranger_sends(Devices::Pushed).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_where_devices_are_pulled_for() -> Result<()> {
    stranger_sends(Devices::Pulled).await
}

/// By way of the homeserver, which keeps it in the device's queue before the keys that come after it.
async fn stranger_sends(devices: Devices) -> Result<()> {
    let trio = Trio::start(Plan { devices, ..Plan::default() }).await?;
    trio.all_talk("before the stranger").await?;
    let place = place(&trio).await?;
    let mallory = trio.world.stack.person("mallory")?;
    let mut taken = 0;
    for (number, (kind, content)) in messages_by_clients(&place).into_iter().enumerate() {
        let path = format!("/sendToDevice/{kind}/{number}");
        let body = json!({"messages": {&place.puppet: {&place.device: content}}});
        taken += usize::from(mallory.call(Method::PUT, &path, Some(&body)).await?.status == 200);
    }
    ensure!(taken >= 15, "the homeserver let only {taken} through");
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("after the stranger").await?;
    trio.world.stack.bridge.restart().await?;
    trio.ada.obey("new_session", json!({"room": trio.room.id})).await?;
    trio.all_talk("a restart").await?;
    let log = trio.world.stack.bridge.log();
    for line in ["news for a device cannot be taken", "cannot pull keys yet"] {
        ensure!(!log.contains(line), "the log has {line:?}");
    }
    trio.finish().await
}

/// The owner's puppet and its device, as the person's client knows them, and the session she speaks in.
async fn place(trio: &Trio) -> Result<Place> {
    let said = trio.world.agent_says(&trio.owner, "where am I").await?;
    let puppet = text(&person_reads(&trio.ada, &said, "where am I").await?["sender"]).to_owned();
    let device = signed_device(&trio.ada, &puppet).await?;
    let said = trio.human_talks(&trio.ada, "in this session").await?;
    let events = trio.ada.raw.timeline(&trio.room.id).await?;
    let sealed = events.into_iter().find(|event| event["event_id"] == said.as_str()).context("not there")?;
    Ok(Place { puppet, device, person: trio.ada.user_id.clone(), sealed: sealed["content"].clone() })
}

/// Brings a transaction with a good message last, which both agents have to be given.
async fn bring(trio: &Trio, id: &str, mut transaction: Value, mut events: Vec<Value>) -> Result<()> {
    let beside = format!("$beside-{id}");
    events.push(json!({"type": "m.room.message", "event_id": beside, "room_id": trio.room.id, "sender": trio.ada.user_id,
        "origin_server_ts": 1, "content": {"msgtype": "m.text", "body": "good beside bad", "m.mentions": {}}}));
    transaction["events"] = events.into();
    let stack = &trio.world.stack;
    let head = format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", stack.hs_token()?);
    let path = format!("/_matrix/app/v1/transactions/{id}");
    let bytes = request("PUT", &path, &head, transaction.to_string().as_bytes());
    let answer = exchange(stack.bridge.port(), &bytes).await?;
    ensure!(answer.status == 200, "{answer:?}");
    for agent in trio.agents() {
        agent.hear(&beside).await?;
    }
    Ok(())
}

async fn known(trio: &Trio) -> Result<Vec<String>> {
    Ok(parlour_tests::event_ids(&trio.owner.history("limit=50").await?))
}

/// No broken event became a message of its own.
async fn nothing_came_of_it(trio: &Trio, before: Vec<String>) -> Result<()> {
    let new = known(trio).await?.into_iter().filter(|id| !before.contains(id));
    let odd: Vec<String> = new.filter(|id| !id.starts_with("$beside-")).collect();
    ensure!(odd.is_empty(), "broken events are shown: {odd:?}");
    for counted in ["malformed_entries", "poison_events", "replays"] {
        let figure = trio.world.stack.bridge.metric(&format!("parlour_{counted}_total")).await?;
        ensure!(figure.is_some_and(|n| n > 0.0), "{counted} are not counted: it was not looked at");
    }
    Ok(())
}
