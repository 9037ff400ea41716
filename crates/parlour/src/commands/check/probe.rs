//! Single calls to the homeserver whose answers are looked at as they are: where something is wrong, the status and the
//! kind of body tell what.

use std::{error::Error, fmt::Write as _, time::Duration};

use parlour_matrix::{Client, Registration};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, header::LOCATION, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::Report;
use crate::config::Config;

/// The homeserver's own limit for reaching us is 60 s and shorter; nobody wants to wait that long for a check.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything but the characters that RFC 3986 leaves unreserved: Synapse matches paths before it decodes them.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) struct Probe {
    http: reqwest::Client,
    base: String,
    as_token: SecretString,
}

/// An answer, whoever gave it.
pub(super) struct Answer {
    pub(super) status: u16,
    /// `None`: not JSON.
    pub(super) body: Option<Value>,
    /// Where it redirects to.
    pub(super) location: Option<String>,
}

impl Answer {
    pub(super) fn is_ok(&self) -> bool {
        self.status == 200 && self.body.is_some()
    }

    /// A text of the body, or nothing.
    pub(super) fn text(&self, key: &str) -> &str {
        self.body.as_ref().and_then(|body| body[key].as_str()).unwrap_or_default()
    }

    pub(super) fn errcode(&self) -> &str {
        self.text("errcode")
    }

    /// The answer in a few words, for a line of the report.
    pub(super) fn describe(&self) -> String {
        let status = self.status;
        match (&self.location, &self.body) {
            (Some(location), _) => format!("status {status}, a redirect to {}", short(location)),
            (None, None) => format!("status {status} and no JSON"),
            (None, Some(_)) if self.errcode().is_empty() => format!("status {status} and no Matrix error"),
            (None, Some(_)) => format!("{status} {}, {:?}", short(self.errcode()), short(self.text("error"))),
        }
    }
}

impl Probe {
    /// `None` where no call can be made; the reason is reported.
    pub(super) fn new(
        config: &Config,
        registration: Option<&Registration>,
        report: &mut Report,
    ) -> Option<Self> {
        let registration = registration?;
        let base = config.homeserver.url.as_str();
        // The client of `serve` knows what it cannot use; making it also chooses the TLS library for this one.
        Client::new(base, registration.as_token.clone())
            .map_err(|e| report.missing("homeserver", &e.to_string()))
            .ok()?;
        let http = build(base)
            .map_err(|e| report.missing("homeserver", &format!("no HTTP client: {}", chain(&e))))
            .ok()?;
        Some(Self { http, base: base.to_owned(), as_token: registration.as_token.clone() })
    }

    /// Without the token.
    pub(super) async fn look(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, String> {
        self.call(self.request(Method::GET, path, query)).await
    }

    /// With the token, as the user that `query` names or else the appservice's own.
    pub(super) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, String> {
        self.call(self.request(Method::GET, path, query).bearer_auth(self.as_token.expose_secret())).await
    }

    /// With the token and a body.
    pub(super) async fn post(&self, path: &[&str], body: &Value) -> Result<Answer, String> {
        let request = self.request(Method::POST, path, &[]).bearer_auth(self.as_token.expose_secret());
        self.call(request.json(body)).await
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let mut url = format!("{}/_matrix/client", self.base);
        for segment in path {
            // Writing to a string cannot fail.
            let _ = write!(url, "/{}", utf8_percent_encode(segment, ESCAPED));
        }
        self.http.request(method, url).query(query)
    }

    async fn call(&self, request: reqwest::RequestBuilder) -> Result<Answer, String> {
        let response = request.send().await.map_err(|e| chain(&e.without_url()))?;
        let status = response.status().as_u16();
        let location = response.headers().get(LOCATION).and_then(|l| l.to_str().ok()).map(str::to_owned);
        let bytes = response.bytes().await.map_err(|e| chain(&e.without_url()))?;
        Ok(Answer { status, location, body: serde_json::from_slice(&bytes).ok() })
    }
}

fn build(base: &str) -> reqwest::Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder().redirect(Policy::none()).timeout(PATIENCE);
    if base.starts_with("http://") {
        // Certificates are never looked at then, and a bare container may have none.
        builder = builder.tls_certs_only([]);
    }
    if ["//127.", "//localhost", "//[::1]"].iter().any(|host| base.contains(host)) {
        builder = builder.no_proxy();
    }
    builder.build()
}

/// An error with its causes; reqwest's own words alone say nearly nothing.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {cause}");
        next = cause.source();
    }
    text
}

/// What strangers wrote, fit for a line.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(160).collect()
}
