//! What agents send.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use parlour_tests::raw::{exchange, read_answer, request};
use parlour_tests::{Agent, Person};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::bodies::bad_bodies;
use super::database::written_down;
use super::{JSON, SECRET_TEXT, SEND, bearer, is_invalid, set_up, still_works};

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_agents() -> Result<()> {
    let (stack, scout, ada) = set_up().await?;
    let port = stack.bridge.port();
    // what the homeserver had to tell is written down by then
    scout.hear(&ada.say(&scout.room, "before the bad ones").await?).await?;
    let before = happened(&ada, &scout.room).await?;
    let written = written_down(&stack)?;
    ensure!(
        !written["quotas"].is_empty() && written["agents"].len() == 1,
        "looked at too early: {written:?}"
    );
    let head = format!("{}{JSON}", bearer(&scout.token));
    for (what, body, code, field) in bad_bodies() {
        let answer = exchange(port, &request("POST", SEND, &head, &body)).await.context(what)?;
        is_invalid(what, &answer, code, field)?;
    }
    content_types(port, &scout).await?;
    odd_heads(port, &scout).await?;
    endless_and_slow(port, &scout).await?;
    join_bodies(port).await?;
    assert_eq!(happened(&ada, &scout.room).await?, before, "something of it was said");
    assert_eq!(written_down(&stack)?, written, "something of it was written down");
    still_works(&stack, &scout, &ada).await?;
    stack.finish().await
}

/// How much has happened in a room, pictures apart: those come in their own time.
async fn happened(person: &Person, room: &str) -> Result<usize> {
    let timeline = person.timeline(room).await?;
    Ok(timeline.iter().filter(|e| e["content"]["avatar_url"].is_null()).count())
}

async fn content_types(port: u16, scout: &Agent) -> Result<()> {
    let body = json!({"text": SECRET_TEXT}).to_string();
    for content_type in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: \r\n",
    ] {
        let head = format!("{}{content_type}", bearer(&scout.token));
        let answer = exchange(port, &request("POST", SEND, &head, body.as_bytes())).await?;
        is_invalid(content_type, &answer, "invalid_request", None)?;
    }
    Ok(())
}

/// Tokens and paths out of the ordinary.
async fn odd_heads(port: u16, scout: &Agent) -> Result<()> {
    let tokens = [
        "",
        "Authorization: Bearer\r\n",
        "Authorization: Basic YTpi\r\n",
        "Authorization: Bearer parlour_nope\r\n",
        "Authorization: Bearer \u{1f600}\r\n",
    ];
    for head in tokens {
        let answer = exchange(port, &request("GET", "/v1/network-agents/me", head, b"")).await?;
        ensure!(
            answer.status == 401 && answer.body["code"] == "network_agent.unauthorized",
            "{head}: {answer:?}"
        );
    }
    let cut = &scout.token[..scout.token.len() - 1];
    let answer = exchange(port, &request("GET", "/v1/network-agents/me", &bearer(cut), b"")).await?;
    ensure!(answer.status == 401, "a token that is cut short: {answer:?}");
    let paths = [
        ("GET", "/v1/network-agents/nowhere", 404, "http.route_not_found"),
        ("GET", "/v1/network-agents/%ff%00", 404, "http.route_not_found"),
        ("GET", "/v1/../../etc/passwd", 404, "http.route_not_found"),
        ("PATCH", "/v1/network-agents/me", 405, "http.method_not_allowed"),
        ("GET", "/v1/network-agents/me/rooms/%ff/messages", 400, "network_agent.invalid_request"),
        ("GET", "/v1/network-agents/me/messages?wait=-1", 400, "network_agent.invalid_request"),
        ("GET", "/v1/network-agents/me/messages?from=%00%ff", 400, "network_agent.invalid_request"),
        ("GET", "/v1/network-agents/me/messages/lookup?ids=", 400, "network_agent.invalid_request"),
    ];
    for (verb, path, status, code) in paths {
        let answer = exchange(port, &request(verb, path, &bearer(&scout.token), b"")).await?;
        ensure!(answer.status == status && answer.body["code"] == code, "{verb} {path}: {answer:?}");
    }
    Ok(())
}

/// A body that never ends is cut off when it is too large, and one that only drips when its time is over.
async fn endless_and_slow(port: u16, scout: &Agent) -> Result<()> {
    let head = format!("POST {SEND} HTTP/1.1\r\nHost: bridge\r\n{}{JSON}", bearer(&scout.token));
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let endless = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(2_000));
    let answer = exchange(port, endless.as_bytes()).await.context("an endless body")?;
    is_invalid("an endless body", &answer, "invalid_request", None)?;

    let began = Instant::now();
    let (mut reading, mut writing) = TcpStream::connect(("127.0.0.1", port)).await?.into_split();
    writing.write_all(format!("{head}Content-Length: 1000\r\n\r\n").as_bytes()).await?;
    let drip = tokio::spawn(async move {
        // Ends when the bridge has had enough.
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let answer = tokio::time::timeout(Duration::from_secs(45), read_answer(&mut reading)).await;
    drip.abort();
    is_invalid(
        "a slow body",
        &answer.context("a slow body is waited for without end")??,
        "invalid_request",
        None,
    )?;
    ensure!(began.elapsed() > Duration::from_secs(5), "a slow client got no time: {:?}", began.elapsed());
    Ok(())
}

async fn join_bodies(port: u16) -> Result<()> {
    let table = [
        ("no name", "{}".to_owned(), "invalid_request"),
        ("an unknown field", "{\"name\":\"A\",\"nmae\":1}".to_owned(), "invalid_request"),
        (
            "room and code",
            "{\"name\":\"A\",\"room\":\"lobby\",\"code\":\"0000-0000-0000\"}".to_owned(),
            "invalid_request",
        ),
        ("an empty name", "{\"name\":\"\"}".to_owned(), "name_invalid"),
        ("a long name", format!("{{\"name\":\"{}\"}}", "x".repeat(65)), "name_invalid"),
        ("NUL in the name", "{\"name\":\"a\\u0000b\"}".to_owned(), "name_invalid"),
        ("a name that is reserved", "{\"name\":\"Ad min\"}".to_owned(), "name_invalid"),
        ("too large", format!("{{\"name\":\"A\",\"room\":\"{}\"}}", "x".repeat(50_000)), "invalid_request"),
    ];
    for (what, body, code) in table {
        let answer = exchange(port, &request("POST", "/v1/network-agents", JSON, body.as_bytes())).await?;
        is_invalid(what, &answer, code, None)?;
    }
    Ok(())
}
