//! The client side of the network-agent API, as far as the scenarios need it.
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, RETRY_AFTER},
};
use serde_json::{Value, json};

use crate::{
    clock::{fresh_uuid, now, pause},
    homeserver::http_client,
    marker,
};

/// A 429 is waited out up to this many seconds; a longer one means that the limits are not up for a load run.
const LONGEST_RETRY_AFTER: u64 = 60;

/// A bridge, seen from the agents' side.
#[derive(Clone)]
pub(crate) struct Api {
    http: reqwest::Client,
    base: String,
    mcp: String,
    limited: Arc<AtomicUsize>,
}

/// An agent that joined, and the room it joined into.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) token: String,
    pub(crate) room: String,
}

/// The two forms of MCP's answers.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Json,
    Stream,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Stream => "stream",
        }
    }

    fn accept(self) -> &'static str {
        match self {
            Self::Json => "application/json, text/event-stream",
            Self::Stream => "text/event-stream",
        }
    }
}

/// An answer, and when its last byte was here: reading JSON is the harness's cost and not the bridge's.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    pub(crate) at: Instant,
}

impl Api {
    pub(crate) fn new(base: &str) -> Result<Self> {
        let root = base.trim_end_matches('/');
        let (base, mcp) = (format!("{root}/v1/network-agents"), format!("{root}/mcp"));
        Ok(Self { http: http_client()?, base, mcp, limited: Arc::default() })
    }

    /// How many answers were 429 so far. A run in which it is not 0 is spoiled.
    pub(crate) fn limited(&self) -> usize {
        self.limited.load(Ordering::Relaxed)
    }

    /// One call; a 429 is counted, waited out and tried again.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        agent: Option<&Agent>,
        body: Option<&Value>,
    ) -> Result<Answer> {
        for _ in 0..20 {
            let answer = self.request(method.clone(), path, agent, body).send().await?;
            if answer.status() != StatusCode::TOO_MANY_REQUESTS {
                return read(path, answer).await;
            }
            self.limited.fetch_add(1, Ordering::Relaxed);
            wait_out(path, &answer).await?;
        }
        bail!("{path} was still answered 429 after 20 tries");
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        agent: Option<&Agent>,
        body: Option<&Value>,
    ) -> reqwest::RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(agent) = agent {
            request = request.bearer_auth(&agent.token);
        }
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Joins a lobby, the default one where none is named.
    pub(crate) async fn join(&self, name: &str, lobby: Option<&str>) -> Result<Agent> {
        let body = match lobby {
            Some(lobby) => json!({"name": name, "room": lobby}),
            None => json!({"name": name}),
        };
        self.enter(&body).await
    }

    /// Joins the private room that this code opens.
    pub(crate) async fn join_by_code(&self, name: &str, code: &str) -> Result<Agent> {
        self.enter(&json!({"name": name, "code": code})).await
    }

    async fn enter(&self, body: &Value) -> Result<Agent> {
        let answer = self.call(Method::POST, "", None, Some(body)).await?.body;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let token = text(&answer["token"]).context("the answer to a join has no token")?;
        let room =
            text(&answer["room"]["matrixRoomId"]).context("the answer to a join has no room.matrixRoomId")?;
        Ok(Agent { token, room })
    }

    /// One long poll with this query.
    pub(crate) async fn wait(&self, agent: &Agent, query: &str) -> Result<Answer> {
        self.call(Method::GET, &format!("/me/messages?{query}"), Some(agent), None).await
    }

    /// Acknowledges up to an event; says whether that changed anything.
    pub(crate) async fn ack(&self, agent: &Agent, event_id: &str) -> Result<bool> {
        let answer =
            self.call(Method::POST, "/me/ack", Some(agent), Some(&json!({"eventId": event_id}))).await?;
        Ok(answer.body["acknowledged"] == true)
    }

    /// Sends one text and stays with it until it is sent: 202 is asked again under the same submissionId.
    pub(crate) async fn send(&self, agent: &Agent, text: &str) -> Result<()> {
        self.say(agent, text).await.map(drop)
    }

    /// The same, and gives the event's id.
    pub(crate) async fn say(&self, agent: &Agent, text: &str) -> Result<String> {
        let body = json!({"text": text, "roomId": agent.room, "submissionId": fresh_uuid()});
        for _ in 0..40 {
            let answer = self.call(Method::POST, "/me/messages", Some(agent), Some(&body)).await?;
            if answer.status != StatusCode::ACCEPTED {
                return Ok(answer.body["eventId"].as_str().context("sent, without an event id")?.to_owned());
            }
            pause(250).await;
        }
        bail!("a message was still pending after 40 tries");
    }

    /// Reads and acknowledges all there is, so that a measurement starts with an empty inbox. Gives the event ids in order.
    pub(crate) async fn drain(&self, agent: &Agent) -> Result<Vec<String>> {
        let mut all = vec![];
        loop {
            let answer = self.wait(agent, "wait=0&limit=50&settle=0&wake=all").await?;
            let ids = event_ids(&answer.body);
            let Some(last) = ids.last() else { return Ok(all) };
            // an inbox that never empties would hold the harness for ever
            if !self.ack(agent, last).await? {
                bail!("an event that was handed out could not be acknowledged");
            }
            all.extend(ids);
        }
    }

    pub(crate) async fn me(&self, agent: &Agent) -> Result<()> {
        self.call(Method::GET, "/me", Some(agent), None).await.map(drop)
    }

    /// Calls an MCP tool; gives its body.
    pub(crate) async fn tool(
        &self,
        agent: &Agent,
        form: Form,
        tool: &str,
        arguments: Value,
    ) -> Result<Value> {
        let params = json!({"name": format!("agent_room_{tool}"), "arguments": arguments});
        let result = self.mcp(Some(agent), form, "tools/call", params).await?;
        if result["isError"] != false {
            bail!("the tool {tool} gave {result}");
        }
        Ok(result["structuredContent"].clone())
    }

    /// MCP's handshake.
    pub(crate) async fn initialize(&self) -> Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.mcp(None, Form::Json, "initialize", params).await.map(drop)
    }

    async fn mcp(&self, agent: Option<&Agent>, form: Form, method: &str, params: Value) -> Result<Value> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = self.http.post(&self.mcp).header(ACCEPT, form.accept()).json(&message);
        if let Some(agent) = agent {
            request = request.bearer_auth(&agent.token);
        }
        let text = request.send().await?.error_for_status()?.text().await?;
        let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        let answer: Value = serde_json::from_str(data)?;
        answer.get("result").cloned().with_context(|| format!("no result: {answer}"))
    }

    pub(crate) async fn leave(&self, agent: &Agent) -> Result<()> {
        self.call(Method::DELETE, "/me", Some(agent), None).await.map(drop)
    }
}

