//! HTTP by hand, for requests that no decent client would send.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came back before the connection ended or the answer was whole.
#[derive(Debug, Clone)]
pub struct RawAnswer {
    pub status: u16,
    /// In lower case.
    pub head: String,
    /// Null where it was no JSON.
    pub body: Value,
}

/// A request with a body of known length. `extra` are further header lines, each with its `\r\n`.
pub fn request(method: &str, path: &str, extra: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: bridge\r\n{extra}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// Sends these bytes over a connection of their own and reads one answer.
///
/// # Errors
/// No whole answer comes within a minute.
pub async fn exchange(port: u16, bytes: &[u8]) -> Result<RawAnswer> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut reading, mut writing) = stream.into_split();
    // A server may answer before it has read everything, and then writing fails; the answer counts.
    let write = async { drop(writing.write_all(bytes).await) };
    let read = tokio::time::timeout(Duration::from_secs(60), read_answer(&mut reading));
    let (_, answer) = tokio::join!(write, read);
    answer.context("no whole answer within a minute")?
}

/// Reads one answer from a connection.
///
/// # Errors
/// The connection ends before its head is whole.
pub async fn read_answer(reading: &mut (impl AsyncReadExt + Unpin)) -> Result<RawAnswer> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        if let Some(answer) = parse(&bytes, false) {
            return Ok(answer);
        }
        match reading.read(&mut buffer).await {
            Ok(0) | Err(_) => return parse(&bytes, true).context("the connection ended without an answer"),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// `None` while it is not whole; after the `end` what there is counts.
fn parse(bytes: &[u8], end: bool) -> Option<RawAnswer> {
    let split = bytes.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..split]).to_ascii_lowercase();
    let body = &bytes[split + 4..];
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let whole = length.is_some_and(|length| body.len() >= length);
    let status = head.split(' ').nth(1)?.parse().ok()?;
    (whole || end).then(|| RawAnswer { status, head, body: serde_json::from_slice(body).unwrap_or_default() })
}
