//! Calls to the bridge that runs, for the operator's commands.

use std::{io, path::Path, time::Duration};

use parlour_api::OPERATOR_PREFIX;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::Value;

use crate::{
    cli,
    config::Config,
    failure::Failure,
    output,
    socket::{self, Reach},
};

/// What is only looked at is in memory or on disk.
const PATIENCE: Duration = Duration::from_secs(10);
/// Closing a room, for one, asks the homeserver, which may take its minute.
const PATIENCE_FOR_DEEDS: Duration = Duration::from_secs(90);

/// Asks the bridge that runs.
///
/// # Errors
/// No bridge runs, or it refuses.
pub(crate) fn ask(
    args: &cli::Ask,
    method: Method,
    path: &str,
    query: &[(&str, &str)],
) -> Result<Value, Failure> {
    let config = Config::load(&args.config.config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure::new(format!("cannot start: {e}; close some programs")))?;
    runtime.block_on(async { Operator::connect(&config)?.call(method, path, query).await })
}

/// Asks, and tells the answer: as it is, or in words.
///
/// # Errors
/// As for [`ask`].
pub(crate) fn ask_and_tell(
    args: &cli::Ask,
    method: Method,
    path: &str,
    query: &[(&str, &str)],
    words: impl FnOnce(&Value) -> String,
) -> Result<(), Failure> {
    let answer = ask(args, method, path, query)?;
    let text = if args.json { answer.to_string() } else { words(&answer) };
    output::say(&text);
    Ok(())
}

/// A bridge that runs on this config's data folder.
pub(crate) struct Operator {
    http: reqwest::Client,
    _reach: Reach,
}

impl Operator {
    /// # Errors
    /// No bridge runs, or this user may not talk to it; the line says which.
    pub(crate) fn connect(config: &Config) -> Result<Self, Failure> {
        let folder = &config.storage.path.0;
        let reach = Reach::of(folder).map_err(|error| unreachable(folder, &error))?;
        socket::knock(&reach).map_err(|error| unreachable(folder, &error))?;
        // no connection here uses TLS, but the client wants a library for it chosen
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().unix_socket(reach.path()).tls_certs_only([]);
        let http = http.build().map_err(|error| Failure::new(format!("no HTTP client: {error}")))?;
        Ok(Self { http, _reach: reach })
    }

    /// # Errors
    /// The bridge refuses it, with its own words; or it goes away meanwhile.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        let encoded =
            |(key, value): &(&str, &str)| format!("{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
        let query = query.iter().map(encoded).collect::<Vec<_>>().join("&");
        let patience = if method == Method::GET { PATIENCE } else { PATIENCE_FOR_DEEDS };
        let request = self.http.request(method, format!("http://localhost{OPERATOR_PREFIX}{path}?{query}"));
        let request = request.timeout(patience);
        let gone = |e: reqwest::Error| match e.is_timeout() {
            true => Failure::new(format!(
                "the bridge runs, but gave no answer within {} seconds; look into its log",
                patience.as_secs()
            )),
            false => Failure::new(format!(
                "the bridge gave no whole answer: {}; look into its log",
                e.without_url()
            )),
        };
        let response = request.send().await.map_err(gone)?;
        let status = response.status();
        let body: Value = serde_json::from_slice(&response.bytes().await.map_err(gone)?).unwrap_or_default();
        if status.is_success() {
            return Ok(body);
        }
        match (body["code"].as_str(), body["message"].as_str()) {
            (Some("http.route_not_found" | "http.method_not_allowed"), _) => Err(Failure::new(
                "the bridge that runs is of another version than this command; restart it with this one",
            )),
            (Some(code), Some(message)) => Err(Failure::new(format!("{message} ({code})"))),
            _ => Err(Failure::new(format!("the bridge answered with status {status}; look into its log"))),
        }
    }
}

fn unreachable(folder: &Path, error: &io::Error) -> Failure {
    let socket = socket::path(folder);
    let socket = socket.display();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Failure::new(format!(
            "no bridge runs on storage.path ({}): start it with parlour serve and this config",
            folder.display()
        )),
        io::ErrorKind::PermissionDenied => Failure::new(format!(
            "this user may not talk to the bridge ({socket}): call this as the user that runs it"
        )),
        _ => Failure::new(format!("cannot reach the bridge at {socket}: {error}")),
    }
}
