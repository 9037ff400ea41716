//! Hosts that go away, and a homeserver that is slow.

use std::time::Duration;

use anyhow::{Result, ensure};
use parlour_tests::mcp::by_hand;
use parlour_tests::{Agent, Fault, Plan, Stack, count, fresh_uuid, until};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A call over a socket of its own; the answer is not read.
async fn begin(
    stack: &Stack,
    accept: &str,
    agent: &Agent,
    tool: &str,
    mut arguments: Value,
) -> Result<TcpStream> {
    arguments["token"] = json!(agent.token);
    let params = json!({"name": format!("agent_room_{tool}"), "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = TcpStream::connect(("127.0.0.1", stack.bridge.port())).await?;
    socket.write_all(format!("{head}{body}").as_bytes()).await?;
    Ok(socket)
}

async fn waiters(stack: &Stack, expected: f64) -> Result<()> {
    until("the number of waiters", 30, async || {
        let found = stack.bridge.metric("parlour_waiters").await?.unwrap_or_default();
        Ok(((found - expected).abs() < 0.5).then_some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_waits_no_more() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let other = stack.agent("Other", None).await?;
    for accept in ["application/json, text/event-stream", "text/event-stream"] {
        let socket = begin(&stack, accept, &scout, "wait_for_messages", json!({"wake": "all"})).await?;
        waiters(&stack, 1.0).await?;
        drop(socket);
        waiters(&stack, 0.0).await?;
    }
    // nothing was lost with those who left
    let said = other.say("are you there?").await?;
    let heard =
        by_hand(&stack.bridge.url(), &scout.token, "wait_for_messages", json!({"wake": "all"})).await?;
    assert_eq!(heard["messages"][0]["eventId"], said["eventId"]);
    assert_eq!(heard["pending"], 1);
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_is_finished_without_its_host() -> Result<()> {
    let stack = Stack::start(Plan { proxy: true, ..Plan::default() }).await?;
    let scout = stack.agent("Scout", None).await?;
    let proxy = stack.proxy()?;
    for (accept, words) in
        [("application/json", "said to nobody"), ("text/event-stream", "said to no stream")]
    {
        let submission = fresh_uuid();
        proxy.set(Fault::HoldAnswer);
        let arguments = json!({"text": words, "submissionId": submission});
        let socket = begin(&stack, accept, &scout, "send_message", arguments.clone()).await?;
        proxy.caught(1).await?;
        drop(socket);
        proxy.set(Fault::None);
        let sent = until("the message to be sent", 60, async || {
            let sent = by_hand(&stack.bridge.url(), &scout.token, "send_message", arguments.clone()).await?;
            Ok((sent["status"] == "sent").then_some(sent))
        })
        .await?;
        assert_eq!(sent["submissionId"], submission);
    }
    let ada = stack.person("ada")?;
    ada.join(&scout.room).await?;
    let timeline = ada.timeline(&scout.room).await?;
    for words in ["said to nobody", "said to no stream"] {
        assert_eq!(count(&timeline, words), 1, "{words}");
    }
    stack.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_kept_alive_and_a_newer_wait_ends_it() -> Result<()> {
    let stack = Stack::start(Plan::default()).await?;
    let scout = stack.agent("Scout", None).await?;
    scout.settle_in().await?;
    let mut socket = begin(&stack, "text/event-stream", &scout, "wait_for_messages", json!({})).await?;
    waiters(&stack, 1.0).await?;
    let opened = read_until(&mut socket, ": waiting").await?;
    ensure!(opened.contains("content-type: text/event-stream") && !opened.contains("data:"), "{opened}");
    scout.wait("wait=0").await?.expect(200)?;
    let ended = read_until(&mut socket, "\n\n").await?;
    ensure!(ended.contains("event: message") && ended.contains("superseded"), "{ended}");
    stack.finish().await
}

/// What comes until this does.
async fn read_until(socket: &mut TcpStream, mark: &str) -> Result<String> {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(mark) {
        let mut chunk = [0; 4096];
        let length = tokio::time::timeout(Duration::from_secs(20), socket.read(&mut chunk)).await??;
        ensure!(length > 0, "the stream ended: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&chunk[..length]);
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}