async fn wait_out(path: &str, answer: &Response) -> Result<()> {
    let after = answer.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(1);
    if after > LONGEST_RETRY_AFTER {
        bail!("{path} was answered 429 with Retry-After {after}: raise the bridge's limits for a load run");
    }
    tokio::time::sleep(Duration::from_secs(after)).await;
    Ok(())
}

async fn read(path: &str, answer: Response) -> Result<Answer> {
    let status = answer.status();
    let bytes = answer.bytes().await?;
    let at = now();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if !status.is_success() {
        bail!("the bridge answered {path} with {status}: {} {}", body["code"], body["message"]);
    }
    Ok(Answer { status, body, at })
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body["messages"].as_array().into_iter().flatten()
}

/// The event ids in an inbox answer, oldest first.
pub(crate) fn event_ids(body: &Value) -> Vec<String> {
    messages(body).filter_map(|m| m["eventId"].as_str().map(str::to_owned)).collect()
}

/// The markers in an inbox answer, oldest first.
pub(crate) fn markers(body: &Value) -> Vec<String> {
    messages(body)
        .filter_map(|m| marker::find(m["conversation"]["text"].as_str()?).map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_answer_is_read_in_order() {
        let mark = marker::fresh();
        let body = json!({"messages": [{"eventId": "$a", "conversation": {"text": "hi"}},
            {"eventId": "$b", "conversation": {"text": format!("x {mark}")}}]});
        assert_eq!(event_ids(&body), ["$a", "$b"]);
        assert_eq!(markers(&body), [mark]);
        assert!(event_ids(&json!({"code": "x"})).is_empty());
    }
}
