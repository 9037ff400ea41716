//! One request: its path, whom it is made for, and how long it may take.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{
    Method,
    header::{AUTHORIZATION, HeaderValue},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ruma::{DeviceId, UserId};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Client, HsError, QUICK, answer, answer::Answer};

/// Everything but the characters that RFC 3986 leaves unreserved.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) const V3: &str = "/_matrix/client/v3";

/// A request that is being put together. `name` is what it is called in metrics.
pub(super) struct Request<'a> {
    client: &'a Client,
    name: &'static str,
    method: Method,
    /// Path and query.
    target: String,
    has_query: bool,
    body: Option<Bytes>,
    content_type: &'static str,
    timeout: Duration,
    /// Instead of the appservice's own.
    token: Option<HeaderValue>,
    /// Largest answer that is read, in bytes.
    limit: usize,
}

impl Client {
    /// `segments` are escaped, `prefix` is not.
    pub(super) fn request(
        &self,
        name: &'static str,
        method: Method,
        prefix: &str,
        segments: &[&str],
    ) -> Request<'_> {
        let mut target = prefix.to_owned();
        for segment in segments {
            // Writing to a string cannot fail.
            let _ = write!(target, "/{}", utf8_percent_encode(segment, ESCAPED));
        }
        Request {
            client: self,
            name,
            method,
            target,
            has_query: false,
            body: None,
            content_type: "application/json",
            timeout: QUICK,
            token: None,
            limit: usize::MAX,
        }
    }
}

impl Request<'_> {
    /// Makes the call as this user. Without it, it is the registration's `sender_localpart`.
    pub(super) fn by(self, user: &UserId) -> Self {
        self.query("user_id", user.as_str())
    }

    /// As this device of the user (MSC3202; servers before it know the second name only).
    pub(super) fn on(self, device: Option<&DeviceId>) -> Self {
        match device {
            None => self,
            Some(id) => {
                self.query("device_id", id.as_str()).query("org.matrix.msc3202.device_id", id.as_str())
            }
        }
    }

    /// With this access token instead of the appservice's. One that fits into no header is sent as none, and refused.
    pub(super) fn token(mut self, token: &SecretString) -> Self {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))
            .unwrap_or(HeaderValue::from_static("Bearer"));
        value.set_sensitive(true);
        self.token = Some(value);
        self
    }

    pub(super) fn query(mut self, key: &str, value: &str) -> Self {
        let mark = if self.has_query { '&' } else { '?' };
        let _ = write!(self.target, "{mark}{key}={}", utf8_percent_encode(value, ESCAPED));
        self.has_query = true;
        self
    }

    pub(super) fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string().into())
    }

    /// A body that is JSON already.
    pub(super) fn bytes(mut self, body: Bytes) -> Self {
        self.body = Some(body);
        self
    }

    /// A body that is none of JSON.
    pub(super) fn content(mut self, content_type: &'static str, body: Bytes) -> Self {
        self.content_type = content_type;
        self.bytes(body)
    }

    /// For the whole call, connecting and reading included.
    pub(super) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Reads no more than so many bytes; a larger answer is refused.
    pub(super) fn at_most(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Makes the call and gives its answer as it is.
    pub(super) async fn file(self) -> Result<Bytes, HsError> {
        self.run().await
    }

    /// Makes the call and reads its answer as `T`.
    pub(super) async fn call<T: DeserializeOwned>(self) -> Result<T, HsError> {
        let body = self.run().await?;
        answer::json(&body)
    }

    /// Makes the call and cares only that it succeeded.
    pub(super) async fn done(self) -> Result<(), HsError> {
        self.run().await.map(drop)
    }

    async fn run(self) -> Result<Bytes, HsError> {
        let name = self.name;
        // Telemetry: nothing is decided by it.
        #[allow(clippy::disallowed_methods)]
        let begun = Instant::now();
        let result = self.send().await.and_then(Answer::success);
        metrics::histogram!("parlour_homeserver_call_seconds", "call" => name)
            .record(begun.elapsed().as_secs_f64());
        metrics::counter!("parlour_homeserver_calls_total", "call" => name, "outcome" => outcome(&result))
            .increment(1);
        result
    }

    async fn send(self) -> Result<Answer, HsError> {
        let url = format!("{}{}", self.client.base, self.target);
        let mut request = self.client.http.request(self.method, url).timeout(self.timeout);
        if let Some(token) = self.token {
            request = request.header(AUTHORIZATION, token);
        }
        if let Some(body) = self.body {
            request = request.header(http::header::CONTENT_TYPE, self.content_type).body(body);
        }
        let response = request.send().await.map_err(HsError::transport)?;
        let (status, headers) = (response.status(), response.headers().clone());
        match read(response, self.limit).await {
            Ok(Some(body)) => Ok(Answer { status, headers, body }),
            Ok(None) => Err(too_large()),
            // The head of a refusal says enough.
            Err(_) if status.is_client_error() => Ok(Answer { status, headers, body: Bytes::new() }),
            Err(error) => Err(HsError::Unknown(super::error::chain(&error.without_url()))),
        }
    }
}

/// The whole body; `None` where it is larger than that.
async fn read(mut response: reqwest::Response, limit: usize) -> Result<Option<Bytes>, reqwest::Error> {
    if limit == usize::MAX {
        return response.bytes().await.map(Some);
    }
    let mut body = vec![];
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body.into()))
}

fn too_large() -> HsError {
    let (errcode, message) = ("M_TOO_LARGE".to_owned(), "the answer is larger than we take".to_owned());
    HsError::Refused { status: 413, errcode, message }
}

fn outcome<T>(result: &Result<T, HsError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(HsError::NotSent(_)) => "not_sent",
        Err(HsError::Unknown(_)) => "unknown",
        Err(HsError::Limited { .. }) => "limited",
        Err(HsError::Refused { .. }) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use ruma::{device_id, user_id};

    use super::*;

    #[test]
    fn paths_and_queries_are_escaped() {
        let client = Client::new("http://127.0.0.1:1", "t".to_owned().into()).unwrap();
        let request = client.request("send", Method::PUT, V3, &["rooms", "!a/b?:x", "send", ""]);
        let request = request.by(user_id!("@a+b:x")).on(Some(device_id!("D&E")));
        assert_eq!(
            request.target,
            "/_matrix/client/v3/rooms/%21a%2Fb%3F%3Ax/send/?user_id=%40a%2Bb%3Ax&device_id=D%26E\
             &org.matrix.msc3202.device_id=D%26E"
        );
    }
}
