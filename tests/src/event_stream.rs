//! Server-sent events as a script reads them.

use anyhow::{Context, Result, ensure};
use reqwest::Response;
use serde_json::Value;

use crate::bridge::Bridge;
use crate::http::client;

/// One event.
#[derive(Debug, Clone)]
pub struct StreamEvent {
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

/// An open stream, with all that came so far.
pub struct EventStream {
    answer: Response,
    rest: String,
    pub seen: Vec<StreamEvent>,
}

impl EventStream {
    /// # Errors
    /// It is not answered with a stream.
    pub async fn open(bridge: &Bridge, path: &str, last_id: Option<&str>) -> Result<Self> {
        let mut request =
            client()?.get(format!("{}{path}", bridge.url())).header("accept", "text/event-stream");
        if let Some(id) = last_id {
            request = request.header("last-event-id", id);
        }
        let answer = request.send().await?.error_for_status()?;
        let kind = answer.headers().get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
        ensure!(kind.starts_with("text/event-stream"), "no stream: {kind}");
        Ok(Self { answer, rest: String::new(), seen: vec![] })
    }

    /// Reads up to the event whose data hold this.
    ///
    /// # Errors
    /// The stream ends, or nothing comes for a minute.
    pub async fn until(&mut self, part: &str) -> Result<StreamEvent> {
        loop {
            let before = self.seen.len();
            let ended = !self.read().await?;
            let found = self.seen[before..].iter().find(|e| e.data.to_string().contains(part));
            if let Some(found) = found {
                return Ok(found.clone());
            }
            ensure!(!ended, "the stream ended before {part:?}: {:?}", self.seen);
        }
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// It does not end within a minute.
    pub async fn end(&mut self) -> Result<()> {
        while self.read().await? {}
        Ok(())
    }

    async fn read(&mut self) -> Result<bool> {
        let Some(chunk) = self.answer.chunk().await? else { return Ok(false) };
        self.rest.push_str(std::str::from_utf8(&chunk).context("no UTF-8")?);
        while let Some((block, rest)) = self.rest.split_once("\n\n") {
            let event = event(block);
            self.rest = rest.to_owned();
            self.seen.extend(event);
        }
        Ok(true)
    }
}

/// `None` for what is only there to keep the connection alive.
fn event(block: &str) -> Option<StreamEvent> {
    let field = |name: &str| {
        let line = block.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.strip_prefix(' ').unwrap_or(value).to_owned())
    };
    let data = serde_json::from_str(&field("data")?).unwrap_or_default();
    Some(StreamEvent { id: field("id"), name: field("event").unwrap_or_default(), data })
}
