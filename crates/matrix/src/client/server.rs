//! What the homeserver is and whether it knows us.

use std::collections::BTreeMap;

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::{Client, HsError, SLOW, request::Request};

/// `GET /_matrix/client/versions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Versions {
    /// Such as `v1.16`.
    pub versions: Vec<String>,
    #[serde(default)]
    pub unstable_features: BTreeMap<String, bool>,
}

#[derive(Deserialize)]
struct Pong {
    duration_ms: u64,
}

impl Client {
    /// The versions of the specification that the homeserver implements.
    ///
    /// # Errors
    /// See [`HsError`].
    pub async fn versions(&self) -> Result<Versions, HsError> {
        self.request("versions", Method::GET, "/_matrix/client/versions", &[]).call().await
    }

    /// Asks the homeserver to call us back under `txn_id`; how long that took, in milliseconds. A success also ends
    /// the homeserver's back-off, so that it delivers at once (application service API, "Pinging").
    ///
    /// # Errors
    /// `Unknown` with the homeserver's reason where it could not reach us (`M_CONNECTION_FAILED`, `M_BAD_STATUS`).
    pub async fn ping(&self, appservice_id: &str, txn_id: &str) -> Result<u64, HsError> {
        let pong: Pong =
            self.ping_request(appservice_id).json(&json!({"transaction_id": txn_id})).call().await?;
        Ok(pong.duration_ms)
    }

    fn ping_request(&self, appservice_id: &str) -> Request<'_> {
        self.request("ping", Method::POST, "/_matrix/client/v1/appservice", &[appservice_id, "ping"])
            .timeout(SLOW)
    }
}
