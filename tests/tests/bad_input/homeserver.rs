//! What the homeserver sends, or somebody in its name.

use anyhow::{Context, Result, ensure};
use parlour_tests::raw::{exchange, request};
use parlour_tests::{Agent, Person, Stack, event_ids};
use serde_json::{Value, json};

use super::common::text;
use super::events::{bad_transactions, odd_but_said};
use super::{JSON, bearer, set_up, still_works};

#[tokio::test(flavor = "multi_thread")]
async fn transactions() -> Result<()> {
    let (stack, scout, ada) = set_up().await?;
    let port = stack.bridge.port();
    let head = format!("{}{JSON}", bearer(&stack.hs_token()?));
    let before = event_ids(&scout.history("limit=50").await?);
    for (number, (what, body, status)) in bad_transactions(&scout.room, &ada.user_id).into_iter().enumerate()
    {
        let path = format!("/_matrix/app/v1/transactions/bad{number}");
        let answer = exchange(port, &request("PUT", &path, &head, &body)).await.context(what)?;
        ensure!(answer.status == status, "{what}: {answer:?}");
        ensure!(status == 200 || answer.body["errcode"].is_string(), "{what}: {answer:?}");
        ensure!(
            answer.head.contains("content-length:"),
            "{what}: Synapse takes this for a failure: {}",
            answer.head
        );
    }
    let marker = ada.say(&scout.room, "after the bad ones").await?;
    scout.hear(&marker).await?;
    let known = |id: &String| before.contains(id) || *id == marker;
    let bad: Vec<Value> =
        history(&scout).await?.into_iter().filter(|m| !known(&text(&m["eventId"]).to_owned())).collect();
    // These have id, room, sender and a content that says something of a message: odd, and yet nothing to lose.
    let mut kept: Vec<&str> = bad.iter().map(|m| text(&m["eventId"])).collect();
    kept.sort_unstable();
    assert_eq!(kept, ["$deep", "$e", "$half"], "{bad:?}");
    odd_ones(&stack, &scout, &ada, &head).await?;
    broken_bytes(&stack, &scout, &ada, &head).await?;
    refused_transactions(port, &stack).await?;
    still_works(&stack, &scout, &ada).await?;
    stack.bridge.restart().await?;
    still_works(&stack, &scout, &ada).await?;
    stack.finish().await
}

async fn history(agent: &Agent) -> Result<Vec<Value>> {
    Ok(agent.history("limit=50").await?["messages"].as_array().cloned().unwrap_or_default())
}

async fn odd_ones(stack: &Stack, scout: &Agent, ada: &Person, head: &str) -> Result<()> {
    let (body, ids) = odd_but_said(&scout.room, &ada.user_id);
    for _ in 0..2 {
        let path = "/_matrix/app/v1/transactions/odd";
        let answer = exchange(stack.bridge.port(), &request("PUT", path, head, &body)).await?;
        ensure!(answer.status == 200, "{answer:?}");
    }
    for id in &ids {
        let heard = scout.hear(id).await?;
        ensure!(!text(&heard["conversation"]["text"]).is_empty(), "{heard}");
        ensure!(heard["conversation"]["mentions"] == json!([]) && heard["mentionsMe"] == false, "{heard}");
    }
    scout.hear(&ada.say(&scout.room, "after the odd ones").await?).await?;
    let heard = scout.heard();
    for id in &ids {
        assert_eq!(heard.iter().filter(|m| m["eventId"] == *id).count(), 1, "{id}");
    }
    Ok(())
}

/// Broken bytes in one event leave its neighbour whole.
async fn broken_bytes(stack: &Stack, scout: &Agent, ada: &Person, head: &str) -> Result<()> {
    let event = |id: &str, body: &str| {
        let (room, user) = (&scout.room, &ada.user_id);
        format!(
            "{{\"type\":\"m.room.message\",\"event_id\":\"{id}\",\"room_id\":\"{room}\",\"sender\":\"{user}\",\
            \"origin_server_ts\":1,\"content\":{{\"msgtype\":\"m.text\",\"body\":\"{body}\"}}}}"
        )
    };
    let both =
        format!("{{\"events\":[{},{}]}}", event("$broken", "byte ? byte"), event("$whole", "not broken"));
    let bytes: Vec<u8> = both.bytes().map(|b| if b == b'?' { 0xff } else { b }).collect();
    let path = "/_matrix/app/v1/transactions/broken";
    let answer = exchange(stack.bridge.port(), &request("PUT", path, head, &bytes)).await?;
    ensure!(answer.status == 200, "{answer:?}");
    let heard = scout.hear("$whole").await?;
    assert_eq!(heard["conversation"]["text"], "not broken");
    Ok(())
}

/// Who is not the homeserver, and what is larger than any homeserver sends.
async fn refused_transactions(port: u16, stack: &Stack) -> Result<()> {
    let path = "/_matrix/app/v1/transactions/x";
    for (head, status, errcode) in
        [("", 401, "M_UNAUTHORIZED"), ("Authorization: Bearer nope\r\n", 403, "M_FORBIDDEN")]
    {
        let answer = exchange(port, &request("PUT", path, head, b"{}")).await?;
        ensure!(answer.status == status && answer.body["errcode"] == errcode, "{answer:?}");
    }
    let head = bearer(&stack.hs_token()?);
    let mut large = vec![b' '; 64 * 1024 * 1024];
    large[..13].copy_from_slice(b"{\"events\":[]}");
    let answer = exchange(port, &request("PUT", path, &head, &large)).await.context("64 MiB")?;
    ensure!(answer.status == 200, "{answer:?}");
    large.push(b' ');
    let answer = exchange(port, &request("PUT", path, &head, &large)).await.context("a byte over 64 MiB")?;
    ensure!(answer.status == 413 && answer.body["errcode"] == "M_TOO_LARGE", "{answer:?}");
    for (verb, path, status) in [
        ("GET", path, 405),
        ("PUT", "/_matrix/app/v1/nothing", 404),
        ("PUT", "/_matrix/app/v1/transactions/%ff", 400),
    ] {
        let answer = exchange(port, &request(verb, path, &head, b"")).await?;
        ensure!(answer.status == status && answer.body["errcode"].is_string(), "{verb} {path}: {answer:?}");
    }
    Ok(())
}
