//! One HTTP client for all, and answers that explain themselves when they are not what a story expects.

use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder};
use serde_json::Value;

/// Longer than any call may take: a wait has 30 s, a send 20 s until it is `pending`.
const PATIENCE: Duration = Duration::from_secs(70);

static TLS: Once = Once::new();

/// A client of its own: its connections are shared with nobody.
pub(crate) fn client() -> Result<Client> {
    // The workspace's reqwest comes without a TLS provider, and refuses to be built without one.
    TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let builder = Client::builder().timeout(PATIENCE).tcp_nodelay(true).no_proxy();
    builder.build().context("cannot make an HTTP client")
}

/// Percent-encodes one part of a path or query.
pub fn encode(part: &str) -> String {
    utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()
}

/// What came back. `body` is null where it was no JSON.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Result<Self> {
        let answer = request.send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = serde_json::from_slice(&answer.bytes().await?).unwrap_or_default();
        Ok(Self { status, headers, body })
    }

    /// The body, if the status is this one.
    ///
    /// # Errors
    /// It is another; the error shows the answer.
    pub fn expect(self, status: u16) -> Result<Value> {
        ensure!(self.status == status, "expected {status}, got {}: {}", self.status, self.body);
        Ok(self.body)
    }

    /// The network-agent API's refusal with this status and code, in its whole envelope.
    ///
    /// # Errors
    /// It is another answer, or a part of the envelope is missing.
    pub fn refusal(self, status: u16, code: &str) -> Result<Value> {
        let body = self.expect(status)?;
        ensure!(body["code"] == format!("network_agent.{code}"), "expected {code}: {body}");
        let whole = body["message"].is_string()
            && body["retryable"].is_boolean()
            && body["details"].is_object()
            && body["correlationId"].is_string();
        ensure!(whole, "not the whole envelope: {body}");
        Ok(body)
    }
}
